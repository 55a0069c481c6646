"""The YAML of a file as its parser marks it: where each key and value begins and ends.

Decides what can be edited at all. Must not know any kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from kservec.core.paths import Json, Path

BLOCK_STYLES = ("|", ">")
PROPERTIES = "&!"
UNREADABLE = (yaml.YAMLError, ValueError, OverflowError, RecursionError, LookupError, AttributeError)
"""What PyYAML raises where a text is no YAML, is nested too deeply, or says it is a date or a number that it is not."""


class NotEditableError(ValueError):
    """A text that cannot be edited safely: why, and the offset where."""

    def __init__(self, reason: str, offset: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


class Place(NamedTuple):
    """A value in its map or list: its key if it is in a map, and its position among its siblings."""

    parent: CollectionNode | None
    position: int
    key: Node | None
    node: Node


def documents_of(text: str) -> list[Node]:
    """The documents of a file; empty ones are left out.

    Raises:
        NotEditableError: the text is no YAML.
    """
    try:
        return [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise NotEditableError("this is no YAML", mark.index if mark else 0) from None


def values_of(text: str) -> list[Json]:
    """The values of all documents of a file.

    Raises:
        NotEditableError: the text is no YAML that a value can be made of.
    """
    try:
        return [value for value in yaml.load_all(text, Loader=yaml.SafeLoader) if value is not None]
    except UNREADABLE as error:
        mark = getattr(error, "problem_mark", None)
        raise NotEditableError("this is no YAML of plain values", mark.index if mark else 0) from None


def place_of(root: Node, path: Path) -> Place | None:
    """The place of a value by keys and indices from a document's root; None if there is none."""
    place = Place(None, 0, None, root)
    for step in path:
        found = step_into(place.node, step)
        if found is None:
            return None
        place = found
    return place


def step_into(node: Node, step: str | int) -> Place | None:
    """The place of one key of a map or one item of a list."""
    if isinstance(node, MappingNode):
        for i, (key, value) in enumerate(node.value):
            if isinstance(key, ScalarNode) and key.value == step:
                return Place(node, i, key, value)
    if isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        return Place(node, step, None, node.value[step])
    return None


def begin_of(place: Place) -> int:
    """The offset at which an entry of a map, or an item of a list, begins."""
    start: int = (place.key or place.node).start_mark.index
    return start


def end_of(node: Node, text: str) -> int:
    """The offset just past a value; what is in block style ends with its last key or value."""
    end: int = node.end_mark.index
    if isinstance(node, ScalarNode):
        start = node.start_mark.index
        return start + len(text[start:end].rstrip()) if node.style in BLOCK_STYLES else end
    if is_flow(node) or not node.value:
        return end
    last = node.value[-1]
    return max(end_of(part, text) for part in (last if isinstance(last, tuple) else (last,)))


def is_flow(node: Node | None) -> bool:
    """Whether a map or list is written in braces or brackets."""
    return isinstance(node, CollectionNode) and bool(node.flow_style)


def refuse_shared(root: Node, place: Place, text: str) -> None:
    """Refuse a value that is written with an anchor or a tag, or stands in several places.

    Raises:
        NotEditableError: it is one.
    """
    start: int = place.node.start_mark.index
    if occurrences(root, place.node) > 1:
        raise NotEditableError("it stands in several places, by an anchor and an alias", begin_of(place))
    if text[start : start + 1] in tuple(PROPERTIES):
        raise NotEditableError("it has an anchor or a tag", start)


def occurrences(root: Node, wanted: Node) -> int:
    """How often a node is used in a document; each alias is a use of what it stands for."""
    count, seen, waiting = 0, set[int](), [root]
    while waiting:
        node = waiting.pop()
        count += node is wanted
        if id(node) in seen or not isinstance(node, CollectionNode):
            continue
        seen.add(id(node))
        for part in node.value:
            waiting.extend(part if isinstance(part, tuple) else (part,))
    return count
