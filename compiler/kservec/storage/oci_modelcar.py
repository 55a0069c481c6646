"""oci_modelcar: an image with the model runs beside the model server, which reads it through the process file system.

KServe: pkg/utils/storage.go, ConfigureModelcarToContainer
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.models.storage_scheme import Attached, Delivery, Placement, Scheme
from kservec.core.names import MODEL_PATH
from kservec.core.pods.containers import find
from kservec.core.pods.mounts import add_mounts, add_volume, mount, parent_directory

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Tree
    from kservec.spec.configuration import StorageInitializer

VOLUME, MODELCAR = "kserve-provision-location", "modelcar"
SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")

USER_REPLACED = Code(
    "storage/user-replaced",
    Severity.WARNING,
    "the user id of a container gives way to the platform's",
    "A container can only read the file system of a modelcar beside it when both run as the same user. The platform "
    "sets one for modelcars (uidModelcar), and it replaces runAsUser of the containers that read the model.",
)


def claims(uri: str) -> int:
    """What is left of the URIs with an unknown mode: KServe takes them for modelcars too."""
    return 4 if uri.startswith("oci+") and uri.find("://") > 4 else 0


def attach(pod: Tree, placement: Placement, env: Env) -> Attached:
    """Add the modelcar, an init container that fetches its image early, and a directory that both sides share."""
    config, origin = env.platform.storage_initializer, placement.origin
    suffix = f"-{placement.index}" if placement.index else ""
    shared = mount(f"{VOLUME}{suffix}", parent_directory(placement.mount_path))
    diagnostics: list[Diagnostic] = []
    for target in placement.targets:
        variable = {"name": "MODEL_INIT_MODE", "value": "async"}
        pod = pod.put(("containers", target, "env", "MODEL_INIT_MODE"), variable, origin)
        if config.uid_modelcar is not None:
            diagnostics += user_replaced(pod, target, config.uid_modelcar, placement)
            at = ("containers", target, "securityContext", "runAsUser")
            pod = pod.put(at, config.uid_modelcar, origin)
    pod = add_volume(pod, {"name": shared["name"], "emptyDir": {}}, origin)
    pod = add_mounts(pod, placement.targets, shared, origin, placement.subject)
    image = placement.uri.partition("://")[2]
    if find(pod.value["containers"], f"{MODELCAR}{suffix}") is None:
        pod = pod.append(("containers",), modelcar(image, suffix, shared, placement, config), origin)
        pod = pod.append(("initContainers",), prefetch(image, suffix, config), origin)
    return Attached(pod.put(("shareProcessNamespace",), True, origin), tuple(diagnostics))


def modelcar(image: str, suffix: str, shared: Json, placement: Placement, config: StorageInitializer) -> Json:
    """The container that holds the model and links to it from the shared directory."""
    made: dict[str, Json] = {
        "name": f"{MODELCAR}{suffix}",
        "image": image,
        "args": ["sh", "-c", link_command(placement.mount_path)],
        "resources": resources(config),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [shared],
    }
    if placement.pull_policy:
        made["imagePullPolicy"] = placement.pull_policy
    if config.uid_modelcar is not None:
        made["securityContext"] = {"runAsUser": config.uid_modelcar}
    return made


def prefetch(image: str, suffix: str, config: StorageInitializer) -> Json:
    """The init container that has the image pulled, and checked, before the model server starts.

    KServe: CreateModelcarInitContainer
    """
    script = (
        f"echo 'Pre-fetching modelcar {image}: ' && [ -d /models ] && [ \"$$(ls -A /models)\" ] && "
        "echo 'OK ... Prefetched and valid (/models exists)' || "
        "(echo 'NOK ... Prefetched but modelcar is invalid (/models does not exist or is empty)' && exit 1)"
    )
    return {
        "name": f"modelcar-init{suffix}",
        "image": image,
        "args": ["sh", "-c", script],
        "resources": resources(config),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def resources(config: StorageInitializer) -> Json:
    """The resources of a container that only sleeps."""
    wanted = {"cpu": config.cpu_modelcar or "10m", "memory": config.memory_modelcar or "15Mi"}
    return {"limits": wanted, "requests": wanted}


def link_command(path: str) -> str:
    """What makes the model appear at `path`. Four dollars become two in the shell: its process id.

    KServe: modelcarCommand
    """
    link = f"ln -sf /proc/$$$$/root/models {quoted(path)} && sleep infinity"
    return link if path == MODEL_PATH else f"mkdir -p {quoted(parent_directory(path))} && {link}"


def quoted(path: str) -> str:
    """A path for the shell, in quotes only where it needs them. KServe: ShellQuote."""
    return path if path and SAFE.issuperset(path) else "'" + path.replace("'", "'\\''") + "'"


def user_replaced(pod: Tree, container: str, uid: int, placement: Placement) -> list[Diagnostic]:
    """The warning about a user id that someone chose for the container."""
    at = ("containers", container, "securityContext", "runAsUser")
    chosen = pod.get(*at)
    if chosen is None or chosen == uid:
        return []
    return [
        Diagnostic(
            code=USER_REPLACED,
            message=f"{container} runs as {uid}, the platform's uidModelcar, and not as {chosen}",
            span=pod.span(at) or placement.origin.span(),
            help=f"set runAsUser: {uid}, or bring the image in with an image volume",
            subject=placement.subject,
        )
    ]


SCHEME = Scheme(
    name="oci+modelcar",
    prefixes=("oci+modelcar://",),
    delivery=Delivery.IMAGE,
    claims=claims,
    supported=False,
    attach=attach,
)
