"""Tree: a JSON value that can say where each part of it comes from.

Decides what an edit records and how the origin of a value is found again. Must not know any kind, field rule or pass.
Paths and the copying of values are `paths`.

A tree is a plain JSON value and a journal, a linked list with one cell per edit. Reading costs nothing; a write copies
the maps and lists on its path and adds one cell; a question about an origin walks the cells, newest first.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kservec.core.paths import (
    KEY_FIELDS,
    Json,
    Path,
    counterpart,
    field_of,
    index_of,
    is_keyed,
    item_key,
    lookup,
    with_keys,
    with_value,
)

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.text.document import Document

__all__ = [
    "KEY_FIELDS", "Concat", "Fill", "Filled", "Graft", "Json", "Layer", "Layers", "Origin", "Path", "Source", "Tree",
    "index_of", "lookup",
]  # fmt: skip


class Layer(StrEnum):
    """Which input, or which part of the compiler, a value comes from."""

    SPEC = "spec"
    RUNTIME = "runtime"
    PRESET = "preset"
    PLATFORM = "platform"
    KSERVE_DEFAULT = "kserve default"
    PASS = "pass"  # noqa: S105 - the name of a layer


class Origin(NamedTuple):
    """One place a value comes from.

    `by` names the pass or plug that put it there; `doc` and `at` say which document it was copied from and the path
    inside that document. Without `doc` the value was made by `by` alone.
    """

    layer: Layer
    by: str
    doc: Document | None = None
    at: Path = ()

    def span(self, rest: Path = ()) -> Span | None:
        """The source text of the value at `rest` below this place; None if it was in no document."""
        if self.doc is None:
            return None
        return self.doc.span(self.at + rest)


class Layers(NamedTuple):
    """Origin of a merged value: (value, where it comes from), strongest first. The first that holds a path answers."""

    layers: tuple[tuple[Json, Source], ...]


class Fill(NamedTuple):
    """Origin of the keys that were missing in the map at a path and were added together."""

    keys: tuple[str, ...]
    origin: Source


class Concat(NamedTuple):
    """Origin of a list made of two, one after the other (args): the first `n` items come from `first`."""

    n: int
    first: Source
    second: Source


class Graft(NamedTuple):
    """Origin of a value that is the part at `at` of another tree."""

    tree: Tree
    at: Path = ()


class Filled(NamedTuple):
    """Origin of a value that is the part at `at` of `older` with its texts filled in: keys of items may be others."""

    older: Tree
    at: Path
    value: Json


class Moved(NamedTuple):
    """Origin of a list whose items changed places: item `i` was item `indices[i]` (-1: new) at `at` of `older`."""

    older: Tree
    at: Path
    indices: tuple[int, ...]


Source: TypeAlias = "Origin | Layers | Fill | Filled | Concat | Graft | Moved | Tree"
"""Anything that can answer for a value. A bare tree stands for its own root."""


Edit: TypeAlias = "tuple[Edit | None, Path, Source]"
"""One cell of the journal: the older one, a path, and what all at and below it is due to from here on. It is a plain
tuple, and a tree a plain object, for nothing else is made as often."""


class Tree:  # noqa: PLW1641 - nothing needs a hash of what holds maps
    """A JSON value and the journal of its edits. Trees are equal when their values are, and never change."""

    __slots__ = ("journal", "value")

    def __init__(self, value: Json, journal: Edit | None = None) -> None:
        self.value: Final = value
        self.journal: Final = journal

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and bool(self.value == other.value)

    def __repr__(self) -> str:
        return f"Tree({self.value!r})"

    @classmethod
    def of(cls, value: Json, origin: Source) -> Tree:
        """A tree that comes from one place as a whole."""
        return cls(value, (None, (), origin))

    @classmethod
    def built(cls, value: Json, *parts: tuple[Path, Source]) -> Tree:
        """A tree that is put together at once: what is at each path comes from its source; of two the later counts."""
        journal: Edit | None = None
        for path, source in parts:
            journal = (journal, path, source)
        return cls(value, journal)

    @classmethod
    def union(cls, *layers: tuple[Mapping[str, Json] | None, Source]) -> Tree:
        """Maps laid over each other, key by key and one level deep; later ones win.

        Each key's origin is the last layer that has it. A layer that is None counts as empty.
        """
        value: dict[str, Json] = {}
        for entries, _ in layers:
            if entries:
                value.update(entries)
        return cls(value, (None, (), Layers(layers[::-1])))

    def get(self, *path: str | int) -> Json:
        """The value at `path`; None if there is none."""
        return lookup(self.value, path)

    def put(self, path: Path, value: Json, origin: Source) -> Tree:
        """Set the value at `path`, making the maps and keyed list items on the way.

        Raises:
            LookupError: a step goes through a scalar or beyond the end of a list.
        """
        path = with_keys(self.value, path)
        return Tree(with_value(self.value, path, value), (self.journal, path, origin))

    def graft(self, path: Path, tree: Tree) -> Tree:
        """Set the value at `path` to that of another tree; what lies below keeps the origins it has there.

        A Deployment takes over its pod this way, and later edits of either tree do not reach the other.
        """
        return self.put(path, tree.value, tree)

    def sub(self, *path: str | int) -> Tree:
        """The part at `path` as a tree of its own, with its origins."""
        return Tree(lookup(self.value, path), (None, (), Graft(self, path)))

    def refill(self, path: Path, value: Json) -> Tree:
        """Set the value at `path` to what it is once its texts are filled in; all in it keeps its origins.

        Where the value is an item of a list, and its key was filled in, it is found by that from here on.
        """
        filled = with_value(self.value, path, value)
        key = item_key(value, field_of(path[:-1])) if field_of(path[:-1]) in KEY_FIELDS else None
        at = path if key is None else (*path[:-1], key)
        return Tree(filled, (self.journal, at, Filled(self, path, value)))

    def note(self, path: Path, origin: Source) -> Tree:
        """Say where a value that is already there comes from (a merge, a concatenation)."""
        return Tree(self.value, (self.journal, with_keys(self.value, path), origin))

    def fill(self, path: Path, defaults: Mapping[str, Json], origin: Source) -> Tree:
        """Add those keys of `defaults` that the map at `path` lacks, one level deep."""
        node = lookup(self.value, path) or {}
        missing = {k: v for k, v in defaults.items() if k not in node}
        if not missing:
            return self
        path = with_keys(self.value, path)
        value = with_value(self.value, path, {**node, **missing})
        return Tree(value, (self.journal, path, Fill(tuple(missing), origin)))

    def without(self, path: Path, origin: Source) -> Tree:
        """Remove what is at `path`; the same tree if nothing is. `origin` says who removed it."""
        node, last = lookup(self.value, path[:-1]), path[-1]
        if isinstance(node, dict) and last in node:
            return self._cut(path, {k: v for k, v in node.items() if k != last}, origin)
        if isinstance(node, list) and (i := index_of(node, field_of(path[:-1]), last)) >= 0:
            items = node[:i] + node[i + 1 :]
            if is_keyed(node, field_of(path[:-1])):
                return self._cut(path, items, origin)
            kept = (*range(i), *range(i + 1, len(node)))
            return self.put(path[:-1], items, Moved(self, path[:-1], kept))
        return self

    def append(self, path: Path, item: Json, origin: Source) -> Tree:
        """Add an item at the end of the list at `path`, making the list. A merge key that is there already stays."""
        items = lookup(self.value, path) or []
        return self._insert(path, [*items, item], len(items), origin)

    def prepend(self, path: Path, item: Json, origin: Source) -> Tree:
        """Add an item before those of the list at `path`, making the list."""
        items = lookup(self.value, path) or []
        tree = self if is_keyed(items, field_of(path)) else self.note(path, _shifted(self, path, len(items)))
        return tree._insert(path, [item, *items], 0, origin)

    def origin(self, path: Path) -> tuple[Origin, Path] | None:
        """Where the value at `path` comes from.

        Returns:
            The origin, and the part of `path` that lies below the place the origin stands for; None if nobody said.
        """
        path = with_keys(self.value, path)
        edit = self.journal
        while edit is not None:
            edit, at, source = edit
            if at == path[: len(at)]:
                found = _answer(source, path[len(at) :])
                if found is not None:
                    return found
        return None

    def span(self, path: Path) -> Span | None:
        """The source text that the value at `path` was copied from, if it was."""
        found = self.origin(path)
        return found[0].span(found[1]) if found is not None else None

    def _insert(self, path: Path, items: list[Json], i: int, origin: Source) -> Tree:
        key = item_key(items[i], field_of(path))
        path = with_keys(self.value, path)
        return Tree(
            with_value(self.value, path, items),
            (self.journal, (*path, i if key is None else key), origin),
        )

    def _cut(self, path: Path, rest: Json, origin: Source) -> Tree:
        path = with_keys(self.value, path)
        return Tree(with_value(self.value, path[:-1], rest), (self.journal, path, origin))


def _shifted(tree: Tree, path: Path, n: int) -> Moved:
    return Moved(tree, path, (-1, *range(n)))


def _answer(source: Source, rest: Path) -> tuple[Origin, Path] | None:
    """What one journal cell knows about the value at `rest` below its path."""
    match source:
        case Origin():
            return source, rest
        case Tree():
            return source.origin(rest)
        case Graft(tree, at):
            return tree.origin(at + rest)
        case Layers(layers):
            for value, origin in layers:
                if value is not None and lookup(value, rest) is not None:
                    return _answer(origin, rest)
            return None
        case Filled(older, at, value):
            return older.origin((*at, *counterpart(value, older.get(*at), rest)))
        case Fill(keys, origin):
            return _answer(origin, rest) if rest and rest[0] in keys else None
        case Concat() | Moved():
            return _answer_for_list(source, rest)


def _answer_for_list(source: Concat | Moved, rest: Path) -> tuple[Origin, Path] | None:
    first = rest[0] if rest else None
    if isinstance(source, Concat):
        if not isinstance(first, int):
            return _answer(source.second, rest)
        if first < source.n:
            return _answer(source.first, rest)
        return _answer(source.second, (first - source.n, *rest[1:]))
    if not isinstance(first, int):
        return source.older.origin(source.at + rest)
    i = source.indices[first] if first < len(source.indices) else -1
    return source.older.origin((*source.at, i, *rest[1:])) if i >= 0 else None
