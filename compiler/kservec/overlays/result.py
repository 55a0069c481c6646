"""What kustomize made: each object with the file that it comes from, and without what kustomize wrote about that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    return tuple(made_of(document.value, closure, objects) for document in documents)


def made_of(value: Json, closure: Closure, objects: Sequence[Gathered]) -> Made:
    """An object that kustomize wrote, traced to what it was made of."""
    plain, origin = without_origin(value)
    found = origin_of(id_of(plain), path_of(origin), objects)
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
    fields = dict(pairs(annotation))
    return fields.get("path") or fields.get("configuredIn") or ""


def pairs(annotation: str) -> Iterator[tuple[str, str]]:
    """The top-level fields of an annotation that are text."""
    documents, _ = read_text(SourceText("", annotation), RESULT_LIMITS)
    for document in documents:
        value = document.value if isinstance(document.value, dict) else {}
        yield from ((key, text) for key, text in value.items() if isinstance(text, str))


def path_of(origin: str) -> str | None:
    """A path as kustomize names it, which is relative to the wrapper, as a path of the project; None without one."""
    path = resolved(WRAPPER, origin)
    return path.removeprefix(f"{TREE}/") if path is not None and path.startswith(f"{TREE}/") else None


def origin_of(called: Id | None, path: str | None, objects: Sequence[Gathered]) -> Gathered | None:
    """The object of the overlay that an object comes from, given its name and the path of its origin."""
    if called is None or path is None:
        return None
    alike = [
        o for o in objects if o.last.kind == called.kind and path in (o.file, f"{o.file}/{file_of(path)}".lstrip("/"))
    ]
    for fits in (is_same, is_named_same, is_generated_as):
        found = next((known for known in alike if fits(known, called)), None)
        if found is not None:
            return found
    return alike[0] if len(alike) == 1 else None


def file_of(path: str) -> str:
    """The last step of a path."""
    return path.rpartition("/")[2]


def is_same(known: Gathered, called: Id) -> bool:
    """Whether an object is called what it is expected to be called."""
    return known.last.name == called.name and known.last.place == called.place


def is_named_same(known: Gathered, called: Id) -> bool:
    """Whether an object has the name that it is expected to have, or had."""
    return called.name in (known.last.name, known.first.name)


def is_generated_as(known: Gathered, called: Id) -> bool:
    """Whether an object has the name of a generated one, with a hash."""
    return known.document is None and called.name[: -HASH_LENGTH - 1] == known.last.name
