"""Scaling of the parts of an LLMInferenceService: what all autoscalers of theirs have in common.

Decides names, labels, bounds and where fields come from. Must not know any autoscaler's own fields.
KServe: pkg/controller/v1alpha2/llmisvc/scaling.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.names import child_name
from kservec.core.llm.part import PartRole
from kservec.core.llm.workload_labels import COMPONENT, base_labels
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from kservec.core.llm.part import Part
    from kservec.core.registry import PartWorkload
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "scaling")
ACCELERATOR: Final = "inference.optimization/acceleratorName"
UNKNOWN_ACCELERATOR: Final = "unknown"
WANTED_REPLICAS: Final = "wva_desired_replicas"
VARIANT: Final = "variant_name"
LEAST: Final = 1


def scaler_name(unit: Unit, part: Part, suffix: str) -> str:
    """The name of the autoscaler of a part."""
    role = "-prefill" if part.role is PartRole.PREFILL else ""
    return child_name(unit.name, f"-kserve{role}-{suffix}")


def scaling_of(unit: Unit, part: Part) -> Json:
    """What the spec says about the scaling of a part."""
    assert unit.resolved is not None
    return unit.resolved.get(*part.path, "scaling")


def scaling_labels(unit: Unit) -> dict[str, str]:
    """The labels of an autoscaler; those of the main workload, also for the prefill one."""
    return base_labels(unit.name, COMPONENT)


def variant_metadata(unit: Unit, part: Part) -> dict[str, Json]:
    """Labels and annotations by which the workload variant autoscaler finds what it decides about."""
    assert unit.resolved is not None
    own = unit.resolved.get(*part.path, "labels") or {}
    model = unit.resolved.get("model") or {}
    annotations = {"llm-d.ai/managed": "true", "llm-d.ai/model-id": model.get("name") or model["uri"]}
    cost = scaling_of(unit, part)["wva"].get("variantCost")
    if cost:
        annotations["llm-d.ai/variant-cost"] = cost
    labels = {**scaling_labels(unit), ACCELERATOR: own.get(ACCELERATOR) or UNKNOWN_ACCELERATOR}
    return {"labels": labels, "annotations": annotations}


def target_of(part: Part, workload: PartWorkload) -> dict[str, str]:
    """The workload that is scaled, as autoscalers name it."""
    return {"apiVersion": workload.api_version, "kind": workload.kind, "name": part.name}


def scaler_object(unit: Unit, ref: ObjectRef, metadata: Json, spec: Json, places: dict[Path, Path]) -> Manifest:
    """An autoscaler. `places` maps fields of its spec to the paths of the resolved spec that they come from."""
    assert unit.resolved is not None
    names = {"name": ref.name, "namespace": ref.namespace}
    body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {**names, **metadata}, "spec": spec}
    own = [(("spec", *field), unit.resolved.sub(*path)) for field, path in places.items()]
    return Manifest(ref, Tree.built(body, ((), MADE), *own))
