"""The Go types of an LLMInferenceService's spec, down to where types of Kubernetes begin.

Decides what Go calls a field, and whether an empty value of it is written. Templates see fields by these names, and
merging drops what Go would not write. Must not know what fields mean.
KServe: pkg/apis/serving/v1alpha2/llm_inference_service_types.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.pods.strategic import omit_empty

if TYPE_CHECKING:
    from kservec.core.tree import Json

SPEC: Final = "LLMInferenceServiceSpec"
POD: Final = "PodSpec"

_WORKLOAD: Final = {
    "replicas": "*int32", "scaling": "*ScalingSpec", "parallelism": "*ParallelismSpec", "labels": "map",
    "annotations": "map", "template": "*PodSpec", "worker": "*PodSpec", "kvCacheOffloading": "*KVCacheOffloadingSpec",
    "rolloutStrategy": "*RolloutStrategy",
}  # fmt: skip
_KEDA: Final = {
    "pollingInterval": "*int32", "cooldownPeriod": "*int32", "initialCooldownPeriod": "*int32",
    "idleReplicaCount": "*int32", "fallback": "*Fallback", "advanced": "*AdvancedConfig",
}  # fmt: skip
_MODEL: Final = {"uri": "URL", "name": "*string", "lora": "*LoRASpec", "confidential": "*ConfidentialSpec"}

TYPES: Final[Mapping[str, Mapping[str, str]]] = {
    SPEC: {
        "model": "LLMModelSpec", "storageInitializer": "*StorageInitializerSpec", **_WORKLOAD, "router": "*RouterSpec",
        "prefill": "*WorkloadSpec", "tracing": "*TracingSpec", "baseRefs": "[]LocalObjectReference",
    },
    "WorkloadSpec": _WORKLOAD,
    "LLMModelSpec": _MODEL,
    "LoRASpec": {
        "adapters": "[]LLMModelSpec", "maxRank": "*int32", "maxAdapters": "*int32", "maxCpuAdapters": "*int32",
    },
    "ConfidentialSpec": {"enabled": "bool!", "resourceId": "*string"},
    "StorageInitializerSpec": {"enabled": "*bool"},
    "ScalingSpec": {
        "minReplicas": "*int32", "maxReplicas": "int32!", "wva": "*WVASpec", "keda": "*DirectKEDAScalingSpec",
    },
    "WVASpec": {"variantCost": "string", "hpa": "*HPAScalingSpec", "keda": "*KEDAScalingSpec"},
    "HPAScalingSpec": {"behavior": "*HorizontalPodAutoscalerBehavior"},
    "KEDAScalingSpec": _KEDA,
    "DirectKEDAScalingSpec": {**_KEDA, "triggers": "[]ScaleTriggers!"},
    # Go does not write a false of `expert`. Here one that is written wins over the true of a config.
    "ParallelismSpec": {
        "tensor": "*int32", "pipeline": "*int32", "data": "*int32", "dataLocal": "*int32", "dataRPCPort": "*int32",
        "expert": "bool!",
    },
    "KVCacheOffloadingSpec": {"cpu": "Quantity!", "evictionPolicy": "string", "secondary": "[]SecondaryTierSpec"},
    "SecondaryTierSpec": {"fileSystem": "*FileSystemTierSpec"},
    "FileSystemTierSpec": {"emptyDir": "*EmptyDirTierSpec", "pvc": "*PVCTierSpec"},
    "EmptyDirTierSpec": {"size": "Quantity!"},
    "PVCTierSpec": {"spec": "*PersistentVolumeClaimSpec", "ref": "*PVCRefTierSpec"},
    "PVCRefTierSpec": {"name": "string!", "path": "string"},
    "RolloutStrategy": {"maxUnavailable": "*IntOrString", "maxSurge": "*IntOrString"},
    "RouterSpec": {
        "route": "*GatewayRoutesSpec", "gateway": "*GatewaySpec", "ingress": "*IngressSpec",
        "scheduler": "*SchedulerSpec",
    },
    "GatewayRoutesSpec": {"http": "*HTTPRouteSpec", "group": "*string", "weight": "*int32"},
    "HTTPRouteSpec": {"refs": "[]LocalObjectReference", "spec": "*GatewayHTTPRouteSpec"},
    "GatewaySpec": {"refs": "[]GatewayObjectReference"},
    "IngressSpec": {"refs": "[]UntypedObjectReference"},
    "GatewayObjectReference": {"name": "string", "namespace": "string", "sectionName": "*string"},
    "UntypedObjectReference": {"name": "string", "namespace": "string"},
    "LocalObjectReference": {"name": "string"},
    "SchedulerSpec": {
        "pool": "*InferencePoolSpec", "labels": "map", "annotations": "map", "template": "*PodSpec",
        "config": "*SchedulerConfigSpec", "replicas": "*int32", "tokenizer": "*TokenizerSpec",
    },
    "TokenizerSpec": {"template": "*PodSpec"},
    "SchedulerConfigSpec": {"inline": "*RawExtension", "ref": "*ConfigMapKeySelector"},
    "ConfigMapKeySelector": {"name": "string", "key": "string!", "optional": "*bool"},
    "InferencePoolSpec": {"spec": "*PoolSpec", "ref": "*LocalObjectReference"},
    "TracingSpec": {
        "exporterEndpoint": "*string", "sampler": "*string", "samplerArg": "*string", "exporter": "*string",
    },
}  # fmt: skip
"""Type -> JSON field -> type: `*` a pointer, `[]` a slice, `map` of texts, `!` at the end: written even when empty."""

_NAMES: Final = {
    "uri": "URI", "lora": "LoRA", "wva": "WVA", "hpa": "HPA", "keda": "KEDA", "cpu": "CPU", "pvc": "PVC",
    "http": "HTTP", "dataRPCPort": "DataRPCPort", "kvCacheOffloading": "KVCacheOffloading", "dnsConfig": "DNSConfig",
    "dnsPolicy": "DNSPolicy", "os": "OS", "tty": "TTY",
}  # fmt: skip


class Type(NamedTuple):
    """A field's type: its bare name, and what is around it."""

    name: str
    is_pointer: bool
    is_list: bool
    is_always_written: bool


def type_of(written: str) -> Type:
    """What a type in the table says."""
    name = written.removesuffix("!")
    bare = name.removeprefix("*").removeprefix("[]")
    return Type(bare, name.startswith("*"), name.startswith("[]"), written.endswith("!"))


FIELDS: Final[Mapping[str, Mapping[str, Type]]] = {
    owner: {name: type_of(kind) for name, kind in fields.items()} for owner, fields in TYPES.items()
}


def go_name(field: str) -> str:
    """What Go calls the field of a JSON name."""
    return _NAMES.get(field) or field[:1].upper() + field[1:]


def written(value: Json, owner: str = SPEC) -> Json:
    """What Go writes of a value of a type: without nulls, and without empty values where fields say `omitempty`."""
    fields = FIELDS.get(owner)
    if fields is None or value.__class__ is not dict:
        return _written_elsewhere(value, owner)
    kept = {}
    for name, item in value.items():
        kind = fields.get(name)
        if item is None or kind is None:
            continue
        if kind.is_list:
            new = [written(entry, kind.name) for entry in item] if isinstance(item, list) else item
        else:
            new = written(item, kind.name)
        if new or kind.is_pointer or kind.is_always_written or (isinstance(new, dict) and kind.name != "map"):
            kept[name] = new
    return kept


def _written_elsewhere(value: Json, owner: str) -> Json:
    """The same for types that are not in the table. The fields of those of the Gateway API are nearly all pointers."""
    if owner in (POD, "PersistentVolumeClaimSpec"):
        return omit_empty(value)
    if owner in ("GatewayHTTPRouteSpec", "PoolSpec", "HorizontalPodAutoscalerBehavior"):
        return _without_empty_lists(value)
    if owner in ("ScaleTriggers", "Fallback", "AdvancedConfig"):
        return omit_empty(value, "triggers")
    return value


def _without_empty_lists(value: Json) -> Json:
    if isinstance(value, dict):
        inner = {name: _without_empty_lists(item) for name, item in value.items()}
        return {name: item for name, item in inner.items() if item is not None and item != []}
    return [_without_empty_lists(item) for item in value] if isinstance(value, list) else value
