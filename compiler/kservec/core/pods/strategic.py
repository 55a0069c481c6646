"""Strategic merge: how Kubernetes lays one container or pod over another, as KServe uses it for runtimes and specs.

Decides what wins, what is kept and in which order lists come out. Must not know which container or pod is merged, nor
why, nor where values come from: it takes two plain JSON values and returns a new one that shares their parts.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from kservec.core.tree import KEY_FIELDS, Json

if TYPE_CHECKING:
    from collections.abc import Iterable

_position = itemgetter(0)

RUNTIME_POD_FIELDS: Final = (
    "nodeSelector", "affinity", "tolerations", "volumes", "imagePullSecrets", "schedulerName", "resourceClaims",
)  # fmt: skip
"""The fields of a runtime's pod that KServe takes over; it loses others, such as hostIPC."""

STRING_MAPS: Final = frozenset((
    "annotations", "labels", "limits", "matchLabels", "nodeSelector", "options", "overhead", "requests",
    "volumeAttributes",
))  # fmt: skip
"""Maps with free keys: left out when empty, and what is in them is never empty in Go's sense."""

EXPLICIT: Final = frozenset((
    # Pointers in Go's core/v1 types: nil and an explicit zero differ.
    "activeDeadlineSeconds", "allowPrivilegeEscalation", "automountServiceAccountToken", "defaultMode",
    "enableServiceLinks", "expirationSeconds", "fsGroup", "hostProcess", "hostUsers", "hostnameOverride", "lun",
    "maxExpirationSeconds", "minDomains", "mode", "optional", "preemptionPolicy", "priority", "privileged",
    "readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot", "runAsUser", "runtimeClassName", "service",
    "setHostnameAsFQDN", "shareProcessNamespace", "storageClassName", "terminationGracePeriodSeconds",
    "tolerationSeconds",
    # No omitempty: written even when zero.
    "containerPort", "containers", "devicePath", "fieldPath", "maxSkew", "monitors", "mountPath", "nodeSelectorTerms",
    "port", "resource", "seconds", "sources", "topologyKey", "weight", "whenUnsatisfiable",
))  # fmt: skip
"""Fields whose explicit false, 0, "" or [] says something, wherever they occur."""

_UNDER: Final = {
    "appArmorProfile": "type",
    "awsElasticBlockStore": "volumeID",
    "azureDisk": "diskName diskURI readOnly",
    "azureFile": "secretName shareName",
    "cinder": "volumeID",
    "claims": "name",
    "clusterTrustBundle": "path",
    "configMapKeyRef": "key",
    "containers": "name",
    "csi": "driver fsType readOnly",
    "dataSource": "kind name",
    "dataSourceRef": "kind name",
    "env": "name",
    "ephemeralContainers": "name",
    "exitCodes": "operator",
    "fileKeyRef": "key path volumeName",
    "flexVolume": "driver",
    "gcePersistentDisk": "pdName",
    "gitRepo": "repository",
    "glusterfs": "endpoints path",
    "hostAliases": "ip",
    "hostPath": "path type",
    "httpHeaders": "name value",
    "initContainers": "name",
    "iscsi": "iqn targetPortal",
    "items": "key path",
    "matchExpressions": "key operator",
    "matchFields": "key operator",
    "nfs": "path server",
    "os": "name",
    "ownerReferences": "apiVersion kind name uid",
    "persistentVolumeClaim": "claimName",
    "photonPersistentDisk": "pdID",
    "podCertificate": "keyType signerName",
    "portworxVolume": "volumeID",
    "quobyte": "registry volume",
    "rbd": "image",
    "readinessGates": "conditionType",
    "resizePolicy": "resourceName restartPolicy",
    "resourceClaims": "name",
    "scaleIO": "gateway system",
    "schedulingGates": "name",
    "seccompProfile": "type",
    "secretKeyRef": "key",
    "serviceAccountToken": "path",
    "sysctls": "name value",
    "volumeDevices": "name",
    "volumeMounts": "name",
    "volumes": "name",
    "vsphereVolume": "volumePath",
    "workloadRef": "name podGroup",
}
EXPLICIT_UNDER: Final = frozenset((holder, name) for holder, names in _UNDER.items() for name in names.split())
"""The same for fields that are plain elsewhere, named with the field that holds their struct."""


def merge(original: Json, patch: Json) -> Json:
    """Lay `patch` over `original`, both maps.

    Maps merge key by key. Lists whose items have a merge key (`KEY_FIELDS`) merge item by item; all other lists and
    scalars are replaced. A null in the patch removes, and no null survives. Directives (`$patch`) have no meaning:
    what KServe merges are typed values.

    Source: k8s.io/apimachinery pkg/util/strategicpatch/patch.go, mergeMap, with IgnoreUnmatchedNulls.
    """
    merged = original.copy()
    for name, value in patch.items():
        kind = value.__class__
        old = original.get(name)
        if value is None:
            merged.pop(name, None)
        elif kind is dict and old.__class__ is dict:
            merged[name] = merge(old, value)
        elif kind is list and old.__class__ is list and name in KEY_FIELDS:
            merged[name] = _merge_items(old, value, _merge_key(name, old))
        else:
            merged[name] = _without_nulls(value) if kind is dict or kind is list else value
    return merged


def patch_container(base: Json, overlay: Json) -> Json:
    """Lay one container over another; `args` and `command` of the overlay replace those of the base.

    Both are without empty fields. An empty name is restored, and of an environment variable that came to have both a
    value and a source the one that the overlay set stays.

    Source: KServe pkg/utils/container_merge.go, MergeContainerWithPatch.
    """
    merged: dict[str, Json] = merge(base, overlay)
    if not merged.get("name") and "name" in base:
        merged["name"] = base["name"]
    if "env" in overlay:
        merged["env"] = _with_one_source(merged["env"], overlay["env"])
    return merged


def merge_container(runtime: Json, override: Json) -> Json:
    """Lay a container of a spec over the container of a runtime; `args` are those of the runtime, then the spec's.

    Both are without empty fields.

    Source: KServe .../inferenceservice/utils/utils.go, MergeRuntimeContainers.
    """
    merged: dict[str, Json] = patch_container(runtime, override)
    args = concat_args(runtime.get("args"), override.get("args"))
    if args:
        merged["args"] = args
    return merged


def concat_args(*parts: list[Json] | None) -> list[Json]:
    """All arguments one after the other. Repeated flags stay: which of them wins is the program's business."""
    return [arg for part in parts if part for arg in part]


def merge_pod_spec(runtime_pod: Json, override: Json) -> Json:
    """Lay a component's pod spec over that of a runtime, of which only `RUNTIME_POD_FIELDS` count.

    Containers and init containers are the component's alone. Both pods are without empty fields.

    Source: KServe .../inferenceservice/utils/utils.go, MergePodSpec.
    """
    return merge(pod_settings(runtime_pod), override)


def pod_settings(runtime_pod: Json) -> Json:
    """The fields of a runtime's pod that KServe takes over."""
    return {name: runtime_pod[name] for name in RUNTIME_POD_FIELDS if name in runtime_pod}


def omit_empty(value: Json, field_name: str = "") -> Json:
    """What is left of a pod spec, container or part of one after a round trip through Go's types.

    False, 0, "" and [] go, and {} where the field is a map, unless the field is a pointer in Go or always written
    (`EXPLICIT`, `EXPLICIT_UNDER`). Structs stay, even when empty: `emptyDir: {}`. Null goes always.

    Args:
        value: a map, or anything inside one.
        field_name: the field that holds `value`.

    Returns:
        The value itself where nothing of it goes; it is not copied.

    Source: k8s.io/api core/v1/types.go, the `omitempty` tags.
    """
    kind = value.__class__
    if kind is dict:
        return _struct_without_empty(value, field_name)
    if kind is not list or not value or value[0].__class__ is str:
        return value
    changed: dict[int, Json] = {}
    for i, item in enumerate(value):
        full = _struct_without_empty(item, field_name) if item.__class__ is dict else omit_empty(item, field_name)
        if full is not item:
            changed[i] = full
    return [changed.get(i, item) for i, item in enumerate(value)] if changed else value


def _struct_without_empty(value: dict[str, Json], field_name: str) -> dict[str, Json]:
    if field_name in STRING_MAPS:
        return value
    gone: list[str] = []
    changed: dict[str, Json] = {}
    for name, item in value.items():
        kind = item.__class__
        if kind is dict:
            if not item and name in STRING_MAPS:
                gone.append(name)
            elif (full := _struct_without_empty(item, name)) is not item:
                changed[name] = full
        elif item:
            if kind is list and item[0].__class__ is not str and (full := omit_empty(item, name)) is not item:
                changed[name] = full
        elif item is None or not (name in EXPLICIT or (field_name, name) in EXPLICIT_UNDER):
            gone.append(name)
    if gone:
        return {name: changed.get(name, item) for name, item in value.items() if name not in gone}
    return {**value, **changed} if changed else value


def _merge_key(field_name: str, items: list[Json]) -> str:
    if field_name == "ports" and items and "containerPort" not in items[0]:
        return "port"
    return KEY_FIELDS[field_name]


def _merge_items(original: list[Json], patch: list[Json], key: str) -> list[Json]:
    """Merge lists of maps by merge key. An item of the patch goes to the first item with its key, or is new."""
    if not patch:
        return original
    items = original.copy()
    known = {item.get(key): i for i, item in reversed(list(enumerate(original)))}
    first = known.copy()
    patched: dict[Json, int] = {}
    for item in patch:
        name = item.get(key)
        patched.setdefault(name, len(patched))
        i = first.setdefault(name, len(items))
        if i < len(items):
            items[i] = merge(items[i], item)
        else:
            items.append(_without_nulls(item))
    return _in_order(items, known, patched, key)


def _in_order(items: list[Json], known: dict[Json, int], patched: dict[Json, int], key: str) -> list[Json]:
    """Order merged items as Kubernetes does.

    Two queues: items that the patch names, in the patch's order, and all others, in the original's order. The head of
    the others goes first only if both heads were in the original (`known`: merge key to position) and it came earlier
    there; so new items at the head of the patch come before everything.

    Source: k8s.io/apimachinery pkg/util/strategicpatch/patch.go, normalizeElementOrder and mergeSortedSlice.
    """
    named, others = [], []
    for item in items:
        name = item.get(key)
        if name in patched:
            named.append((patched[name], name, item))
        else:
            others.append((known[name], item))
    named.sort(key=_position)
    others.sort(key=_position)
    ordered: list[Json] = []
    i = 0
    for _, name, item in named:
        at = known.get(name, -1)
        while i < len(others) and others[i][0] < at:
            ordered.append(others[i][1])
            i += 1
        ordered.append(item)
    ordered.extend(item for _, item in others[i:])
    return ordered


def _with_one_source(env: list[Json], overlay: list[Json]) -> list[Json]:
    """Take from variables with a value and a `valueFrom` the one that the overlay did not set."""
    if not [entry for entry in env if "valueFrom" in entry and "value" in entry]:
        return env
    loser = {
        entry.get("name"): "value" if "valueFrom" in entry else "valueFrom" if "value" in entry else None
        for entry in overlay
    }
    return [_without(entry, loser.get(entry.get("name"))) for entry in env]


def _without(entry: dict[str, Json], name: str | None) -> dict[str, Json]:
    both = "valueFrom" in entry and "value" in entry
    return {k: v for k, v in entry.items() if k != name} if both else entry


def _without_nulls(value: Json) -> Json:
    """A map or list without the nulls in maps; the value itself if there are none."""
    is_map = value.__class__ is dict
    items: Iterable[tuple[Json, Json]] = value.items() if is_map else enumerate(value)
    changed: dict[Json, Json] = {}
    for step, item in items:
        kind = item.__class__
        if (kind is dict or kind is list) and (full := _without_nulls(item)) is not item:
            changed[step] = full
        elif item is None and is_map:
            changed[step] = None
    if not changed:
        return value
    if is_map:
        return {name: item for name, item in {**value, **changed}.items() if item is not None}
    return [changed.get(i, item) for i, item in enumerate(value)]
