"""Where the values of an object come from: the layer, the part of the compiler, and the place in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import is_keyed, item_key, lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json, Path
    from kservec.core.tree import Origin, Tree

UNKNOWN = "unknown"
DERIVED = "derived"
"""A value that stands nowhere, and follows from what does."""
PATCH = "patch"
"""A value that patches have set after compiling."""
USER = "user"


class Explained(NamedTuple):
    """One value: its path, the layer that it comes from, what put it there, and where it was written, if it was."""

    path: Path
    value: Json
    layer: str
    by: str
    span: Span | None


class Patched(NamedTuple):
    """An object after the patches of its environment: its value, and where the patches are."""

    value: Json
    patches: str


def explained(body: Tree, path: Path, patched: Patched | None = None) -> list[Explained]:
    """Every single value at or below a path of an object; empty if nothing is there.

    Args:
        body: the object as it was compiled.
        path: where to look.
        patched: the object as it is rendered, if patches were laid over it.
    """
    value = lookup(patched.value if patched is not None else body.value, path)
    if value is None:
        return []
    by = patched.patches if patched is not None else ""
    return [one(body, p, v) if body.get(*p) == v else Explained(p, v, PATCH, by, None) for p, v in leaves(value, path)]


def one(body: Tree, path: Path, value: Json) -> Explained:
    """Where one value comes from."""
    found = body.origin(path)
    return Explained(path, value, UNKNOWN, "", None) if found is None else Explained(path, value, *told(*found))


def told(origin: Origin, rest: Path) -> tuple[str, str, Span | None]:
    """What is told of an origin, given the part of the path that lies below the place that it stands for.

    Returns:
        The layer, what put the value there, and where it was written, if it was.
    """
    by = "" if origin.by == USER else origin.by
    if origin.doc is not None and rest and lookup(origin.doc.value, origin.at + rest) is None:
        return DERIVED, by, origin.span()
    return origin.layer.value, by, origin.span(rest)


def leaves(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """The scalars, empty maps and empty lists of a value. Items of lists go by their merge keys, if they have any."""
    if isinstance(value, dict) and value:
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list) and value:
        field = path[-1] if path and isinstance(path[-1], str) else ""
        keyed = is_keyed(value, field)
        for i, item in enumerate(value):
            key = item_key(item, field) if keyed else None
            yield from leaves(item, (*path, i if key is None else key))
    else:
        yield path, value
