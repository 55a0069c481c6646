"""Volumes and mounts that models need: named, added once, never two at one path.

Decides the names of volumes that follow from paths, and what happens when a name or a path is taken. Must not know
what is mounted, nor why.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.names import KSERVE_CONTAINER, TRANSFORMER_CONTAINER, WORKER_CONTAINER
from kservec.core.pods.containers import find
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Json, Origin, Tree

PATH_TAKEN = Code(
    "storage/path-taken",
    Severity.ERROR,
    "two volumes at one path",
    "A container would have two mounts at one path, which the API server refuses. Mount your own volume elsewhere, or "
    "leave out the storage URI if your volume holds the model.",
)

NO_READER = Code(
    "storage/no-reader",
    Severity.ERROR,
    "no container can read the model",
    "Models are mounted into the container kserve-container, or worker-container in the workers of several nodes, and "
    "the pod has no container of that name.",
)

_is_volume_name = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch


def volume_name(path: str, fallback: str) -> str:
    """The name of the volume that is mounted at `path`: the path with dashes for slashes.

    KServe stops there and makes names that the API server refuses from paths with capitals, dots or the like. Such
    paths get what is left of them and a digest, so that two paths never share a name. `fallback` stands for the root.

    KServe: pkg/utils/storage.go, GetVolumeNameFromPath
    """
    name = path.strip("/").replace("/", "-")
    if _is_volume_name(name):
        return name
    if not name:
        return fallback
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, a fiftieth of a short run

    readable = re.sub(r"[^a-z0-9]+", "-", name.lower())[:54].strip("-") or fallback
    return f"{readable}-{sha256(path.encode()).hexdigest()[:8]}"


def common_parent(paths: Sequence[str]) -> str:
    """The directory that holds all paths; a path on its own is its own parent.

    KServe: pkg/utils/storage.go, FindCommonParentPath
    """
    if len(paths) == 1:
        return paths[0]
    common: list[str] = []
    for steps in zip(*(p.strip("/").split("/") for p in paths), strict=False):
        if len(set(steps)) > 1:
            break
        common.append(steps[0])
    return "/" + "/".join(common)


def parent_directory(path: str) -> str:
    """The directory that holds a path. Go: path/filepath, Dir, which cleans what it returns."""
    return posixpath.normpath(posixpath.dirname(path)) if path else "."


def mount(name: str, path: str, *, sub_path: str = "", read_only: bool = False) -> Json:
    """A volume mount, with only the fields that say something."""
    made: dict[str, Json] = {"name": name, "mountPath": path}
    if sub_path:
        made["subPath"] = sub_path
    if read_only:
        made["readOnly"] = True
    return made


def model_readers(pod: Tree, origin: Origin, subject: ObjectRef) -> tuple[str, ...]:
    """The containers of a pod that models are mounted into: the model server's, and a transformer's beside it.

    Raises:
        Reject: there is no model server.

    KServe: pkg/webhook/admission/pod/storage_initializer_injector.go, CommonStorageInitialization
    """
    names = [c.get("name") for c in pod.value.get("containers") or ()]
    server = KSERVE_CONTAINER if KSERVE_CONTAINER in names else WORKER_CONTAINER
    if server not in names:
        raise Reject(no_reader(names, origin, subject))
    return (server, TRANSFORMER_CONTAINER) if TRANSFORMER_CONTAINER in names else (server,)


def no_reader(names: list[str], origin: Origin, subject: ObjectRef) -> Diagnostic:
    """The diagnostic for a pod whose containers have other names."""
    return Diagnostic(
        code=NO_READER,
        message=f"no container is named {KSERVE_CONTAINER}; the pod has {', '.join(map(str, names)) or 'none'}",
        span=origin.span(),
        help=f"name the container that serves the model {KSERVE_CONTAINER}",
        subject=subject,
    )


def add_volume(pod: Tree, volume: Json, origin: Origin) -> Tree:
    """A pod with a volume, unless it has one of that name."""
    if find(pod.value.get("volumes") or (), volume["name"]) is not None:
        return pod
    return pod.append(("volumes",), volume, origin)


def add_mounts(pod: Tree, targets: Iterable[str], wanted: Json, origin: Origin, subject: ObjectRef) -> Tree:
    """A pod whose containers of these names have a mount, each unless it mounts that volume already.

    Raises:
        Reject: a container has another volume at the path.

    KServe: pkg/utils/storage.go, addVolumeMountToContainer
    """
    for target in targets:
        container = find(pod.value.get("containers") or (), target) or {}
        mounts = container.get("volumeMounts") or ()
        if mounts and wanted["name"] in [m["name"] for m in mounts]:
            continue
        if mounts and wanted["mountPath"] in [m["mountPath"] for m in mounts]:
            raise Reject(path_taken(pod, target, wanted["mountPath"], origin, subject))
        pod = pod.append(("containers", target, "volumeMounts"), wanted, origin)
    return pod


def path_taken(pod: Tree, container: str, path: str, origin: Origin, subject: ObjectRef) -> Diagnostic:
    """The diagnostic for a path that another volume has."""
    at = ("containers", container, "volumeMounts", path)
    taken = pod.span(at)
    return Diagnostic(
        code=PATH_TAKEN,
        message=f"{path} in container {container} is taken by the volume {visible(pod.get(*at, 'name'))}",
        span=origin.span(),
        related=((taken, "mounted here"),) if taken is not None else (),
        help=f"mount that volume elsewhere, or remove what brings a model to {path}",
        subject=subject,
    )
