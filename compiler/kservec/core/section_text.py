"""One section of KServe's configuration: its JSON text, and where each of its settings is written.

Must not know which sections there are, nor what they mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import lookup

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.paths import Path
    from kservec.core.text.source import Document


class SectionText(NamedTuple):
    """One data key of `inferenceservice-config`: its JSON text and the document that it stands in.

    `at` is its place in the document, where that is not the text in a ConfigMap's `data.<key>` but a map of a Cluster
    document; the text is then that map laid over the section `below`.
    """

    text: str
    document: Document
    key: str
    at: Path = ()
    below: SectionText | None = None

    @property
    def span(self) -> Span:
        """Where the section is written."""
        return self.document.span(self.at or ("data", self.key))

    def setting(self, *keys: str) -> Span:
        """Where the value of a setting is written; the section where that cannot be told."""
        return self._setting(keys, at_key=False) or self.span

    def setting_key(self, *keys: str) -> Span:
        """Where the key of a setting is written; the section where that cannot be told."""
        return self._setting(keys, at_key=True) or self.span

    def character(self, offset: int) -> Span | None:
        """Where a character of the text is written; None where that cannot be told."""
        from kservec.core.text.embedded import span_at  # noqa: PLC0415 - not needed without a finding

        return None if self.at else span_at(self.document, ("data", self.key), offset)

    def _setting(self, keys: tuple[str, ...], *, at_key: bool) -> Span | None:
        from kservec.core.text.embedded import setting_span  # noqa: PLC0415 - not needed without a finding

        if not self.at:
            return setting_span(self.document, ("data", self.key), keys, at_key=at_key)
        path = self.at
        for wanted in keys:
            held = lookup(self.document.value, path)
            name = next((n for n in held if n.lower() == wanted.lower()), None) if isinstance(held, dict) else None
            if name is None:
                return self.below._setting(keys, at_key=at_key) if self.below is not None else None
            path = (*path, name)
        return self.document.key_span(path) if at_key else self.document.span(path)
