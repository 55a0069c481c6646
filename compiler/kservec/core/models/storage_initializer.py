"""The storage initializer: the container that downloads models before the model server starts.

Decides what it is made of - the platform's settings, credentials, certificates, a ClusterStorageContainer - and in
which order these are laid over each other. Must not know any storage scheme by name, nor which pod it goes into.

KServe: pkg/webhook/admission/pod/storage_initializer_injector.go, CommonStorageInitialization
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Reject, Severity
from kservec.core.models.ca_bundle import bundle_for
from kservec.core.models.credentials import Equipped, Holder, equip, named_secret
from kservec.core.models.storage_config import equip_from_config
from kservec.core.models.storage_scheme import Attached
from kservec.core.names import STORAGE_INITIALIZER
from kservec.core.pods.containers import find, with_variable
from kservec.core.pods.mounts import add_mounts, add_volume, mount
from kservec.core.pods.strategic import patch_container
from kservec.core.remembering import once_a_run
from kservec.core.sidecars.injection import check_quantities, resources
from kservec.core.tree import Layer, Layers, Origin, Tree
from kservec.spec.configuration import StorageInitializer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.catalog import StorageContainer
    from kservec.core.models.storage_config import StorageKey
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Source
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
    made = shared_initializer(env, Sharing.of(wanted, env)) if wanted.storage is None else None
    if made is None:
        made = initializer(wanted, env)
    refuse_stray_mounts(made.unmatched, wanted)
    # What a ClusterStorageContainer brings stands instead of the arguments, also in a shared one.
    container = made.container if made.container["args"] else {**made.container, "args": list(wanted.arguments)}
    return Equipped(with_confidential(container, wanted.confidential), made.volumes, made.diagnostics)


class Initializer(NamedTuple):
    """A storage initializer, and what the pod needs for it; a shared one is without arguments.

    `unmatched` are the volumes that it mounts and that are among neither `volumes` nor the model's.
    """

    container: Json
    volumes: tuple[Json, ...]
    unmatched: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class Sharing(NamedTuple):
    """What pods have in common that get the same storage initializer, but for its arguments.

    `secret` is the one that an annotation names instead of those of the account, `container` the name of a
    ClusterStorageContainer; both are empty if there is none.
    """

    namespace: str
    account: str
    secret: str | None
    volume: str
    path: str
    sub_path: str
    container: str
    anonymous: bool

    @classmethod
    def of(cls, wanted: Download, env: Env) -> Sharing:
        """What a wish has in common with others."""
        holder, container = wanted.holder, wanted.container.name if wanted.container is not None else ""
        who = (holder.namespace, holder.account, named_secret(holder, env))
        return cls(*who, wanted.volume, wanted.path, wanted.sub_path, container, wanted.anonymous)


@once_a_run
def shared_initializer(env: Env, sharing: Sharing) -> Initializer | None:
    """The container for all that have this in common: one for each ServiceAccount, with most fleets.

    None where there is something to say about it, which is said at a place in the text of each.
    """
    origin, named = Origin(Layer.KSERVE_DEFAULT, SECTION), env.platform.credentials.storage_secret_name_annotation
    pod = Tree.of({"serviceAccountName": sharing.account}, origin)
    annotations = Tree.of({} if sharing.secret is None else {named: sharing.secret}, origin)
    anyone = Holder(ObjectRef("", "", sharing.namespace, ""), pod, annotations, origin)
    wanted = Download(
        arguments=(),
        volume=sharing.volume,
        path=sharing.path,
        holder=anyone,
        container=env.catalog.storage_container(sharing.container) if sharing.container else None,
        sub_path=sharing.sub_path,
        anonymous=sharing.anonymous,
    )
    try:
        made = initializer(wanted, env)
    except Reject:
        return None
    return None if made.diagnostics else made


def initializer(wanted: Download, env: Env) -> Initializer:
    """The container, and the volumes that the pod needs for it besides the model's.

    Raises:
        Reject: a Secret, setting or entry that the credentials need is not declared.
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
    unmatched: tuple[str, ...] = ()
    if wanted.container is not None:
        container = patch_container(container, wanted.container.container)
        mounted = [entry["name"] for entry in container.get("volumeMounts") or ()]
        unmatched = tuple(name for name in mounted if name != wanted.volume and find(volumes, name) is None)
    if bundle is not None:
        container = bundle.mounted(container)
        volumes = (*volumes, bundle.volume)
    return Initializer(with_defaults(container, env), volumes, unmatched, found)


def with_defaults(container: Json, env: Env) -> Json:
    """The container with what every download gets unless it is set.

    KServe: pkg/utils/storage.go, AddDefaultHuggingFaceEnvVars
    """
    variables = container.get("env") or []
    taken = {entry["name"] for entry in variables}
    added = [{"name": n, "value": v} for n, v in env.plugs.download_env if n not in taken]
    return {**container, "env": [*variables, *added]}


def with_confidential(container: Json, confidential: Confidential | None) -> Json:
    """The container with what confidential models need. KServe: pkg/utils/confidential.go."""
    if confidential is None or not confidential.enabled:
        return container
    container = with_variable(container, "CONFIDENTIAL_ENABLED", "true")
    if confidential.resource_id:
        container = with_variable(container, "CONFIDENTIAL_RESOURCE_ID", confidential.resource_id)
    return container


def refuse_stray_mounts(names: Sequence[str], wanted: Download) -> None:
    """Refuse mounts of volumes that the pod does not have either.

    Raises:
        Reject: there is one.
    """
    if names:
        volumes = wanted.holder.pod.value.get("volumes") or ()
        for name in names:
            if find(volumes, name) is None:
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
