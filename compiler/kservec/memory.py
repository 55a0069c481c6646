"""Memory: what a run that is repeated need not make again.

What an InferenceService leads to follows from its document and from all documents that are no InferenceServices: the
runtimes, the platform, what the cluster has. So of a run with the same others, a service whose document is the same
leads to the same. Of all other kinds nothing is remembered, for graphs and language models look at each other.

A document is the same if it is the very same one: who reads files again hands over the documents of those that have not
changed (`Earlier.read`).
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from kservec.core.graphs.endpoints import SERVICE, SERVICE_VERSION
from kservec.core.records import entity, fresh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.compilation import Made
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.text.source import Document
    from kservec.core.unit import Unit
    from kservec.frontend import Options

GROUP = SERVICE_VERSION.partition("/")[0]


@entity
class Earlier:
    """What an earlier run read and made.

    `read` are the documents of files and what is wrong with these, by name and content; `others` the documents that
    services depend on, and `options` what was said beside them; `made` what each service led to, by its document.
    """

    read: Mapping[tuple[str, bytes], tuple[Sequence[Document], Sequence[Diagnostic]]] = fresh(factory=dict)
    others: tuple[Document, ...] = ()
    options: Options | None = None
    made: Mapping[Document, Made] = fresh(factory=dict)


class Memory:
    """What is remembered in a run: what is still true of an earlier one, and what this one makes."""

    def __init__(self, earlier: Earlier, documents: Sequence[Document], options: Options) -> None:
        self.others = tuple(document for document in documents if not is_service(document))
        self.options = options
        holds = same(self.others, earlier.others) and earlier.options == options
        self.known: Mapping[Document, Made] = earlier.made if holds else {}
        self.made: dict[Document, Made] = {}

    def recalled(self, unit: Unit) -> Made | None:
        """What a unit led to, if it leads to the same now."""
        return self.known.get(unit.source.document)

    def keep(self, made: Made) -> None:
        """Remember what a unit led to, if it is one of those that depend on no other unit."""
        unit = made.step.unit
        if unit.ref.kind == SERVICE:
            self.made[unit.source.document] = made

    @property
    def kept(self) -> Earlier:
        """What this run leaves to the next one. Who has read the documents adds how."""
        return Earlier(others=self.others, options=self.options, made=self.made)


def same(documents: Sequence[Document], others: Sequence[Document]) -> bool:
    """Whether documents are the very same ones."""
    return len(documents) == len(others) and all(map(is_, documents, others))


def is_service(document: Document) -> bool:
    """Whether a document is an InferenceService, whatever version of it."""
    value = document.value
    if not isinstance(value, dict) or value.get("kind") != SERVICE:
        return False
    return str(value.get("apiVersion")).startswith(f"{GROUP}/")
