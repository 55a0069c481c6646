"""The difference of two values, field by field, ready to be shown.

Items of lists are found again by their names, ports, mount paths; other lists are aligned. JSON in texts is looked
into. What may be secret is hidden here, so that no report can show it. Must not know any kind but Secret.
"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.compare.masking import announces, conceals, is_secret_kind, shown, shows_field
from kservec.core.golang.decoding import decode
from kservec.core.paths import item_key
from kservec.core.schemas.faults import field_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.paths import Json

MOST_ALIGNED = 500
"""Longer lists are compared item by item: to align them takes too long."""


class Item(NamedTuple):
    """A step to the item of a list that has this name, port or path."""

    key: str | int

    def __str__(self) -> str:
        return f"[{self.key}]"


class Embedded(Enum):
    """The step from a text to the JSON value in it."""

    JSON = "»"


Place: TypeAlias = "tuple[str | int | Item | Embedded, ...]"


class Change(Enum):
    """What happened to a field."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


class Difference(NamedTuple):
    """One field that differs; both values as they may be shown. A moved one: the keys of a list in their orders."""

    place: Place
    change: Change
    before: Json = None
    after: Json = None

    @property
    def path(self) -> str:
        """The place as text: `spec.containers[web].image`, `data["a.json"] » items[0]`."""
        return place_text(self.place)


def place_text(place: Place) -> str:
    """A place as text."""
    text, plain = "", []
    for step in (*place, None):
        if isinstance(step, (str, int)):
            plain.append(step)
            continue
        if plain:
            part = field_path(tuple(plain))
            text += part if not text or text.endswith(" ") or part.startswith("[") else f".{part}"
            plain = []
        if step is not None:
            text += f" {step.value} " if isinstance(step, Embedded) else str(step)
    return text.rstrip() or "the whole object"


def differences(before: Json, after: Json) -> tuple[Difference, ...]:
    """The fields in which two objects differ, in the order of their paths."""
    secret = is_secret_kind(before) or is_secret_kind(after)
    return tuple(compare((), before, after, hidden=secret))


def same(before: Json, after: Json) -> bool:
    """Whether two values are the same JSON value; true is not 1."""
    if before is after:
        return True
    if before.__class__ is not after.__class__:
        return False
    if before.__class__ is dict:
        return before.keys() == after.keys() and all(same(below, after[key]) for key, below in before.items())
    if before.__class__ is list:
        return len(before) == len(after) and all(map(same, before, after))
    return bool(before == after)


def text_of(value: Json) -> str:
    """A value as JSON text that is alike for alike values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def compare(place: Place, before: Json, after: Json, *, hidden: bool) -> Iterator[Difference]:
    """The differences of two values at a place. `hidden`: nothing of them may be shown."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from compare_maps(place, before, after, hidden=hidden)
    elif isinstance(before, list) and isinstance(after, list):
        yield from compare_lists(place, before, after, hidden=hidden)
    elif same(before, after):
        return
    elif (pair := embedded(before, after)) is not None:
        yield from compare((*place, Embedded.JSON), *pair, hidden=hidden)
    else:
        yield changed(place, before, after, hidden=hidden)


def compare_maps(
    place: Place, before: dict[str, Json], after: dict[str, Json], *, hidden: bool
) -> Iterator[Difference]:
    """The differences of two maps."""
    for key in sorted({**before, **after}):
        if key in before and key in after and is_plain(before[key]) and same(before[key], after[key]):
            continue
        at = (*place, key)
        covered = (hidden and not shows_field(at)) or conceals(before, key) or conceals(after, key)
        if key not in after:
            yield Difference(at, Change.REMOVED, before=shown(before[key], hidden=covered))
        elif key not in before:
            yield Difference(at, Change.ADDED, after=shown(after[key], hidden=covered))
        else:
            yield from compare(at, before[key], after[key], hidden=covered)


def is_plain(value: Json) -> bool:
    """Whether a value is neither a map nor a list."""
    return value.__class__ not in (dict, list)


def changed(place: Place, before: Json, after: Json, *, hidden: bool) -> Difference:
    """A value that became another."""
    return Difference(place, Change.CHANGED, shown(before, hidden=hidden), shown(after, hidden=hidden))


def embedded(before: Json, after: Json) -> tuple[Json, Json] | None:
    """The JSON values in two texts; None unless both hold maps or both hold lists."""
    texts = (before, after)
    if not all(isinstance(text, str) and text.lstrip()[:1] in ("{", "[") for text in texts):
        return None
    try:
        left, right = (decode(text) for text in texts)
    except ValueError:
        return None
    return None if type(left) is not type(right) or same(left, right) else (left, right)


def compare_lists(place: Place, before: list[Json], after: list[Json], *, hidden: bool) -> Iterator[Difference]:
    """The differences of two lists: item by item of the same key, else aligned."""
    field = next((step for step in reversed(place) if isinstance(step, str)), "")
    old, new = keyed(before, field), keyed(after, field)
    if old is None or new is None:
        if same(before, after):
            return
        yield from compare_aligned(place, before, after, hidden=hidden)
        return
    for key in dict.fromkeys((*old, *new)):
        at = (*place, Item(key))
        if key not in new:
            yield Difference(at, Change.REMOVED, before=shown(old[key], hidden=hidden))
        elif key not in old:
            yield Difference(at, Change.ADDED, after=shown(new[key], hidden=hidden))
        else:
            yield from compare(at, old[key], new[key], hidden=hidden)
    left, right = [key for key in old if key in new], [key for key in new if key in old]
    if left != right:
        yield Difference(place, Change.MOVED, list(old), list(new))


def keyed(items: Sequence[Json], field: str) -> dict[str | int, Json] | None:
    """The items of a list by the keys that tell them apart; None if they have none."""
    found: dict[str | int, Json] = {}
    for item in items:
        key = item_key(item, field)
        if not isinstance(key, (str, int)) or key in found:
            return None
        found[key] = item
    return found


def compare_aligned(place: Place, before: list[Json], after: list[Json], *, hidden: bool) -> Iterator[Difference]:
    """The differences of two lists whose items have no keys. Indices are those of the new list, of the old if gone."""
    for start, end, first, last in blocks(before, after):
        for i in range(max(end - start, last - first)):
            old, new = start + i, first + i
            covered = hidden or follows_flag(before, old, end) or follows_flag(after, new, last)
            if new >= last:
                at = (*place, old)
                yield Difference(at, Change.REMOVED, before=shown(before[old], hidden=covered))
            elif old >= end:
                yield Difference((*place, new), Change.ADDED, after=shown(after[new], hidden=covered))
            else:
                yield from compare((*place, new), before[old], after[new], hidden=covered)


def follows_flag(items: list[Json], i: int, end: int) -> bool:
    """Whether an item is the value of a flag for a credential."""
    return 0 < i < end and announces(items[i - 1])


def blocks(before: list[Json], after: list[Json]) -> Iterator[tuple[int, int, int, int]]:
    """The stretches (start and end in the old list, start and end in the new one) in which two lists differ."""
    if len(before) + len(after) > MOST_ALIGNED:
        yield 0, len(before), 0, len(after)
        return
    left, right = [text_of(item) for item in before], [text_of(item) for item in after]
    for tag, *block in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            yield block[0], block[1], block[2], block[3]
