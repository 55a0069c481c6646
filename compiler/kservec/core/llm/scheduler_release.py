"""The scheduler's release: which one runs, and its arguments as that one takes them.

Decides which of image and annotation counts: an annotation tells the version of the image that it stands beside, so
one in a preset says nothing of an image that somebody laid over it. KServe goes by the annotation alone, and gives such
an image flags that it does not start with. Which release takes what, `scheduler_config.releases` knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import MAIN, VERSION_ANNOTATION
from kservec.core.llm.presets import PREFIX
from kservec.core.llm.scheduler_config.releases import (
    LISTS,
    SINCE,
    STRICT,
    Argument,
    Release,
    arguments,
    is_release,
    is_settled,
    lacking,
    release_of,
    spelt,
)
from kservec.core.llm.scheduler_config.versions import Version, parse_version
from kservec.core.pods.containers import find
from kservec.core.tree import Graft, Layer, Origin

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path, Tree

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "scheduler_release")
FIELDS: Final = ("command", "args")
MAIN_CONTAINER: Final = ("containers", MAIN)


def image_release(pod: Tree) -> Release | None:
    """The release that a scheduler's image is; None if that is not known."""
    container = find(pod.get("containers") or (), MAIN)
    return release_of(container.get("image") or "") if container is not None else None


def with_version(annotations: Tree, pod: Tree) -> Tree:
    """The annotations of a scheduler's pods, whose version is the image's where the annotation is for another image."""
    release, said = image_release(pod), annotations.value.get(VERSION_ANNOTATION)
    if release is None or not said or not is_for_another_image(annotations, pod, release):
        return annotations
    return annotations.put((VERSION_ANNOTATION,), shown(release), pod.sub(*MAIN_CONTAINER, "image"))


def is_for_another_image(annotations: Tree, pod: Tree, release: Release | None) -> bool:
    """Whether the version that is said is that of a preset, and the image is not."""
    version = parse_version(annotations.value.get(VERSION_ANNOTATION) or "")
    if version is None or is_release(version, release):
        return False
    said, brought = annotations.origin((VERSION_ANNOTATION,)), pod.origin((*MAIN_CONTAINER, "image"))
    if said is None or brought is None or not said[0].by.startswith(PREFIX):
        return False
    return said[0].doc is not brought[0].doc


def spelt_for(pod: Tree, release: Release | None, version: Version) -> Tree:
    """A scheduler's pod whose main container has its flags as its release takes them, and each of them once.

    Args:
        pod: the pod.
        release: that of its image; None leaves the arguments alone.
        version: the version that its configuration is brought up to.
    """
    container = find(pod.get("containers") or (), MAIN)
    if release is None or container is None or is_settled(release, *argument_lists(container)):
        return pod
    said_again = {a.flag for a in arguments(container.get("args") or ()) if a.flag in SINCE} - {*LISTS}
    lacks = lacking(release) if is_release(version, release) else frozenset()
    for field in FIELDS:
        items: list[str] = container.get(field) or []
        repeated = said_again if field == "command" else frozenset()
        for argument in reversed(list(arguments(items))):
            at, written = (*MAIN_CONTAINER, field, argument.at), items[argument.at]
            is_idle = not written and release < STRICT
            if is_idle or argument.flag in repeated or (argument.flag in lacks and is_brought(pod, at)):
                pod = without_argument(pod, (*MAIN_CONTAINER, field), argument)
            elif (new := spelt(release, written)) != written:
                pod = pod.put(at, new, Graft(pod, at))
    return pod


def argument_lists(container: Json) -> tuple[list[str], list[str]]:
    """Command and arguments of a container."""
    return container.get("command") or [], container.get("args") or []


def without_argument(pod: Tree, path: Path, argument: Argument) -> Tree:
    """A pod whose list of arguments at a path lacks one of them, and its value."""
    for i in reversed(range(argument.at, argument.at + argument.length)):
        pod = pod.without((*path, i), MADE)
    return pod


def is_brought(pod: Tree, at: Path) -> bool:
    """Whether an argument is a preset's or made here, and not the user's."""
    found = pod.origin(at)
    return found is None or found[0].layer is Layer.KSERVE_DEFAULT or found[0].by.startswith(PREFIX)


def shown(release: Release) -> str:
    """A release as it is written."""
    return ".".join(map(str, release))
