"""Copies: how many pods a workload has at least and at most, as far as its objects say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.digits import natural

if TYPE_CHECKING:
    from kservec.core.bundle import Bundle
    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.tree import Json

SCALERS = {
    "HorizontalPodAutoscaler": ("minReplicas", "maxReplicas", 1),
    "ScaledObject": ("minReplicaCount", "maxReplicaCount", 0),
}
"""Kinds of autoscalers: where each says how few and how many there may be, and the least number if it does not."""
SCALED = "scaleTargetRef"
DEFAULT_TARGET = "Deployment"
KNATIVE_SCALE = "autoscaling.knative.dev/"
MIN_SCALE = (f"{KNATIVE_SCALE}min-scale", f"{KNATIVE_SCALE}minScale")
MAX_SCALE = (f"{KNATIVE_SCALE}max-scale", f"{KNATIVE_SCALE}maxScale")
UNBOUNDED = 1 << 30


class Copies(NamedTuple):
    """How many copies of a workload there are, from and to. Of a group of pods one copy is the whole group."""

    least: int
    most: int


def copies_of(pods: PodSet, bundle: Bundle) -> Copies:
    """How many copies of a workload there may be; without an autoscaler or a number somebody else scales it."""
    if pods.is_knative:
        least, most = bound(pods.annotations, MIN_SCALE), bound(pods.annotations, MAX_SCALE)
        return Copies(least, most or UNBOUNDED)
    ref = pods.made.ref
    for made in bundle.manifests:
        if made.ref.kind in SCALERS and targets(made.body.value["spec"][SCALED], ref.kind, ref.name):
            lower, upper, default = SCALERS[made.ref.kind]
            spec = made.body.value["spec"]
            return Copies(spec.get(lower, default), spec.get(upper, UNBOUNDED))
    replicas = pods.made.body.get("spec", "replicas")
    return Copies(0, UNBOUNDED) if replicas is None else Copies(replicas, replicas)


def targets(reference: Json, kind: str, name: str) -> bool:
    """Whether an autoscaler's reference names a workload."""
    return bool(reference["name"] == name and reference.get("kind", DEFAULT_TARGET) == kind)


def bound(annotations: Json, keys: tuple[str, ...]) -> int:
    """The number that one of several annotations has; 0 without one."""
    text = next((annotations[key] for key in keys if key in annotations), "")
    return natural(text) or 0
