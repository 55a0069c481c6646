"""What kustomize made: each object with the file that it comes from, and without what kustomize wrote about that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.text.reading import Limits
from kservec.core.text.source import SourceText
from kservec.overlays.closure import resolved
from kservec.overlays.objects import Id, id_of
from kservec.overlays.texts import read_text
from kservec.overlays.tracing import OverlaidDocument
from kservec.overlays.wrapper import TREE, WRAPPER

if TYPE_CHECKING:
    from kservec.core.paths import Json
    from kservec.core.text.document import Document
    from kservec.overlays.closure import Closure
    from kservec.overlays.objects import Gathered

ORIGIN, CHANGES = "config.kubernetes.io/origin", "alpha.config.kubernetes.io/transformations"
METADATA = "buildMetadata"
RESULT_LIMITS = Limits(max_bytes=1 << 30, max_nodes=2_000_000)
HASH_LENGTH = 10

_find_path = re.compile(r"^(?:path|configuredIn): (?:([^'\"\s].*)|'(.*)')$", re.MULTILINE).search


class Made(NamedTuple):
    """An object that kustomize made, and the object of the overlay that it comes from; None where that is not known."""

    document: Document
    origin: Gathered | None

    @property
    def called(self) -> Id:
        """What it is called."""
        found = id_of(self.document.value)
        return found if found is not None else Id("", "", "", "", "")


def read_result(text: str, closure: Closure, objects: Sequence[Gathered]) -> tuple[Made, ...]:
    """The objects that kustomize wrote, in its order.

    Args:
        text: what it wrote.
        closure: what the overlay reaches.
        objects: what it is made of.
    """
    documents, _ = read_text(SourceText("", text), RESULT_LIMITS)
    places = by_file(objects)
    return tuple(made_of(document.value, closure, places) for document in documents)


def by_file(objects: Sequence[Gathered]) -> dict[str, list[Gathered]]:
    """The objects of each file, and those that the kustomization of a folder generates."""
    places: dict[str, list[Gathered]] = {}
    for known in objects:
        places.setdefault(known.file, []).append(known)
    return places


def made_of(value: Json, closure: Closure, places: Mapping[str, Sequence[Gathered]]) -> Made:
    """An object that kustomize wrote, traced to what it was made of."""
    plain, origin = without_origin(value)
    found = origin_of(id_of(plain), path_of(origin), places)
    if found is None:
        return Made(OverlaidDocument(plain, closure.first.document, ()), None)
    base = found.document or closure.kustomizations[found.file].document
    return Made(OverlaidDocument(plain, base, found.layers), found)


def without_origin(value: Json) -> tuple[Json, str]:
    """An object without kustomize's annotations, and the path that they name; empty if they name none."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict) or not isinstance(metadata, dict):
        return value, ""
    kept = {key: text for key, text in annotations.items() if key not in (ORIGIN, CHANGES)}
    rest = {key: part for key, part in metadata.items() if key != "annotations"}
    plain = {**value, "metadata": {**rest, "annotations": kept} if kept else rest}
    return plain, path_in(str(annotations.get(ORIGIN, "")))


def path_in(annotation: str) -> str:
    """The path in an origin annotation: the file of an object, or of the kustomization that generates it."""
    found = _find_path(annotation)
    return (found[1] or found[2].replace("''", "'")) if found is not None else ""


def path_of(origin: str) -> str | None:
    """A path as kustomize names it, which is relative to the wrapper, as a path of the project; None without one."""
    path = resolved(WRAPPER, origin)
    return path.removeprefix(f"{TREE}/") if path is not None and path.startswith(f"{TREE}/") else None


def origin_of(called: Id | None, path: str | None, places: Mapping[str, Sequence[Gathered]]) -> Gathered | None:
    """The object of the overlay that an object comes from, given its name and the path of its origin.

    `places` are the objects of each file; of what a kustomization generates, those of its folder.
    """
    if called is None or path is None:
        return None
    known = (*places.get(path, ()), *(o for o in places.get(path.rpartition("/")[0], ()) if o.document is None))
    alike = [one for one in known if one.last.kind == called.kind]
    for fits in (is_same, is_named_same, is_generated_as):
        found = next((one for one in alike if fits(one, called)), None)
        if found is not None:
            return found
    return alike[0] if len(alike) == 1 else None


def is_same(known: Gathered, called: Id) -> bool:
    """Whether an object is called what it is expected to be called."""
    return known.last.name == called.name and known.last.place == called.place


def is_named_same(known: Gathered, called: Id) -> bool:
    """Whether an object has the name that it is expected to have, or had."""
    return called.name in (known.last.name, known.first.name)


def is_generated_as(known: Gathered, called: Id) -> bool:
    """Whether an object has the name of a generated one, with a hash."""
    return known.document is None and called.name[: -HASH_LENGTH - 1] == known.last.name
