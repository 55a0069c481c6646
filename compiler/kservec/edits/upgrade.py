"""Edits of a project file that widen an upgrade: more services get what comes next. Pure: text in, text out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.paths import lookup
from kservec.edits.changes import Add, Remove, Target, changed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.paths import Json, Path

ONLY = "only"


def widened(text: str, document: Json, at: Path, selections: Iterable[str]) -> str:
    """The text of a project file in which an upgrade has more selections; those that it has already are left out.

    Args:
        text: the text, without a byte order mark.
        document: what it says.
        at: where the upgrade stands in it.
        selections: what is added to `only`.

    Raises:
        NotEditableError: the place cannot be edited.
    """
    written = lookup(document, (*at, ONLY))
    listed = list(written) if isinstance(written, list) else []
    new = [selection for selection in dict.fromkeys(selections) if selection not in listed]
    if not new:
        return text
    if not listed:
        empty = [Remove((*at, ONLY))] if ONLY in (lookup(document, at) or ()) else []
        return changed(text, Target(0), [*empty, Add((*at, ONLY), new)])
    start = len(listed)
    return changed(text, Target(0), [Add((*at, ONLY, start + i), one) for i, one in enumerate(new)])
