"""Labels and annotations of the objects and pods of an LLMInferenceService.

Decides which of the service's own metadata is passed on, and where labels of the spec land. Must not know what pods
are made of.
KServe: pkg/controller/v1alpha2/llmisvc/workload_single_node.go, propagateDeploymentMetadata;
workload_multi_node.go, propagateTopLevelLeaderWorkerSetMetadata
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import (
    COMPONENT_LABEL,
    KSERVE_COMPONENT_LABEL,
    LOCAL_MODEL_LABEL,
    MODEL_ROUTING,
    NAME_LABEL,
    PART_OF,
    PART_OF_LABEL,
    ROLE_LABEL,
    WORKLOAD,
)
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json, Path, Source
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "workload_labels")

COMPONENT: Final = "llminferenceservice-workload"
PREFILL: Final = f"{COMPONENT}-prefill"
WORKER, LEADER = f"{COMPONENT}-worker", f"{COMPONENT}-leader"
PREFILL_WORKER, PREFILL_LEADER = f"{WORKER}-prefill", f"{LEADER}-prefill"

BOTH, DECODE, PREFILLING = "both", "decode", "prefill"
"""What pods of the pool do with a request: the values of the label `llm-d.ai/role`."""

KUEUE: Final = "kueue.x-k8s.io"
APPROVED_LABELS: Final = (KUEUE, LOCAL_MODEL_LABEL)
APPROVED_ANNOTATIONS: Final = ("k8s.v1.cni.cncf.io", KUEUE, "prometheus.io")
"""How keys of the service's metadata begin that its pods get. KServe's own notes about local models are not written."""
LEADER_WORKER_ANNOTATIONS: Final = (*APPROVED_ANNOTATIONS, "leaderworkerset.sigs.k8s.io")


def base_labels(service: str, component: str = "") -> dict[str, str]:
    """The labels that tell whose an object is, and which part of the service, where that is said."""
    named = {NAME_LABEL: service, PART_OF_LABEL: PART_OF}
    return {COMPONENT_LABEL: component, **named} if component else named


def pool_labels(role: str) -> dict[str, str]:
    """The labels of pods that take requests: the workload Service and the pool know them by the first."""
    return {KSERVE_COMPONENT_LABEL: WORKLOAD, ROLE_LABEL: role}


def workload_labels(unit: Unit, base: Json, path: Path) -> Tree:
    """The labels of a workload and its pods: the base ones, the service's approved ones, those of the spec at a path.

    KServe lets the object, its selector and its pods share one map, so labels of the spec change all three.
    """
    return Tree.union(
        (base, MADE),
        (approved(unit.labels, APPROVED_LABELS), unit.source.origin("metadata", "labels")),
        of_spec(unit, (*path, "labels")),
    )


def object_annotations(unit: Unit, prefixes: tuple[str, ...] = APPROVED_ANNOTATIONS) -> Tree:
    """The annotations of a workload: the approved ones of the service."""
    return Tree.of(approved(unit.annotations, prefixes), unit.source.origin("metadata", "annotations"))


def pod_annotations(unit: Unit, path: Path, prefixes: tuple[str, ...] = APPROVED_ANNOTATIONS) -> Tree:
    """The annotations of pods: the approved ones of the service, and those of the spec at a path."""
    own, origin = of_spec(unit, (*path, "annotations"))
    metadata = unit.source.origin("metadata", "annotations")
    return Tree.union((approved(unit.annotations, prefixes), metadata), (without_routing(own), origin))


def of_spec(unit: Unit, path: Path) -> tuple[Mapping[str, Json] | None, Source]:
    """A map of the resolved spec, and where it comes from."""
    assert unit.resolved is not None
    found = unit.resolved.sub(*path)
    return found.value, found


def without_routing(annotations: Mapping[str, Json] | None) -> Mapping[str, Json]:
    """Annotations of a spec without the one that switches routing by the model's name."""
    return {key: value for key, value in (annotations or {}).items() if key != MODEL_ROUTING}


def approved(metadata: Mapping[str, str], prefixes: tuple[str, ...]) -> dict[str, str]:
    """The entries whose keys begin with one of the prefixes."""
    return {key: value for key, value in metadata.items() if key.startswith(prefixes)}
