"""Mending: what a document that does not fit its schema was most likely meant to be, for its passes to look on.

Decides which faults of structure leave no doubt about that: a field is named as it is meant, a label is the text that
was written, and what no place knows has no effect. Must not know what fields mean. Nothing that comes of such a
document is written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.schemas.faults import UNKNOWN_FIELD, value_at
from kservec.core.text.document import Document

if TYPE_CHECKING:
    from collections.abc import Callable

    from kservec.core.schemas.faults import Fault
    from kservec.core.schemas.schema import Schemas
    from kservec.core.text.document import Position
    from kservec.core.tree import Json, Path

TEXTS = ("labels", "annotations")
"""Maps of texts, which say nothing about the structure of what has them."""
MOST_FAULTS = 16
"""Of a document of which it is still evident what it is meant to be."""


class Repair(NamedTuple):
    """What is done to an entry of a map: another name, None for none at all, and another value."""

    path: Path
    name: str | None
    value: Json

    def is_due(self, value: Json) -> bool:
        """Whether it changes anything in a value."""
        return self.name != self.path[-1] or self.value != value_at(value, self.path)


def mended(document: Document, schemas: Schemas) -> Document | None:
    """A document as it is meant; None if that is not evident, or if the kind has no schema.

    Labels and annotations that an API server refuses stay, as the texts that they are written as.
    """
    value = document.value
    kind: tuple[str, str] = (value["apiVersion"], value["kind"])
    faults = schemas.faults(value, *kind)
    if len(faults) > MOST_FAULTS or "spec" not in value:
        return None
    repairs = [repair(fault, document, lambda name: schemas.has_anywhere(name, *kind)) for fault in faults]
    due = [one for one in repairs if one is not None and one.is_due(value)]
    if due and document.__class__ is not Document:
        return None  # Where values of several files lie over each other a place is not a matter of order.
    for one in sorted(due, key=lambda one: -len(one.path)):
        document = repaired(document, one)
    is_meant = None not in repairs and all(map(is_of_a_text, schemas.faults(document.value, *kind)))
    return document if is_meant else None


def repair(fault: Fault, document: Document, is_known: Callable[[str], bool]) -> Repair | None:
    """What is done about a fault; None if nothing can be. `is_known`: whether a field of a name has some place."""
    held, path = value_at(document.value, fault.path, None), fault.path
    if is_of_a_text(fault):
        return Repair(path, str(path[-1]), written(document, path)) if is_scalar(held) else None
    if fault.code != UNKNOWN_FIELD:
        return None
    if fault.meant:
        is_free = fault.meant not in value_at(document.value, path[:-1])
        return Repair(path, fault.meant, held) if is_free else None
    return Repair(path, None, None) if is_scalar(held) and not is_known(str(path[-1])) else None


def is_of_a_text(fault: Fault) -> bool:
    """Whether a fault is that of a label or an annotation."""
    return len(fault.path) > 1 and fault.path[-2] in TEXTS


def is_scalar(value: Json) -> bool:
    """Whether a value is a text, a number or a boolean."""
    return isinstance(value, str | int | float)


def written(document: Document, path: Path) -> str:
    """A scalar as the text that it was written as."""
    held = value_at(document.value, path)
    return held if isinstance(held, str) else document.plain(path) or json.dumps(held)


def repaired(document: Document, done: Repair) -> Document:
    """A document with one entry of a map as it is meant, and all places as they are."""
    positions = document.positions if document.positions is not None else document.start
    value, positions = changed(document.value, positions, done, done.path)
    return Document(document.file, value, positions, document.text, document.start)


def changed(value: Json, position: Position, done: Repair, path: Path) -> tuple[Json, Position]:
    """A value and where it was written, with an entry of a map below it as it is meant; `path` leads on to that."""
    step, *rest = path
    if isinstance(value, list):
        item, place = changed(value[int(step)], place_of(position, int(step) + 1), done, tuple(rest))
        return with_item(value, int(step), item), with_item(position, int(step) + 1, place)
    number = list(value).index(step)
    if rest:
        item, place = changed(value[step], place_of(position, 2 * number + 2), done, tuple(rest))
        return {**value, step: item}, with_item(position, 2 * number + 2, place)
    if done.name is None:
        kept = {name: held for name, held in value.items() if name != step}
        return kept, position if isinstance(position, int) else [
            *position[: 2 * number + 1],
            *position[2 * number + 3 :],
        ]
    return {
        done.name if name == step else name: done.value if name == step else held for name, held in value.items()
    }, position


def place_of(position: Position, index: int) -> Position:
    """Where a part was written; where the whole was, if that has no parts."""
    part: Position = position if isinstance(position, int) else position[index]
    return part


def with_item(items: Json, index: int, item: Json) -> Json:
    """A list with another item; anything else as it is."""
    return [*items[:index], item, *items[index + 1 :]] if isinstance(items, list) else items
