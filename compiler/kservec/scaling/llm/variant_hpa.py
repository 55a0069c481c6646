"""Scaling of LLM workloads by a HorizontalPodAutoscaler on what the workload variant autoscaler wants.

KServe: pkg/controller/v1alpha2/llmisvc/scaling.go, expectedHPA
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.scaling import (
    LEAST,
    VARIANT,
    WANTED_REPLICAS,
    scaler_name,
    scaler_object,
    scaling_of,
    target_of,
    variant_metadata,
)
from kservec.core.registry import PartScaler

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env, PartWorkload
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

API_VERSION, KIND = "autoscaling/v2", "HorizontalPodAutoscaler"
FIELD = ("wva", "hpa")


def render(unit: Unit, part: Part, workload: PartWorkload, env: Env) -> Manifest:
    """The autoscaler of a part. It carries out decisions, for its metric is the number of replicas that is wanted."""
    del env
    scaling, name = scaling_of(unit, part), scaler_name(unit, part, "hpa")
    spec: dict[str, Json] = {
        "scaleTargetRef": target_of(part, workload),
        "minReplicas": scaling.get("minReplicas", LEAST),
        "maxReplicas": scaling["maxReplicas"],
        "metrics": [wanted_replicas(name)],
    }
    at: Path = (*part.path, "scaling")
    places: dict[Path, Path] = {(field,): (*at, field) for field in ("minReplicas", "maxReplicas")}
    behavior = scaling["wva"]["hpa"].get("behavior")
    if behavior:
        spec["behavior"] = behavior
        places["behavior",] = (*at, *FIELD, "behavior")
    ref = ObjectRef(API_VERSION, KIND, unit.namespace, name)
    return scaler_object(unit, ref, variant_metadata(unit, part), spec, places)


def wanted_replicas(name: str) -> Json:
    """The metric: it comes from outside of the pods, and is told apart by the name of the autoscaler."""
    metric = {"name": WANTED_REPLICAS, "selector": {"matchLabels": {VARIANT: name}}}
    return {"type": "External", "external": {"metric": metric, "target": {"type": "Value", "value": "1"}}}


SCALER = PartScaler(name="variant hpa", field=FIELD, render=render)
