"""Images: a tag that moves, none at all, a missing digest, or one that the lock file does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.lock import DEFAULT_TAG, read_image
from kservec.core.schemas.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Path
    from kservec.policy.scene import Pod, Scene

IMAGE_TAG = Code(
    "policy/image-tag",
    Severity.WARNING,
    "an image without a tag, or with the tag latest",
    "What such a name means changes without a commit, differs from node to node, and cannot be reverted. Write a "
    "version, or pin a digest with `kservec lock --update`.",
)
IMAGE_DIGEST = Code(
    "policy/image-digest",
    Severity.WARNING,
    "an image without a digest",
    "Off unless the project turns the rule on. A tag can be pushed again; a digest is one image for ever. "
    "`kservec lock --update` finds the digests, and builds write them behind the tags.",
)
LOCK_MISSING = Code(
    "policy/lock-missing",
    Severity.WARNING,
    "an image or a model that the lock file does not have",
    "The project has a lock file, but it does not cover this. Run `kservec lock --update` and commit the file.",
)


def check_images(scene: Scene) -> Iterator[Fault]:
    """The images of all containers, and of volumes that are images."""
    for pod in scene.pods:
        for path, image in images_in(pod):
            if image:
                yield from image_faults(scene, path, image)


def images_in(pod: Pod) -> Iterator[tuple[Path, str]]:
    """The images that a pod is made of, and where they are."""
    for container in pod.containers:
        yield (*container.path, "image"), str(container.body.get("image") or "")
    for volume in pod.spec.get("volumes") or ():
        reference = (volume.get("image") or {}).get("reference")
        yield (*pod.spec_path, "volumes", volume.get("name", ""), "image", "reference"), str(reference or "")


def image_faults(scene: Scene, path: Path, image: str) -> Iterator[Fault]:
    """What is wrong with the name of an image."""
    parts = read_image(image)
    if parts.digest:
        return
    if parts.tag in ("", DEFAULT_TAG):
        what = f"has the tag {DEFAULT_TAG}" if parts.tag else "has no tag"
        yield Fault(IMAGE_TAG, path, f"image {image} {what}", help="write the tag of a version")
    yield Fault(IMAGE_DIGEST, path, f"image {image} has no digest", help="run kservec lock --update")
    if scene.site.lock is not None:
        message = f"image {image} is not in the lock file"
        yield Fault(LOCK_MISSING, path, message, help="run kservec lock --update, and commit the file")
