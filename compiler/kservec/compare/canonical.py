"""Pod templates in one form for all that an API server takes for the same: what differs here makes new pods.

Decides which differences of a template are none: quantities of one value, defaults that are written or left out, empty
lists, the order of keys. Must not know what runs the pods.
Kubernetes: pkg/apis/core/v1/defaults.go; apimachinery pkg/api/equality/semantic.go (nil and empty are equal)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kservec.core.pods.containers import HOOKS, PROBES
from kservec.core.quantity import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kservec.core.paths import Json

Map: TypeAlias = "dict[str, Json]"

POD: Mapping[str, Json] = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
CONTAINER: Mapping[str, Json] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
PROBE: Mapping[str, Json] = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
HTTP: Mapping[str, Json] = {"path": "/", "scheme": "HTTP"}
MODE = 420
FILES = ("configMap", "downwardAPI", "projected", "secret")
"""Volumes whose files have a mode."""
CONTAINERS = ("containers", "initContainers")

MAPS = frozenset({"annotations", "labels", "limits", "matchLabels", "nodeSelector", "requests", "volumeAttributes"})
"""Maps of the user's own keys, in which an empty text is a value."""
WITHOUT_POINTER = frozenset({"metadata", "resources"})
"""Structures that are there even if nothing is in them."""
POINTERS_TO_TEXT = frozenset({"runtimeClassName", "storageClassName"})
FALSE_IS_NOTHING = frozenset(
    {"hostIPC", "hostNetwork", "hostPID", "readOnly", "setHostnameAsFQDN", "stdin", "stdinOnce", "tty"}
)
ZERO_IS_NOTHING = frozenset(
    {"failureThreshold", "hostPort", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"}
)
QUANTITIES = frozenset({"limits", "overhead", "requests"})
SINGLE_QUANTITIES = frozenset({"divisor", "sizeLimit"})


def canonical_template(template: Json) -> Json:
    """A pod template, with metadata and spec, in its canonical form."""
    if not isinstance(template, dict):
        return template
    plain: Map = without_nothing(template)
    spec = plain.get("spec")
    return {**plain, "spec": canonical_pod(spec)} if isinstance(spec, dict) else plain


def canonical_pod(pod: Map) -> Map:
    """The spec of a pod, without nothings, in its canonical form."""
    filled = {**POD, **pod}
    if account := filled.get("serviceAccountName") or filled.get("serviceAccount"):
        filled |= {"serviceAccountName": account, "serviceAccount": account}
    for field in CONTAINERS:
        filled = with_items(filled, field, canonical_container)
    return with_items(filled, "volumes", canonical_volume)


def with_items(owner: Map, field: str, work: Callable[[Map], Map]) -> Map:
    """A map in which something was done to each map of a list."""
    items = owner.get(field)
    if not isinstance(items, list):
        return owner
    return {**owner, field: [work(item) if isinstance(item, dict) else item for item in items]}


def with_field(owner: Map, field: str, work: Callable[[Map], Map]) -> Map:
    """A map in which something was done to the map of a field, if there is one."""
    below = owner.get(field)
    return {**owner, field: work(below)} if isinstance(below, dict) else owner


def canonical_container(container: Map) -> Map:
    """A container with its defaults."""
    filled = {**CONTAINER, "imagePullPolicy": pull_policy(str(container.get("image", ""))), **container}
    filled = with_items(filled, "ports", lambda port: {"protocol": "TCP", **port})
    filled = with_items(filled, "env", lambda entry: with_field(entry, "valueFrom", canonical_reference))
    for probe in PROBES:
        filled = with_field(filled, probe, lambda fields: canonical_handler({**PROBE, **fields}))
    return with_field(filled, "lifecycle", canonical_hooks)


def canonical_hooks(hooks: Map) -> Map:
    """The hooks of a container with the defaults of their handlers."""
    for hook in HOOKS:
        hooks = with_field(hooks, hook, canonical_handler)
    return hooks


def pull_policy(image: str) -> str:
    """When an image is pulled, if nothing says it: always where its tag is latest or left out."""
    if "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def canonical_handler(handler: Map) -> Map:
    """A probe or a hook with the defaults of its handler."""
    filled = with_field(handler, "httpGet", lambda get: {**HTTP, **get})
    return with_field(filled, "grpc", lambda get: {key: value for key, value in get.items() if value != ""})


def canonical_reference(source: Map) -> Map:
    """Where a variable's value comes from, with the defaults of that."""
    filled = with_field(source, "fieldRef", lambda ref: {"apiVersion": "v1", **ref})
    return with_field(filled, "resourceFieldRef", lambda ref: {"divisor": "0", **ref})


def canonical_volume(volume: Map) -> Map:
    """A volume with its defaults; one that names no source is an emptyDir."""
    filled = volume if len(volume) > 1 else {**volume, "emptyDir": {}}
    for field in FILES:
        filled = with_field(filled, field, lambda files: {"defaultMode": MODE, **with_references(files)})
    return with_field(filled, "projected", lambda all_: with_items(all_, "sources", canonical_projection))


def canonical_projection(source: Map) -> Map:
    """One source of a projected volume with its defaults."""
    filled = with_field(source, "downwardAPI", with_references)
    return with_field(filled, "serviceAccountToken", lambda token: {"expirationSeconds": 3600, **token})


def with_references(files: Map) -> Map:
    """Files of a volume, with the defaults of the fields of the pod that they show."""
    return with_items(files, "items", canonical_reference)


def without_nothing(value: Json, field: str = "") -> Json:
    """A value without what an API server takes for nothing, and with canonical quantities."""
    if isinstance(value, dict):
        kept = {key: without_nothing(below, key if field not in MAPS else "") for key, below in value.items()}
        if field in QUANTITIES:
            return {key: quantity(below) for key, below in kept.items()}
        return kept if field in MAPS else {key: below for key, below in kept.items() if not is_nothing(below, key)}
    if isinstance(value, list):
        return [without_nothing(item) for item in value]
    return quantity(value) if field in SINGLE_QUANTITIES else value


def is_nothing(value: Json, field: str) -> bool:
    """Whether a field with this value is the same as no field."""
    if value is None or value == []:
        return True
    if value == {}:
        return field in MAPS or field in WITHOUT_POINTER
    if value == "":
        return field not in POINTERS_TO_TEXT
    return (value is False and field in FALSE_IS_NOTHING) or (value == 0 and field in ZERO_IS_NOTHING)


def quantity(value: Json) -> Json:
    """A quantity in its canonical form; what is none stays as it is."""
    try:
        return canonical(value)
    except ValueError:
        return value
