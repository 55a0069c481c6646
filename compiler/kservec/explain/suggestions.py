"""Suggestions: which object, or which field of one, was meant by a name that leads to none.

Decides nearness by what names have of their own. That two objects are of one kind, or that both are predictors, makes
none of them near to the other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.listing import listed_near
from kservec.core.paths import item_key, lookup
from kservec.core.schemas.faults import field_path
from kservec.core.spelling import closest, edits
from kservec.explain.naming import names_of, resolved
from kservec.explain.reasons import Asked, is_service

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json, Path

SIGN = "-"


def suggestion(text: str, refs: Sequence[ObjectRef], refused: Collection[ObjectRef] = ()) -> str:
    """What a text that names no object may have been meant to name, else what there is.

    Args:
        text: what was asked for.
        refs: what there is, and the services that were refused; the first of equally good ones is told.
        refused: those services again. Their objects are not there, and may be meant.
    """
    word = object_of(text)
    meant = meant_object(Asked.of(word), refs, refused)
    asked = Asked.of(word)
    if meant is not None and meant in refused and asked.is_made and not is_service(asked.kind):
        return f"did you mean an object of {called(meant, word)}, which has errors?"
    return f"did you mean {called(meant, word)}?" if meant is not None else what_there_is(word, refs)


def what_there_is(word: str, refs: Iterable[ObjectRef]) -> str:
    """The objects that there are; of many those that are most like a word."""
    there = dict.fromkeys(called(ref, word) for ref in refs)
    return f"there are {listed_near(word, there)}" if there else "there are no objects here"


def object_of(text: str) -> str:
    """A text without the field in it."""
    return re.split(r"[.\[]", text, maxsplit=1)[0]


def called(ref: ObjectRef, word: str) -> str:
    """What an object is called as a word does it: with its namespace if that has one, before its kind or behind it."""
    names = [name for name in names_of(ref)[:3] if name.count("/") == word.count("/")]
    behind = len(names) > 1 and word.casefold().startswith(f"{ref.kind}/".casefold())
    return names[-1 if behind else 0] if names else names_of(ref)[0]


def meant_object(asked: Asked, refs: Iterable[ObjectRef], refused: Iterable[ObjectRef]) -> ObjectRef | None:
    """The object that was most likely meant, or the refused service that would lead to it; None if none is near."""
    there = sorted(refs, key=lambda ref: ref.namespace != asked.namespace) if asked.namespace else list(refs)
    kind = meant_kind(asked.kind, {ref.kind for ref in there})
    names: dict[str, ObjectRef] = {}
    for ref in there:
        if not asked.kind or ref.kind == kind:
            names.setdefault(ref.name, ref)
    for ref in refused if asked.is_made and not is_service(asked.kind) else ():
        behind = parts_of(asked.name)[len(parts_of(ref.name)) :]
        if behind:
            names.setdefault(SIGN.join((ref.name, *behind)), ref)
    near = closest(asked.name, [name for name in names if is_near(asked.name, name)])
    found = names.get(asked.name) or (names[near] if near is not None else None)
    return found or next((ref for ref in there if ref.name == asked.name), None)


def meant_kind(word: str, kinds: Iterable[str]) -> str | None:
    """The kind that a word means; None if it is none of them."""
    known = sorted(kinds)
    return next((kind for kind in known if kind.casefold() == word.casefold()), None) or closest(word, known)


def parts_of(name: str) -> list[str]:
    """The parts of a name between its dashes."""
    return name.casefold().split(SIGN)


def is_near(word: str, name: str) -> bool:
    """Whether a name is near a word in every part; else, if they have not as many parts, in what they do not share."""
    these, those = parts_of(word), parts_of(name)
    if len(these) == len(those):
        return all(map(is_slip, these, those))
    while min(len(these), len(those)) > 1 and these[-1] == those[-1]:
        these, those = these[:-1], those[:-1]
    while min(len(these), len(those)) > 1 and these[0] == those[0]:
        these, those = these[1:], those[1:]
    return is_slip(SIGN.join(these), SIGN.join(those))


def is_slip(word: str, name: str) -> bool:
    """Whether few edits lead from a word to a name: a third of it, and something of both is left."""
    most = min(max(1, len(word) // 3), len(word) - 1, len(name) - 1)
    return word == name or edits(word, name, most) <= most


def meant_field(value: Json, steps: Path) -> str:
    """The field of a value that was most likely meant by steps which lead nowhere; an empty text if none is near."""
    known = next(n for n in range(len(steps) - 1, -1, -1) if resolved(value, steps[:n]) is not None)
    base, rest = resolved(value, steps[:known]) or (), steps[known:]
    names = names_in(lookup(value, base), str(base[-1]) if base else "")
    for width in range(1, len(rest) + 1):
        near = closest(".".join(map(str, rest[:width])), [name for name in names if name.count(".") == width - 1])
        if near is not None:
            meant = (*base, near, *rest[width:])
            path = resolved(value, meant)
            return field_path(path) if path is not None else meant_field(value, meant) or field_path((*base, near))
    return ""


def names_in(value: Json, field: str) -> list[str]:
    """The keys of a map, or the names of the items of the list that a field holds."""
    if isinstance(value, dict):
        return list(value)
    items = value if isinstance(value, list) else []
    return [key for key in (item_key(item, field) for item in items) if isinstance(key, str)]
