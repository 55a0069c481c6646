"""rewrite_images: images come from the registries that the project says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.storage_scheme import SchemeTrait
from kservec.core.pods.image_names import rewritten
from kservec.core.pods.pod_sets import with_pods
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.pods.pod_sets import Pods
    from kservec.core.registry import Env, Plugs
    from kservec.core.tree import Path, Tree
    from kservec.core.unit import Unit

REWRITTEN = Origin(Layer.PASS, "rewrite_images")
FIELDS = ("initContainers", "containers")
SEPARATOR = "://"


def rewrite_images(unit: Unit, env: Env) -> Step:
    """Replace the beginnings of image names, wherever pods name an image.

    Takes:   nothing
    Writes:  images of containers and volumes, URIs of images that are downloaded
    Reports: nothing
    """
    rules = env.additions.image_rewrites if env.additions is not None else {}
    return Step(with_pods(unit, lambda pods: with_images(pods, rules, env.plugs))) if rules else Step(unit)


def with_images(pods: Pods, rules: Mapping[str, str], plugs: Plugs) -> Tree:
    """A pod whose images come from elsewhere."""
    pod = pods.pod
    for path, image in (*images(pod), *downloads(pod, plugs)):
        scheme, separator, name = image.rpartition(SEPARATOR)
        new = scheme + separator + rewritten(name, rules)
        pod = pod if new == image else pod.put(path, new, REWRITTEN)
    return pod


def images(pod: Tree) -> Iterator[tuple[Path, str]]:
    """The images of a pod's containers and volumes, and where they stand."""
    for field in FIELDS:
        for container in pod.value.get(field) or ():
            if container.get("image"):
                yield (field, container["name"], "image"), container["image"]
    for volume in pod.value.get("volumes") or ():
        if (volume.get("image") or {}).get("reference"):
            yield ("volumes", volume["name"], "image", "reference"), volume["image"]["reference"]


def downloads(pod: Tree, plugs: Plugs) -> Iterator[tuple[Path, str]]:
    """The arguments of init containers that are URIs of images, and where they stand."""
    for container in pod.value.get("initContainers") or ():
        for i, argument in enumerate(container.get("args") or ()):
            scheme = plugs.scheme(argument) if SEPARATOR in argument else None
            if scheme is not None and SchemeTrait.IMAGES in scheme.traits:
                yield ("initContainers", container["name"], "args", i), argument
