"""Downloads onto nodes: the DaemonSet that keeps a copy of a model on every node of a group.

Decides what its pods are made of. KServe's agent makes a Job for each node that it finds; here a DaemonSet does, which
needs neither agent nor list of nodes: its init container is the storage initializer, and then the pod idles.

KServe: pkg/controller/v1alpha1/localmodelnode/controller.go, launchJob and injectCredentials
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import Code, Diagnostic, Needed, ObjectRef, Severity
from kservec.core.golang.encoding import encode
from kservec.core.models.credentials import Equipped, Holder
from kservec.core.models.local_models import VOLUME_SPEC
from kservec.core.models.node_placement import TERMS
from kservec.core.models.odd_uris import Place, is_odd, said_of
from kservec.core.models.storage_config import DEFAULT_SECRET, StorageKey
from kservec.core.models.storage_containers import Asked, choose_for_nodes
from kservec.core.models.storage_initializer import Download, container_origin, storage_initializer
from kservec.core.names import MODEL_PATH
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin, Tree, lookup
from kservec.core.visible import visible

if TYPE_CHECKING:
    from kservec.core.catalog import StorageContainer
    from kservec.core.models.local_models import LocalCache, NodeGroup
    from kservec.core.registry import Env
    from kservec.core.tree import Json

BY = "render_localmodelcache"
MADE = Origin(Layer.PASS, BY)
VOLUME = "kserve-pvc-source"
IDLE_CONTAINER = "idle"
IDLE_IMAGE = "registry.k8s.io/pause:3.10.1"
IDLE_USER = 65535
IDLE_RESOURCES = {"limits": {"memory": "16Mi"}, "requests": {"cpu": "1m", "memory": "8Mi"}}
CONFINED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}

SECRET_ASSUMED = Code(
    "localmodel/secret-assumed",
    Severity.WARNING,
    "a storage Secret that nothing declares, in the namespace of downloads",
    "spec.storage.key names a key of the storage Secret. Nothing declares the Secret, so it cannot be seen whether the "
    "key is there; the download refers to it all the same, and waits while it is missing. Declare the Secret among the "
    "platform files by its keys.",
)


class Downloader(NamedTuple):
    """A DaemonSet, and what was found while it was made."""

    manifest: Manifest
    diagnostics: tuple[Diagnostic, ...]


def render_downloader(cache: LocalCache, group: NodeGroup, namespace: str, env: Env) -> Downloader:
    """The DaemonSet that brings a model onto the nodes of a group; its name is that of the claim it writes through.

    Raises:
        Reject: credentials, certificates or the storage initializer's settings cannot be had.
    """
    origin = cache.origin("spec", "sourceModelUri")._replace(layer=Layer.PASS, by=BY)
    asked = Asked("", origin, cache.ref)
    container, found = choose_for_nodes(cache.spec.source_model_uri, asked, env.catalog)
    wanted = download_of(cache, container, holder_of(cache, namespace, origin), env)
    equipped, more = download_container(wanted, env)
    made = equipped.container
    pod = Tree.of(bare_pod(cache, env), origin)
    pod = pod.append(("initContainers",), made, container_origin(made, wanted, env.platform))
    pod = pod.append(("containers",), idle_container(), MADE)
    for volume in (claimed(cache.download_claim(group.name)), *equipped.volumes):
        pod = pod.append(("volumes",), volume, origin)
    terms = lookup(group.spec.persistent_volume_spec, TERMS)
    if terms:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        place = group.origin("spec", VOLUME_SPEC, *TERMS)
        pod = pod.put(("affinity",), {"nodeAffinity": required}, place)
    ref = ObjectRef("apps/v1", "DaemonSet", namespace, cache.download_claim(group.name))
    if is_odd(cache.spec.source_model_uri, env):
        odd = said_of(cache.spec.source_model_uri, Place(origin.span, cache.ref, pod.value), env)
        more = (*more, *odd)
    return Downloader(daemon_set(ref, cache, group, pod), (*found, *equipped.diagnostics, *more))


def daemon_set(ref: ObjectRef, cache: LocalCache, group: NodeGroup, pod: Tree) -> Manifest:
    """The DaemonSet of a pod. Its labels are those of KServe's Jobs, with the group instead of a node.

    The kind tells a cache of the cluster from one of the same name in a namespace, whose pods may be beside its own.
    """
    labels = {"kind": cache.ref.kind, "model": cache.name, "nodeGroup": group.name}
    if cache.namespace:
        labels["modelNamespace"] = cache.namespace
    template = {"metadata": {"labels": labels}, "spec": pod.value}
    body = {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    tree = Tree.of(body, cache.origin("metadata", "name"))
    return Manifest(ref, tree.note(("spec", "template", "spec"), pod))


def holder_of(cache: LocalCache, namespace: str, origin: Origin) -> Holder:
    """The downloading pod as one that needs credentials."""
    account = cache.spec.service_account_name
    named = {"serviceAccountName": account} if account else {}
    return Holder(cache.ref, Tree.of(named, cache.origin("spec")), Tree.of({}, origin), origin, namespace)


def download_of(cache: LocalCache, container: StorageContainer | None, holder: Holder, env: Env) -> Download:
    """What is to be downloaded; credentials only where the cache asks for some, as in KServe."""
    storage = storage_key(cache)
    return Download(
        arguments=(cache.spec.source_model_uri, MODEL_PATH),
        volume=VOLUME,
        path=MODEL_PATH,
        sub_path=cache.folder,
        holder=holder,
        storage=storage,
        container=container,
        anonymous=is_assumed(storage, holder, env)
        or (storage is None and cache.spec.storage is None and not holder.account),
    )


def storage_key(cache: LocalCache) -> StorageKey | None:
    """The entry of the storage Secret that a cache names. Parameters without a key count for nothing."""
    storage = cache.spec.storage
    if storage is None or storage.key is None:
        return None
    span = cache.document.span(("spec", "storage", "key"))
    return StorageKey(key=storage.key, parameters=storage.parameters or {}, span=span)


def is_assumed(storage: StorageKey | None, holder: Holder, env: Env) -> bool:
    """Whether an entry is asked for of a Secret that nothing declares."""
    return storage is not None and (holder.namespace, storage_secret(env)) not in env.cluster.secrets


def storage_secret(env: Env) -> str:
    """The name of the storage Secret."""
    return env.platform.credentials.storage_spec_secret_name or DEFAULT_SECRET


def download_container(wanted: Download, env: Env) -> tuple[Equipped, tuple[Diagnostic, ...]]:
    """The storage initializer, confined; an image that a ClusterStorageContainer brings may need to run as root.

    Raises:
        Reject: it cannot be made.
    """
    equipped = storage_initializer(wanted, env)
    container = {**equipped.container, "args": list(wanted.arguments)}
    if wanted.container is None:
        container["securityContext"] = CONFINED
    if wanted.storage is None or not is_assumed(wanted.storage, wanted.holder, env):
        return equipped._replace(container=container), ()
    container["env"] = [*assumed_entry(wanted.storage, env), *(container.get("env") or ())]
    secret = f"Secret {wanted.holder.namespace}/{storage_secret(env)}"
    message = f"{secret} is not declared; the download refers to its key {visible(wanted.storage.key)} unseen"
    finding = wanted.holder.report(SECRET_ASSUMED, message, wanted.storage.span, f"declare {secret} by its keys")
    needed = Needed("Secret", wanted.holder.namespace, storage_secret(env))
    return equipped._replace(container=container), (evolve(finding, rests_on=(needed,)),)


def assumed_entry(storage: StorageKey, env: Env) -> list[Json]:
    """The variables that lead to an entry of a Secret whose content is not known."""
    reference = {"secretKeyRef": {"key": storage.key, "name": storage_secret(env)}}
    variables: list[Json] = [{"name": "STORAGE_CONFIG", "valueFrom": reference}]
    if storage.parameters:
        variables.append({"name": "STORAGE_OVERRIDE_CONFIG", "value": encode(dict(storage.parameters))})
    return variables


def bare_pod(cache: LocalCache, env: Env) -> dict[str, Json]:
    """The pod without containers and volumes.

    It tolerates every taint: nodes of a group are often set aside for GPU work, and services that run there need the
    copy. It runs as the cache's ServiceAccount, so that an identity of the cloud counts as well, and talks to no API.
    """
    security: dict[str, Json] = {"seccompProfile": {"type": "RuntimeDefault"}}
    if env.platform.local_model.fs_group is not None:
        security["fsGroup"] = env.platform.local_model.fs_group
    pod: dict[str, Json] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": security,
        "tolerations": [{"operator": "Exists"}],
    }
    if cache.spec.service_account_name:
        pod["serviceAccountName"] = cache.spec.service_account_name
    return pod


def idle_container() -> Json:
    """The container that keeps the pod running once the model is there."""
    security = {**CONFINED, "readOnlyRootFilesystem": True, "runAsUser": IDLE_USER}
    return {"name": IDLE_CONTAINER, "image": IDLE_IMAGE, "resources": IDLE_RESOURCES, "securityContext": security}


def claimed(name: str) -> Json:
    """The volume of the pod."""
    return {"name": VOLUME, "persistentVolumeClaim": {"claimName": name}}
