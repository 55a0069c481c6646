"""`images:` of a kustomization that changes nothing: kustomize looks at containers, and KServe has images elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from kservec.core.paths import Json
    from kservec.overlays.closure import Closure
    from kservec.overlays.kustomization import Kustomization
    from kservec.overlays.objects import Gathered

UNMATCHED = Code(
    "overlay/image-unmatched",
    Severity.WARNING,
    "an image that no container of the overlay has",
    "`images:` of a kustomization changes the images of containers and init containers. It does not reach the image of "
    "a model, nor those of built-in runtimes: a patch reaches the former, `images.rewrite` of kservec.yaml all.",
)
LISTS = ("containers", "initContainers")


def image_findings(closure: Closure, objects: Sequence[Gathered]) -> Iterator[Diagnostic]:
    """A warning about each image that a kustomization changes nowhere."""
    patches = [patch.document.value for found in closure.patches.values() for patch in found]
    for kustomization in closure.kustomizations.values():
        if any(True for _ in kustomization.items("images")):
            own = [known.document.value for known in objects if known.document and kustomization in known.layers]
            yield from unmatched(kustomization, [*own, *patches])


def unmatched(kustomization: Kustomization, values: Sequence[Json]) -> Iterator[Diagnostic]:
    """A warning about each image that is in no container of some objects."""
    found = [pair for value in values for pair in images_in(value)]
    for i, item in kustomization.items("images"):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or (name, True) in found:
            continue
        near = closest(name, sorted({image for image, changes in found if changes}))
        hint = f"did you mean {near}?" if near else "write a patch, or `images.rewrite` in kservec.yaml"
        if (name, False) in found:
            hint = "kustomize changes images of containers alone: write a patch for this one"
        message = f"no container of this overlay has the image {name}"
        yield Diagnostic(code=UNMATCHED, message=message, span=kustomization.span("images", i, "name"), help=hint)


def images_in(value: Json, field: str = "") -> Iterator[tuple[str, bool]]:
    """The names of all images in a value, and whether kustomize would change them."""
    if isinstance(value, list):
        for item in value:
            yield from images_in(item, field)
    elif isinstance(value, dict):
        image = value.get("image")
        if isinstance(image, str):
            yield image_name(image), field in LISTS
        for key, child in value.items():
            yield from images_in(child, key)


def image_name(image: str) -> str:
    """An image without its tag and digest."""
    name = image.partition("@")[0]
    tag = name.rfind(":")
    return name[:tag] if tag > name.rfind("/") else name
