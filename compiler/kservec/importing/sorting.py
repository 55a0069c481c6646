"""What the objects of a dump are: specs, what describes the cluster, what KServe made of specs, or something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.names import GROUP
from kservec.importing.cleaning import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json
    from kservec.core.text.source import Document

SPECS = frozenset(
    {
        "InferenceService", "InferenceGraph", "LLMInferenceService", "TrainedModel", "LocalModelCache",
        "LocalModelNamespaceCache",
    }
)  # fmt: skip
CATALOG = frozenset(
    {
        "ServingRuntime", "ClusterServingRuntime", "ClusterStorageContainer", "LLMInferenceServiceConfig",
        "LocalModelNodeGroup",
    }
)  # fmt: skip
PLATFORM = frozenset({"Gateway"})
NAMED = frozenset({"ConfigMap", "HTTPRoute", "InferencePool", "PersistentVolumeClaim"})
"""Kinds of which a cluster has many, and that matter where a spec or KServe's configuration names them."""
KSERVE_CONFIG = "inferenceservice-config"
KNATIVE_NAMESPACE = "knative-serving"
"""Where Knative's config maps are."""


class Sorted(NamedTuple):
    """The objects of a dump by what they are for.

    `specs` are compiled, `platform` describes the cluster, `made` is what KServe made, by identity. `others` describe
    the cluster where specs name them.
    """

    specs: Mapping[ObjectRef, Document]
    platform: Mapping[ObjectRef, Document]
    others: Mapping[ObjectRef, Document]
    made: Mapping[ObjectRef, Document]


def sort(documents: Iterable[tuple[ObjectRef, Document]], builtin: Iterable[Json]) -> Sorted:
    """Sort the objects of a dump; what the built-in catalog has in the very same form is left out."""
    shipped = [spec_of(value) for value in builtin if value.get("kind") in CATALOG]
    specs: dict[ObjectRef, Document] = {}
    platform: dict[ObjectRef, Document] = {}
    others: dict[ObjectRef, Document] = {}
    made: dict[ObjectRef, Document] = {}
    for ref, document in documents:
        if is_made_by_kserve(document.value):
            made[ref] = document
        elif ref.group == GROUP and ref.kind in SPECS:
            specs[ref] = document
        elif is_platform(ref) and spec_of(document.value) not in shipped:
            platform[ref] = document
        elif ref.kind in NAMED:
            others[ref] = document
    return Sorted(specs, platform, others, made)


def is_platform(ref: ObjectRef) -> bool:
    """Whether an object describes the cluster, and can be written down as it is."""
    if ref.kind == "ConfigMap":
        return ref.name == KSERVE_CONFIG or is_knative_config(ref)
    return ref.kind in PLATFORM or (ref.group == GROUP and ref.kind in CATALOG)


def is_knative_config(ref: ObjectRef) -> bool:
    """Whether an object is one of Knative's config maps."""
    return ref.namespace == KNATIVE_NAMESPACE and ref.name.startswith("config-")


def is_made_by_kserve(value: Json) -> bool:
    """Whether an object belongs to one of KServe's."""
    return bool(owners_of(value))


def owners_of(value: Json) -> frozenset[tuple[str, str]]:
    """Kind and name of those of KServe's objects that an object belongs to; they are in its namespace."""
    owners = mapping(value.get("metadata")).get("ownerReferences")
    named = (owner for owner in owners if isinstance(owner, dict)) if isinstance(owners, list) else ()
    kserve = (owner for owner in named if str(owner.get("apiVersion", "")).startswith(f"{GROUP}/"))
    return frozenset((str(owner.get("kind")), str(owner.get("name"))) for owner in kserve)


def spec_of(value: Json) -> tuple[Json, Json, Json]:
    """What an object of the catalog says: kind, name and spec."""
    return value.get("kind"), mapping(value.get("metadata")).get("name"), value.get("spec")
