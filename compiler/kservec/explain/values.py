"""Where the values of an object come from: the layer, the part of the compiler, and the place in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import is_keyed, item_key, lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json, Path
    from kservec.core.text.document import Document
    from kservec.core.tree import Origin, Tree
    from kservec.overlays.tracing import OverlaidDocument

UNKNOWN = "unknown"
DERIVED = "derived"
"""A value that stands nowhere, and follows from what does."""
PATCH = "patch"
"""A value that patches have set after compiling."""
INCLUDED = "included"
"""A value of a manifest that is rendered as it is."""
USER = "user"


class Explained(NamedTuple):
    """One value: its path, the layer that it comes from, what put it there, and where it was written, if it was."""

    path: Path
    value: Json
    layer: str
    by: str
    span: Span | None


class Patched(NamedTuple):
    """An object after the patches of its environment: its value, where the patches are, and what they wrote into it.

    `document` is None for an object that they left as it was.
    """

    value: Json
    patches: str
    document: OverlaidDocument | None = None

    def set_at(self, path: Path) -> Explained:
        """A value that the patches set, and where they write it, if one of them does."""
        written = self.document.written(path) if self.document is not None else None
        spot = written.spot if written is not None and written.layer is not None else None
        span = spot.document.span(spot.path) if spot is not None else None
        return Explained(path, lookup(self.value, path), PATCH, self.patches, span)


class Beside(NamedTuple):
    """An object that no service leads to: included, then `document` is its own, or added by patches."""

    document: Document | None
    patched: Patched


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
    return [
        one(body, p, v) if patched is None or body.get(*p) == v else patched.set_at(p) for p, v in leaves(value, path)
    ]


def explained_beside(beside: Beside, path: Path) -> list[Explained]:
    """Every single value at or below a path of an object that no service leads to; empty if nothing is there."""
    own, overlaid = beside.document, beside.patched.document
    found: list[Explained] = []
    for p, v in leaves(lookup(beside.patched.value, path), path):
        if own is not None and (overlaid is None or lookup(own.value, p) == v):
            found.append(Explained(p, v, INCLUDED, "", own.span(p)))
        elif own is None and overlaid is not None:
            found.append(Explained(p, v, PATCH, beside.patched.patches, overlaid.span(p)))
        else:
            found.append(beside.patched.set_at(p))
    return found


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
