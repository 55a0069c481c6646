"""Images of pods that no node can pull, since they are no names of images.

An API server takes them, and KServe makes them: the pod is there, and waits for ever. Knative refuses more, and sooner:
`core/knative/validity`. Paths are below the PodSpec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.patterns import Pattern
from kservec.core.pods.image_names import is_reference
from kservec.core.schemas.faults import Fault
from kservec.core.visible import visible

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

IMAGE = Code(
    "pod/image",
    Severity.WARNING,
    "an image that no node can pull",
    "The text is no name of an image: it has spaces, capital letters or signs in it that names do not have, or a "
    "place-holder that nobody filled in. The API server takes it, and the pod stays in InvalidImageName. Of a model "
    "that is an image, the name is what stands behind oci:// in its URI.",
)
_fill_variables = Pattern(r"\$\{[A-Za-z_]\w*\}").sub
FORM = "[REGISTRY/]NAME[:TAG][@DIGEST], the name in lower case"


def image_faults(pod: Json) -> list[Fault]:
    """The images of containers, and of volumes, that are no names of images; those that are missing are not."""
    found = []
    for field in ("containers", "initContainers"):
        for container in pod.get(field) or ():
            image = container.get("image")
            if image and not may_be_image(image):
                found.append(
                    no_image(f"container {visible(container['name'])}", image, (field, container["name"], "image"))
                )
    for volume in pod.get("volumes") or ():
        source = volume.get("image")
        image = source and source.get("reference")
        if image and not may_be_image(image):
            path = ("volumes", volume["name"], "image", "reference")
            found.append(no_image(f"volume {visible(volume['name'])}", image, path))
    return found


def may_be_image(image: str) -> bool:
    """Whether a text is the name of an image, or becomes one."""
    return is_reference(image) or ("${" in image and is_reference(filled(image)))


def filled(text: str) -> str:
    """A text with something in the place of its `${variables}`, which Flux fills in while it applies."""
    return _fill_variables("x", text)


def no_image(owner: str, image: str, path: Path) -> Fault:
    """The warning about one image."""
    message = f"{owner} has the image {image!r}, which is no name of one"
    return Fault(IMAGE, path, message, help=f"write it as {FORM}", once=image)
