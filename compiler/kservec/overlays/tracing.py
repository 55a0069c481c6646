"""Tracing: where a value of an overlaid object was written.

Kustomize says of each object which file it comes from, and of no value. So a value is looked for in the patches that
fit the object, the last one first, then in what its kustomizations set, then in its file: what has an equal value
there is taken for its origin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import index_of, item_key, lookup
from kservec.core.text.document import Document
from kservec.overlays.closure import Patch

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json, Path
    from kservec.overlays.kustomization import Kustomization


class Spot(NamedTuple):
    """A value as it was written, and where."""

    value: Json
    document: Document
    path: Path


class Written(NamedTuple):
    """A value as it was written, and what wrote it over that of the object's own file; None for that file."""

    spot: Spot
    layer: Patch | Kustomization | None


class OverlaidDocument(Document):
    """An object that kustomize made. Where its values stand is asked of the documents that it was made of."""

    __slots__ = ("base", "layers")

    def __init__(self, value: Json, base: Document, layers: Sequence[Patch | Kustomization]) -> None:
        """`base` is what it comes from: a document of a file, or the kustomization that generates it."""
        super().__init__(base.file, value, base.positions, base.text, base.start)
        self.base = base
        self.layers = tuple(layers)

    def span(self, path: Path = ()) -> Span:
        """The text of the value at `path`, or of the nearest value above it that was written."""
        spot = self._spot(path)
        return spot.document.span(spot.path)

    def key_span(self, path: Path) -> Span:
        """The text of the key that `path` ends with; of a list item the item; else as `span` falls back.

        The key that an operation of a patch ends with stands in its own path.
        """
        spot = self._spot(path)
        if isinstance(spot.document.value, list) and spot.path[1:] == ("value",):
            return spot.document.span((spot.path[0], "path"))
        return spot.document.key_span(spot.path) if self._is_whole(path, spot) else spot.document.span(spot.path)

    def scalar(self, path: Path) -> int | None:
        """The offset in `text` of the scalar at `path`; None if it is not in the file that the object comes from."""
        spot = self._spot(path)
        return self.base.scalar(spot.path) if spot.document is self.base and self._is_whole(path, spot) else None

    def quoted(self, path: Path) -> bool:
        """Whether the scalar at `path` was written in quotes or as a block."""
        spot = self._spot(path)
        return spot.document.quoted(spot.path)

    def _is_whole(self, path: Path, spot: Spot) -> bool:
        return bool(spot.path) and len(indexed(self.value, path)) == len(path)

    def _spot(self, path: Path) -> Spot:
        """Where the value at a path, or the nearest one above it, was written."""
        spelt = indexed(self.value, path)
        for length in range(len(spelt), 0, -1):
            spots = list(self._spots(spelt[:length]))
            wanted = lookup(self.value, spelt[:length])
            equal = next((spot for spot in spots if spot.value == wanted), None)
            if equal is not None:
                return equal
            if spots:
                # What differs from all that is written was changed in a way that leaves no trace, or only spelt anew.
                return spots[-1] if spots[-1].document is self.base else spots[0]
        return Spot(self.base.value, self.base, ())

    def written(self, path: Path) -> Written | None:
        """What is written for a path where it counts: in the last layer that says anything, else in the object's file.

        None if nothing is written for just this path.
        """
        spelt = indexed(self.value, path)
        return next(self._writers(spelt), None) if len(spelt) == len(path) else None

    def _spots(self, path: Path) -> Iterator[Spot]:
        """What is written for a path, the strongest first and the file of the object last."""
        return (spot for spot, _ in self._writers(path))

    def _writers(self, path: Path) -> Iterator[Written]:
        """What is written for a path with the layer that writes it, in the same order."""
        for layer in reversed(self.layers):
            spots = patched(layer, self.value, path) if isinstance(layer, Patch) else set_by(layer, self.value, path)
            yield from (Written(spot, layer) for spot in spots)
        own = translated(self.value, path, self.base.value)
        if own is not None:
            yield Written(Spot(lookup(self.base.value, own), self.base, own), None)


def indexed(value: Json, path: Path) -> Path:
    """A path with the indices of list items instead of their keys, as far as it leads."""
    steps: list[str | int] = []
    field = ""
    for step in path:
        if isinstance(value, list):
            i = index_of(value, field, step)
            if i < 0:
                break
            steps.append(i)
            value = value[i]
        elif isinstance(value, dict) and step in value:
            steps.append(step)
            value = value[step]
        else:
            break
        field = step if isinstance(step, str) else ""
    return tuple(steps)


def translated(value: Json, path: Path, other: Json) -> Path | None:
    """The path in another value of what is at a path of indices; None if it has nothing there.

    Items of lists are the same if they have the same key, or are equal, or else stand at the same place.
    """
    steps: list[str | int] = []
    field = ""
    for step in path:
        here: str | int = step
        if isinstance(value, list) and isinstance(other, list) and isinstance(step, int):
            here = counterpart(value[step], step, other, field)
            if here < 0:
                return None
            value, other = value[step], other[here]
        elif isinstance(value, dict) and isinstance(other, dict) and step in other:
            value, other = value.get(step), other[step]
        else:
            return None
        steps.append(here)
        field = step if isinstance(step, str) else ""
    return tuple(steps)


def counterpart(item: Json, i: int, others: list[Json], field: str) -> int:
    """Where the same item is in another list; -1 for nowhere."""
    key = item_key(item, field)
    if key is not None:
        return next((j for j, other in enumerate(others) if item_key(other, field) == key), -1)
    same = [j for j, other in enumerate(others) if other == item]
    return same[0] if same else i if i < len(others) else -1


def patched(patch: Patch, value: Json, path: Path) -> Iterator[Spot]:
    """What a patch writes for a path of an object."""
    document = patch.document
    if not patch.is_list:
        own = translated(value, path, document.value)
        if own is not None:
            yield Spot(lookup(document.value, own), document, own)
        return
    for i in range(len(document.value) - 1, -1, -1):
        operation = document.value[i]
        if isinstance(operation, dict) and operation.get("op") in ("add", "replace"):
            steps = pointer(str(operation.get("path", "")))
            rest = path[len(steps) :]
            if len(path) >= len(steps) and all(map(is_step, steps, path)):
                found = lookup(operation.get("value"), rest) if rest else operation.get("value")
                if found is not None:
                    yield Spot(found, document, (i, "value", *rest))


def pointer(text: str) -> list[str]:
    """The steps of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def is_step(written: str, step: str | int) -> bool:
    """Whether a step of a JSON pointer leads where a step of a path does; `-` is the end of a list."""
    return written == str(step) or (written == "-" and isinstance(step, int))


SETTINGS: dict[Path, tuple[str, ...]] = {
    ("metadata", "namespace"): ("namespace",),
    ("metadata", "name"): ("namePrefix", "nameSuffix"),
}


def set_by(kustomization: Kustomization, value: Json, path: Path) -> Iterator[Spot]:
    """What a kustomization sets for a path of all objects: names, labels, annotations, images."""
    document, wanted = kustomization.document, lookup(value, path)
    for field in SETTINGS.get(path, ()):
        if kustomization.text(field) and kustomization.text(field) in str(wanted):
            yield Spot(wanted, document, (field,))
    if isinstance(wanted, str) and path[-2:-1] and path[-2] in ("labels", "annotations", "matchLabels"):
        yield from texts_set(kustomization, path)
    if isinstance(wanted, str) and path[-1:] == ("image",):
        yield from image_set(kustomization, wanted)


def texts_set(kustomization: Kustomization, path: Path) -> Iterator[Spot]:
    """The label or annotation of a path, where a kustomization sets it."""
    places: list[Path] = [("commonLabels",), ("commonAnnotations",)]
    places += [("labels", i, "pairs") for i, _ in kustomization.items("labels")]
    for place in places:
        found = lookup(kustomization.value, (*place, path[-1]))
        if found is not None:
            yield Spot(found, kustomization.document, (*place, path[-1]))


def image_set(kustomization: Kustomization, image: str) -> Iterator[Spot]:
    """The part of an image that a kustomization sets."""
    for i, item in kustomization.items("images"):
        for field, mark in (("newTag", ":"), ("digest", "@"), ("newName", "")):
            part = item.get(field) if isinstance(item, dict) else None
            fits = image.startswith(str(part)) if not mark else image.endswith(f"{mark}{part}")
            if part is not None and fits:
                yield Spot(image, kustomization.document, ("images", i, field))
                return
