"""Changes of a YAML text: a scalar replaced, an entry added, an entry removed. All else stays, byte for byte.

Adding and removing undo each other. After each change the text is read again: exactly what was meant must have changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from kservec.edits.nodes import (
    BLOCK_STYLES,
    NotEditableError,
    Place,
    begin_of,
    documents_of,
    end_of,
    is_flow,
    place_of,
    refuse_shared,
    values_of,
)
from kservec.edits.scalars import DOUBLE, entry_text, flow_entry_text, item_text, scalar_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yaml.nodes import Node

    from kservec.core.paths import Json, Path


class Put(NamedTuple):
    """Give the scalar at a path another value."""

    path: Path
    value: Json


class Add(NamedTuple):
    """Add an entry to the map, or an item to the end of the list, at the path without its last step.

    Maps above that are not there are added, too.
    """

    path: Path
    value: Json


class Remove(NamedTuple):
    """Remove an entry of a map or an item of a list, and what holds it if that is left empty."""

    path: Path


Change: TypeAlias = "Put | Add | Remove"


class Target(NamedTuple):
    """An object in a file: the position of its document, and its path in it (in a List that is not empty)."""

    document: int
    at: Path = ()


def changed(text: str, target: Target, changes: Iterable[Change]) -> str:
    """The text after several changes of one object.

    Args:
        text: the text of a file, without a byte order mark.
        target: the object.
        changes: their paths begin at the object.

    Raises:
        NotEditableError: a change cannot be made, or could not be undone.
    """
    for change in changes:
        at = (*target.at, *change.path)
        before = values_of(text)
        if isinstance(change, Add) and is_there(before[target.document], at):
            raise NotEditableError(f"there is a value at {'.'.join(map(str, change.path))} already")
        made = apply(text, target.document, change._replace(path=at))
        after = values_of(made)
        if after != expected(before, target.document, change._replace(path=at)):
            raise NotEditableError("the edit would change more than one value")
        text = made
    return text


def is_there(value: Json, path: Path) -> bool:
    """Whether there is a value at a path."""
    for step in path:
        steps = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        if step not in steps:
            return False
        value = value[step]
    return True


def apply(text: str, document: int, change: Change) -> str:
    """The text after one change."""
    root = documents_of(text)[document]
    if isinstance(change, Put):
        return with_scalar(text, root, change)
    if isinstance(change, Add):
        return with_entry(text, root, change)
    return without_entry(text, root, change.path)


def with_scalar(text: str, root: Node, change: Put) -> str:
    """The text with another value for a scalar."""
    place = found(root, change.path)
    node = place.node
    refuse_shared(root, place, text)
    if not isinstance(node, ScalarNode) or node.style in BLOCK_STYLES:
        raise NotEditableError("it is no value in one line", node.start_mark.index)
    start, end = node.start_mark.index, node.end_mark.index
    if "\n" in text[start:end]:
        raise NotEditableError("it is written over several lines", start)
    written = scalar_text(change.value, node.style, in_flow=is_flow(place.parent))
    return text[:start] + (f" {written}" if start == end else written) + text[end:]


def with_entry(text: str, root: Node, change: Add) -> str:
    """The text with one entry more, after the last one of its map."""
    path, value = change.path, change.value
    above = place_of(root, path[:-1])
    while above is None:  # what holds it is added with it
        path, value = path[:-1], {path[-1]: value}
        above = place_of(root, path[:-1])
    refuse_shared(root, above, text)
    node, key = above.node, str(path[-1])
    if isinstance(node, SequenceNode) and node.value:
        return with_item(text, node, value)
    if not isinstance(node, MappingNode):
        raise NotEditableError("it is no map", node.start_mark.index)
    if not node.value:
        raise NotEditableError("it is an empty map, which would not come back; remove it", node.start_mark.index)
    if is_flow(node):
        return with_flow_entry(text, node, key, value)
    column: int = node.value[0][0].start_mark.column
    indent, newline = " " * column, newline_of(text)
    end = line_end(text, end_of(node, text))
    return text[:end] + newline + indent + entry_text(key, value, indent, newline) + text[end:]


def with_item(text: str, node: SequenceNode, value: Json) -> str:
    """The text with one item more at the end of a list."""
    end = end_of(node, text)
    if is_flow(node):
        end = end_of(node.value[-1], text)
        return f"{text[:end]}, {json.dumps(value, ensure_ascii=False)}{text[end:]}"
    start = text.rindex("-", 0, node.value[0].start_mark.index)
    indent = " " * (start - text.rfind("\n", 0, start) - 1)
    newline, end = newline_of(text), line_end(text, end)
    return text[:end] + newline + indent + item_text(value, indent, newline) + text[end:]


def with_flow_entry(text: str, node: MappingNode, key: str, value: Json) -> str:
    """The text with one entry more in a map in braces."""
    written = flow_entry_text(key, value, as_json=node.value[0][0].style == DOUBLE)
    end = end_of(node.value[-1][1], text)
    return f"{text[:end]}, {written}{text[end:]}"


def without_entry(text: str, root: Node, path: Path) -> str:
    """The text without an entry, and without what it leaves empty."""
    place = found(root, path)
    while len(path) > 1 and place.parent is not None and len(place.parent.value) == 1:
        path = path[:-1]
        place = found(root, path)
    refuse_shared(root, place, text)
    siblings = place.parent.value if place.parent is not None else []
    if not siblings:
        raise NotEditableError("it is the whole document")
    if is_flow(place.parent):
        return without_flow_entry(text, place)
    start, end = begin_of(place), line_end(text, end_of(place.node, text))
    if place.key is None:
        start = text.rindex("-", 0, start)
    first = text.rfind("\n", 0, start) + 1
    if text[first:start].strip():  # it shares its line with the dash of an item, or a key
        if place.position + 1 == len(siblings):
            raise NotEditableError("it stands in the line of what holds it", start)
        following = siblings[place.position + 1]
        return text[:start] + text[begin_of_sibling(following) :]
    if first == 0:
        return text[end + len(newline_of(text)) :]
    return text[: break_before(text, first)] + text[end:]


def begin_of_sibling(entry: Node | tuple[Node, Node]) -> int:
    """The offset at which an entry of a map or an item of a list begins."""
    start: int = (entry[0] if isinstance(entry, tuple) else entry).start_mark.index
    return start


def without_flow_entry(text: str, place: Place) -> str:
    """The text without an entry of a map in braces, or an item of a list in brackets."""
    assert place.parent is not None
    siblings = [pair if isinstance(pair, tuple) else (pair,) for pair in place.parent.value]
    if place.position:
        return text[: end_of(siblings[place.position - 1][-1], text)] + text[end_of(place.node, text) :]
    if len(siblings) == 1:
        return text[: begin_of(place)] + text[end_of(place.node, text) :]
    return text[: begin_of(place)] + text[siblings[1][0].start_mark.index :]


def found(root: Node, path: Path) -> Place:
    """The place at a path.

    Raises:
        NotEditableError: there is none.
    """
    place = place_of(root, path)
    if place is None:
        raise NotEditableError(f"there is no {'.'.join(map(str, path))}", root.start_mark.index)
    return place


def newline_of(text: str) -> str:
    """The end of the first line."""
    return "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"


def line_end(text: str, offset: int) -> int:
    """The offset of the end of a line, before what ends it."""
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    return end - 1 if text[end - 1] == "\r" and end > offset else end


def break_before(text: str, first: int) -> int:
    """The offset at which the end of the line before one begins."""
    return first - 2 if text[first - 2 : first] == "\r\n" else first - 1


def expected(values: list[Json], document: int, change: Change) -> list[Json]:
    """The values of all documents after a change, worked out from the values before it."""
    return [with_change(v, change.path, change) if i == document else v for i, v in enumerate(values)]


def with_change(value: Json, path: Path, change: Change) -> Json:
    """A value after a change at a path below it; what a removal leaves empty goes with it."""
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        assert isinstance(step, int)
        if step == len(value) and isinstance(change, Add) and not rest:
            return [*value, change.value]
        inner = [] if not rest and isinstance(change, Remove) else [with_inner(value[step], rest, change)]
        kept = [item for item in inner if item is not None]
        return [*value[:step], *kept, *value[step + 1 :]]
    left = {k: v for k, v in value.items() if k != step}
    if not rest and isinstance(change, Remove):
        return left
    inner = with_inner(value.get(step), rest, change)
    return {**value, step: inner} if inner is not None else left


def with_inner(value: Json, rest: Path, change: Change) -> Json:
    """What a step of the path leads to, after the change; None for what is empty then."""
    if not rest:
        return change.value if not isinstance(change, Remove) else None
    made = with_change({} if value is None and isinstance(change, Add) else value, rest, change)
    return None if made in ({}, []) and isinstance(change, Remove) else made
