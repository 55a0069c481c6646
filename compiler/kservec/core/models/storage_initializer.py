"""The storage initializer: the container that downloads models before the model server starts.

Decides what it is made of - the platform's settings, credentials, certificates, a ClusterStorageContainer - and in
which order these are laid over each other. Must not know any storage scheme by name, nor which pod it goes into.

KServe: pkg/webhook/admission/pod/storage_initializer_injector.go, CommonStorageInitialization
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.models.ca_bundle import bundle_for
from kservec.core.models.credentials import Equipped, equip
from kservec.core.models.storage_config import equip_from_config
from kservec.core.names import STORAGE_INITIALIZER
from kservec.core.pods.containers import find, with_variable
from kservec.core.pods.mounts import add_mounts, add_volume, mount
from kservec.core.pods.strategic import patch_container
from kservec.core.registry import Attached
from kservec.core.sidecars.injection import check_quantities, resources
from kservec.core.tree import Layer, Layers, Origin
from kservec.spec.configuration import StorageInitializer

if TYPE_CHECKING:
    from kservec.core.catalog import StorageContainer
    from kservec.core.models.credentials import Holder
    from kservec.core.models.storage_config import StorageKey
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Source, Tree
    from kservec.spec.inferenceservice import Confidential

SECTION = "storageInitializer"
IMAGE = "kserve/storage-initializer:latest"
SHIPPED = StorageInitializer(cpu_request="100m", cpu_limit="1", memory_request="100Mi", memory_limit="1Gi")
"""What KServe ships, for platforms that declare no configuration at all."""

MOUNT_OF_NO_VOLUME = Code(
    "storage/mount-of-no-volume",
    Severity.ERROR,
    "a ClusterStorageContainer mounts a volume that does not exist",
    "A ClusterStorageContainer is a container only: the volumes that it mounts must be volumes of the pod, and the API "
    "server refuses the pod otherwise. Declare the volume in the InferenceService or remove the mount.",
)


class Download(NamedTuple):
    """What a storage initializer is to do: arguments (pairs of URI and path), and the volume that it writes to.

    `container` is laid over the platform's settings. `read_only` is how the model servers see the volume, `sub_path`
    the folder of it that counts. An `anonymous` one takes no credentials.
    """

    arguments: tuple[str, ...]
    volume: str
    path: str
    holder: Holder
    read_only: bool = True
    storage: StorageKey | None = None
    container: StorageContainer | None = None
    confidential: Confidential | None = None
    sub_path: str = ""
    anonymous: bool = False


def add_download(pod: Tree, wanted: Download, readers: tuple[str, ...], env: Env) -> Attached:
    """A pod that downloads models into a volume before its containers start, and mounts it in those that read them.

    Raises:
        Reject: the volume's path is taken, or the container cannot be made.
    """
    origin = wanted.holder.origin
    made, volumes, found = storage_initializer(wanted, env)
    pod = pod.append(("initContainers",), made, container_origin(made, wanted, env.platform))
    shared = mount(wanted.volume, wanted.path, read_only=wanted.read_only)
    pod = add_mounts(pod, readers, shared, origin, wanted.holder.subject)
    for volume in ({"name": wanted.volume, "emptyDir": {}}, *volumes):
        pod = add_volume(pod, volume, origin)
    return Attached(pod, found)


def container_origin(made: Json, wanted: Download, platform: PlatformConfig) -> Source:
    """Where the parts of the container come from: a ClusterStorageContainer, the platform's settings, the URI."""
    layers: list[tuple[Json, Source]] = [(made, wanted.holder.origin)]
    section = platform.texts.get(SECTION)
    if section is not None:
        configured = {name: made.get(name) for name in ("image", "resources")}
        layers.insert(0, (configured, Origin(Layer.PLATFORM, SECTION, section.document, ("data", SECTION))))
    if wanted.container is not None:
        spec = wanted.container.spec.container
        layers.insert(0, (spec, wanted.container.origin("spec", "container")))
    return Layers(tuple(layers))


def bare_initializer(arguments: tuple[str, ...], platform: PlatformConfig) -> Json:
    """The container as the platform's settings make it. KServe: pkg/utils/storage.go, CreateInitContainerWithConfig."""
    return {**initializer_template(platform), "args": list(arguments)}


@lru_cache(maxsize=8)
def settings(platform: PlatformConfig) -> StorageInitializer:
    """The `storageInitializer` section, checked.

    Raises:
        Reject: a quantity is missing or malformed.

    KServe: pkg/apis/serving/v1beta1/configmap.go, GetStorageInitializerConfigs
    """
    if SECTION not in platform.texts:
        return SHIPPED
    config = platform.storage_initializer
    check_quantities(platform, SECTION, config)
    return config


@lru_cache(maxsize=8)
def initializer_template(platform: PlatformConfig) -> Json:
    """The container without arguments."""
    config = settings(platform)
    return {
        "name": STORAGE_INITIALIZER,
        "image": config.image or IMAGE,
        "args": [],
        "resources": resources(config),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def storage_initializer(wanted: Download, env: Env) -> Equipped:
    """The whole container, and the volumes that the pod needs for it besides the model's.

    Raises:
        Reject: a Secret, setting or entry that the credentials need is not declared; a mount has no volume.
    """
    container = bare_initializer(wanted.arguments, env.platform)
    container["volumeMounts"] = [mount(wanted.volume, wanted.path, sub_path=wanted.sub_path)]
    if wanted.anonymous:
        equipped = Equipped(container)
    elif wanted.storage is not None:
        equipped = equip_from_config(container, wanted.storage, wanted.holder, env)
    else:
        equipped = equip(container, wanted.holder.account, wanted.holder, env)
    container, volumes, found = equipped
    bundle = bundle_for(container, wanted.holder.namespace, env.platform)
    if wanted.container is not None:
        container = patch_container(container, wanted.container.container)
        refuse_stray_mounts(container, wanted, volumes)
    if bundle is not None:
        container = bundle.mounted(container)
        volumes = (*volumes, bundle.volume)
    return Equipped(with_defaults(container, wanted.confidential, env), volumes, found)


def with_defaults(container: Json, confidential: Confidential | None, env: Env) -> Json:
    """The container with what every download gets unless it is set, and with what confidential models need.

    KServe: pkg/utils/storage.go, AddDefaultHuggingFaceEnvVars; pkg/utils/confidential.go
    """
    variables = container.get("env") or []
    taken = {entry["name"] for entry in variables}
    added = [{"name": n, "value": v} for n, v in env.plugs.download_env if n not in taken]
    container = {**container, "env": [*variables, *added]}
    if confidential is not None and confidential.enabled:
        container = with_variable(container, "CONFIDENTIAL_ENABLED", "true")
        if confidential.resource_id:
            container = with_variable(container, "CONFIDENTIAL_RESOURCE_ID", confidential.resource_id)
    return container


def refuse_stray_mounts(container: Json, wanted: Download, volumes: tuple[Json, ...]) -> None:
    """Refuse mounts of volumes that neither the pod nor the credentials have.

    Raises:
        Reject: there is one.
    """
    pod_volumes = wanted.holder.pod.value.get("volumes") or ()
    for entry in container.get("volumeMounts") or ():
        name = entry["name"]
        if name != wanted.volume and find(pod_volumes, name) is None and find(volumes, name) is None:
            raise Reject(stray_mount(name, wanted))


def stray_mount(volume: str, wanted: Download) -> Diagnostic:
    """The diagnostic for a mount that has no volume."""
    source = wanted.container
    span = source.origin("spec", "container", "volumeMounts").span() if source is not None else None
    name = source.name if source is not None else ""
    return Diagnostic(
        code=MOUNT_OF_NO_VOLUME,
        message=f"ClusterStorageContainer {name} mounts the volume {volume}, which the pod does not have",
        span=wanted.holder.origin.span(),
        related=((span, "mounted here"),) if span is not None else (),
        help=f"declare a volume {volume} in the component, or remove the mount",
        subject=wanted.holder.subject,
    )
