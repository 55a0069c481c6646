"""Downloads in the pods of an LLMInferenceService: one storage initializer for the model and the adapters.

Decides what the container is made of and in which order: KServe's controller builds it, not its pod webhook, so that a
container of the user's with that name counts as wishes about it. Must not know any storage scheme by name.
KServe: pkg/controller/v1alpha2/llmisvc/workload_storage.go, attachStorageInitializer and attachMultiStorageDownloads
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.models.ca_bundle import bundle_for
from kservec.core.models.credentials import Equipped, Holder, equip_as
from kservec.core.models.storage_initializer import bare_initializer
from kservec.core.models.storage_scheme import Attached, SchemeTrait
from kservec.core.names import MODEL_PATH, STORAGE_INITIALIZER
from kservec.core.pods.containers import find, with_variable
from kservec.core.pods.mounts import add_mounts, add_volume, common_parent, mount
from kservec.core.pods.strategic import patch_container
from kservec.core.tree import Layers, Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.cluster import ServiceAccount
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Origin, Source
    from kservec.core.unit import Unit

VOLUME: Final = "kserve-provision-location"
PATTERNS_VARIABLE: Final = "STORAGE_ALLOW_PATTERNS"
AT: Final = ("initContainers", STORAGE_INITIALIZER)


class Pair(NamedTuple):
    """What to download and whereto; `origin` is the place that asks for it."""

    uri: str
    path: str
    origin: Origin


class Receiver(NamedTuple):
    """Who gets a model: a container of a pod, at a path. `account` is the one whose credentials count.

    `patterns` are the files that it needs of the model, as JSON; empty for all.
    """

    unit: Unit
    env: Env
    container: str
    path: str
    account: ServiceAccount
    origin: Origin
    patterns: str = ""

    def is_in(self, pod: Tree) -> bool:
        """Whether the pod has the container."""
        return find(pod.get("containers") or (), self.container) is not None


def with_downloads(pod: Tree, pairs: Sequence[Pair], receiver: Receiver) -> Attached:
    """A pod that downloads into a volume, and mounts the volume in the container that reads it.

    Raises:
        Reject: the path is taken, or a Secret that the credentials need is not declared.
    """
    unit, origin = receiver.unit, receiver.origin
    own = pod.get(*AT)
    theirs = pod.sub(*AT)
    folder = shared_folder(pod, pairs, receiver)
    made, volumes, found = initializer(pod, pairs, receiver, folder)
    source: Source = origin if own is None else Layers(((own, theirs), (made, origin)))
    pod = pod.without(AT, origin).append(AT[:1], made, source)
    if receiver.is_in(pod):
        path = receiver.path if is_model_alone(pairs) else folder
        pod = add_mounts(pod, (receiver.container,), mount(VOLUME, path, read_only=True), origin, unit.ref)
    for volume in ({"name": VOLUME, "emptyDir": {}}, *volumes):
        pod = add_volume(pod, volume, origin)
    return Attached(pod, found)


def is_model_alone(pairs: Sequence[Pair]) -> bool:
    """Whether nothing but the model is downloaded."""
    return len(pairs) == 1 and pairs[0].path == MODEL_PATH


def shared_folder(pod: Tree, pairs: Sequence[Pair], receiver: Receiver) -> str:
    """Where the download container mounts the volume: the folder of everything that is downloaded.

    A server that has the volume further up, for the image of its model shares it, would look for adapters elsewhere
    than KServe has them downloaded; so the download container has it further up too.
    """
    folder = common_parent([pair.path for pair in pairs])
    server = find(pod.get("containers") or (), receiver.container) or {}
    seen = next((m["mountPath"] for m in server.get("volumeMounts") or () if m["name"] == VOLUME), folder)
    return seen if folder.startswith(f"{seen}/") else folder


def initializer(pod: Tree, pairs: Sequence[Pair], receiver: Receiver, folder: str) -> Equipped:
    """The download container, and the volumes that the pod needs for it besides the model's.

    Raises:
        Reject: a Secret, or a setting in one, that the credentials need is not declared.
    """
    env, unit = receiver.env, receiver.unit
    container = with_wishes(configured(pairs, receiver), pod.get(*AT))
    mounts = container.get("volumeMounts") or []
    if not any(entry["name"] == VOLUME for entry in mounts):
        container["volumeMounts"] = [*mounts, mount(VOLUME, folder)]
    annotations = Tree.of(unit.annotations, unit.source.origin("metadata", "annotations"))
    holder = Holder(unit.ref, pod, annotations, receiver.origin)
    container, volumes, found = equip_as(container, receiver.account, holder, env)
    container = with_missing_variables(container, preset_variables(pairs, receiver))
    bundle = bundle_for(container, unit.namespace, env.platform) if takes_bundle(pairs, env) else None
    if bundle is not None:
        container, volumes = bundle.mounted(container), (*volumes, bundle.volume)
    return Equipped(container, volumes, found)


def configured(pairs: Sequence[Pair], receiver: Receiver) -> Json:
    """The container as the platform configures it, told what to download; alone, a model may be confidential."""
    arguments = tuple(text for pair in pairs for text in (pair.uri, pair.path))
    container = bare_initializer(arguments, receiver.env.platform)
    assert receiver.unit.resolved is not None
    confidential = receiver.unit.resolved.get("model", "confidential") or {}
    if confidential.get("enabled") and is_model_alone(pairs):
        container = with_variable(container, "CONFIDENTIAL_ENABLED", "true")
        if confidential.get("resourceId"):
            container = with_variable(container, "CONFIDENTIAL_RESOURCE_ID", confidential["resourceId"])
    return container


def with_wishes(container: Json, own: Json | None) -> dict[str, Json]:
    """The container with the user's over it, who has no say in what it is called and what it runs."""
    merged: dict[str, Json] = {**container} if own is None else patch_container(container, own)
    kept = {name: merged[name] for name in merged if name != "command"}
    return {**kept, "name": container["name"], "args": container["args"]}


def preset_variables(pairs: Sequence[Pair], receiver: Receiver) -> list[Json]:
    """The variables that schemes want in every download, and the files that are needed."""
    schemes = [receiver.env.plugs.scheme(pair.uri) for pair in pairs]
    wanted = dict(entry for scheme in schemes if scheme is not None for entry in scheme.download_env)
    if receiver.patterns:
        wanted[PATTERNS_VARIABLE] = receiver.patterns
    return [{"name": name, "value": value} for name, value in wanted.items()]


def with_missing_variables(container: Json, variables: Sequence[Json]) -> dict[str, Json]:
    """The container with those variables that it lacks."""
    env = container.get("env") or []
    taken = {entry["name"] for entry in env}
    added = [entry for entry in variables if entry["name"] not in taken]
    return {**container, "env": [*env, *added]} if added else container


def takes_bundle(pairs: Sequence[Pair], env: Env) -> bool:
    """Whether the container gets the platform's CA bundle: not for a model alone from a hub that everybody trusts."""
    scheme = env.plugs.scheme(pairs[0].uri)
    return not is_model_alone(pairs) or (scheme is not None and SchemeTrait.PRIVATE_AUTHORITY in scheme.traits)
