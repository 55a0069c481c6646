"""ScaledObjects of LLM workloads: what is the same whoever decides.

KServe: pkg/controller/v1alpha2/llmisvc/scaling.go, expectedScaledObject and expectedDirectScaledObject
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.kinds import require_kind
from kservec.core.llm.scaling import LEAST, scaler_name, scaler_object, scaling_of, target_of

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env, PartWorkload
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

API_VERSION, KIND = "keda.sh/v1alpha1", "ScaledObject"
COPIED: Final = (
    "pollingInterval", "cooldownPeriod", "initialCooldownPeriod", "idleReplicaCount", "fallback", "advanced",
)  # fmt: skip
BOUNDS: Final = (("minReplicaCount", "minReplicas"), ("maxReplicaCount", "maxReplicas"))


def scaled_object_name(unit: Unit, part: Part) -> str:
    """The name of the ScaledObject of a part."""
    return scaler_name(unit, part, "keda")


def scaled_object(  # noqa: PLR0913, PLR0917 - each is a value of its own
    unit: Unit, part: Part, workload: PartWorkload, env: Env, field: Path, own: tuple[Json, Json]
) -> Manifest:
    """The ScaledObject of a part; `field` is where its settings stand, `own` its metadata and its triggers.

    Raises:
        Reject: the cluster has no such kind.
    """
    scaling, at = scaling_of(unit, part), (*part.path, "scaling")
    assert unit.resolved is not None
    require_kind(unit, env, (API_VERSION, KIND), unit.resolved.span((*at, *field)))
    metadata, triggers = own
    settings = scaling
    for step in field:
        settings = settings[step]
    copied = {name: settings[name] for name in COPIED if settings.get(name) is not None}
    spec = {
        "scaleTargetRef": target_of(part, workload),
        "minReplicaCount": scaling.get("minReplicas", LEAST),
        "maxReplicaCount": scaling["maxReplicas"],
        **copied,
        "triggers": triggers,
    }
    places: dict[Path, Path] = {(name,): (*at, source) for name, source in BOUNDS}
    places |= {(name,): (*at, *field, name) for name in copied}
    if triggers is settings.get("triggers"):
        places["triggers",] = (*at, *field, "triggers")
    ref = ObjectRef(API_VERSION, KIND, unit.namespace, scaled_object_name(unit, part))
    return scaler_object(unit, ref, metadata, spec, places)
