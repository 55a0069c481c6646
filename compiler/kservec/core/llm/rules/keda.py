"""What a workload may ask of KEDA, by itself or under the Workload Variant Autoscaler.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validateDirectKEDA, validateKEDAAdvancedFields
and validateKEDAIdleReplicaCount; the rules of the CRDs speak before it, and two of them read fields that need not be
there: whoever leaves them out is refused as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

TRIGGERS = Code(
    "llm/scaling-triggers",
    Severity.ERROR,
    "KEDA without a trigger",
    "KEDA scales by its triggers: a query to Prometheus, the length of a queue. There must be at least one.",
)
ADVANCED = Code(
    "llm/scaling-advanced",
    Severity.ERROR,
    "settings of KEDA that KServe does not let through",
    "Under wva KServe refuses everything in keda.advanced. KEDA by itself takes restoreToOriginalReplicaCount and "
    "scalingModifiers there; horizontalPodAutoscalerConfig is refused with a name and without one.",
)
IDLE = Code(
    "llm/scaling-idle",
    Severity.ERROR,
    "as many idle replicas as there are at least",
    "idleReplicaCount is how many replicas there are while no trigger is active, so it is less than minReplicas, which "
    "is how many there are at least when one is. KEDA itself takes 0 only.",
)
HPA = "horizontalPodAutoscalerConfig"


def check_direct(subject: Subject, keda: Json, path: Path) -> Iterator[Diagnostic]:
    """KEDA by itself."""
    if not keda.get("triggers"):
        yield subject.finding(TRIGGERS, "KEDA has no triggers", path, "add one to `triggers`")
    if (keda.get("advanced") or {}).get(HPA) is not None:
        message = f"advanced.{HPA} cannot be set: KServe names and describes the HorizontalPodAutoscaler"
        yield subject.finding(ADVANCED, message, (*path, "advanced", HPA), "remove it")


def check_under_wva(subject: Subject, keda: Json, path: Path) -> Iterator[Diagnostic]:
    """KEDA that acts on the numbers of the Workload Variant Autoscaler."""
    if keda.get("advanced") is not None:
        message = "wva.keda.advanced cannot be set: the Workload Variant Autoscaler decides what is measured"
        yield subject.finding(ADVANCED, message, (*path, "advanced"), "remove it, or use scaling.keda instead of wva")


def check_idle(subject: Subject, scaling: Json, keda: Json, path: Path) -> Iterator[Diagnostic]:
    """Replicas while there is nothing to do."""
    idle, least = keda.get("idleReplicaCount"), scaling.get("minReplicas")
    if idle is None:
        return
    if least is None:
        message = "idleReplicaCount needs minReplicas"
        yield subject.finding(IDLE, message, (*path, "idleReplicaCount"), "set minReplicas")
    elif idle >= least:
        message = f"idleReplicaCount is {idle}, not less than minReplicas, {least}"
        yield subject.finding(IDLE, message, (*path, "idleReplicaCount"), "lower it, or raise minReplicas")
