"""pin_versions: images get the digests, and models the commits, that the project's lock file has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.pods.pod_sets import with_pods
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.lock import Lock
    from kservec.core.pods.pod_sets import Pods
    from kservec.core.registry import Env, Plugs
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Unit

PINNED = Origin(Layer.PASS, "pin_versions")
FIELDS = ("initContainers", "containers")


def pin_versions(unit: Unit, env: Env) -> Step:
    """Write digests behind the tags of images, and commits into the URIs of models. What the lock lacks stays.

    Comes after the images have come to their registries: the lock has them by the names that are rendered.

    Takes:   nothing
    Writes:  images of containers and volumes, URIs of models that are downloaded
    Reports: nothing
    """
    lock = env.additions.lock if env.additions is not None else None
    if lock is None:
        return Step(unit)
    return Step(with_pods(unit, lambda pods: pinned(pods, lock, env.plugs)))


def pinned(pods: Pods, lock: Lock, plugs: Plugs) -> Tree:
    """A pod whose images and models are pinned. Where a value is from, it stays from."""
    pod = pods.pod
    for path, new in changes(pod.value, lock, plugs):
        found = pod.origin(path)
        origin = found[0]._replace(at=(*found[0].at, *found[1])) if found is not None else PINNED
        pod = pod.put(path, new, origin)
    return pod


def changes(pod: Json, lock: Lock, plugs: Plugs) -> Iterator[tuple[Path, str]]:
    """The places of a pod whose values the lock has others for."""
    for field in FIELDS:
        for container in pod.get(field) or ():
            image = container.get("image") or ""
            if (new := lock.image(image)) != image:
                yield (field, container["name"], "image"), new
            for i, argument in enumerate(container.get("args") or () if lock.models else ()):
                if (new := model(argument, lock, plugs)) != argument:
                    yield (field, container["name"], "args", i), new
    for volume in pod.get("volumes") or ():
        reference = (volume.get("image") or {}).get("reference") or ""
        if (new := lock.image(reference)) != reference:
            yield ("volumes", volume["name"], "image", "reference"), new


def model(uri: str, lock: Lock, plugs: Plugs) -> str:
    """The URI of a model at the commit that the lock has for it."""
    commit = lock.models.get(uri)
    scheme = plugs.scheme(uri) if commit is not None else None
    if commit is None or scheme is None or not scheme.revision_mark:
        return uri
    return f"{scheme.revision_of(uri)[0]}{scheme.revision_mark}{commit}"
