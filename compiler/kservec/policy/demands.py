"""Demands: what a workload needs of each resource, with its fewest and its most replicas.

Decides how much a pod counts as Kubernetes does: all its containers together, or the largest that runs before them.
Must not know any quota.
Kubernetes: pkg/quota/v1/evaluator/core/pods.go
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.paths import lookup
from kservec.core.pods.templates import SIZE
from kservec.core.quantity import parse_quantity
from kservec.core.records import entity
from kservec.policy.scene import pods_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Json, Path
    from kservec.policy.scene import Pod

Amounts: TypeAlias = "Mapping[str, Fraction]"

REQUESTS, LIMITS = "requests", "limits"
PODS = "pods"


class Replicas(NamedTuple):
    """The fewest and the most replicas of a workload."""

    fewest: int
    most: int


class Need(NamedTuple):
    """What one container says that it needs, where in its object it is, and whether it ends before the others run."""

    path: Path
    name: str
    starts: bool
    resources: Json


class PodNeed(NamedTuple):
    """How many pods of one template a replica of a workload has, and what each of them needs."""

    pods: int
    containers: tuple[Need, ...]
    overhead: Json = None


@entity
class Demand:
    """What one workload needs: the pods of each replica, and how many replicas it has."""

    ref: ObjectRef
    replicas: Replicas
    pods: tuple[PodNeed, ...]


class Scaling(NamedTuple):
    """The bounds that an autoscaler sets for its target, which is a kind and a name in its own namespace."""

    namespace: str
    kind: str
    name: str
    replicas: Replicas


def demand_of(ref: ObjectRef, body: Json) -> Demand | None:
    """What a workload needs; None for objects without pods.

    A replica of a LeaderWorkerSet is a leader, which is a worker unless it has a template of its own, and workers.
    """
    pods = [need_of(pod) for pod in pods_of(ref, body)]
    if not pods:
        return None
    others = max(0, whole(lookup(body, SIZE), 1) - 1)
    needs = (pods[0], pods[-1]._replace(pods=others)) if others else (pods[0],)
    return Demand(ref=ref, replicas=own_replicas(ref, body.get("spec") or {}), pods=needs)


def need_of(pod: Pod) -> PodNeed:
    """What a pod needs."""
    containers = tuple(Need(c.path, c.name, c.starts, c.body.get("resources") or {}) for c in pod.containers)
    return PodNeed(1, containers, pod.spec.get("overhead"))


def own_replicas(ref: ObjectRef, spec: Json) -> Replicas:
    """The replicas that a workload sets itself. Knative's are in the annotations of its template."""
    if ref.kind == "Service":
        notes = lookup(spec, ("template", "metadata", "annotations")) or {}
        fewest = whole(notes.get("autoscaling.knative.dev/min-scale"), 0)
        return Replicas(fewest, max(fewest, whole(notes.get("autoscaling.knative.dev/max-scale"), 0), 1))
    if ref.kind in ("DaemonSet", "Job", "CronJob", "Pod"):
        return Replicas(1, 1)
    number = whole(spec.get("replicas"), 1)
    return Replicas(number, number)


def scaling_of(ref: ObjectRef, body: Json) -> Scaling | None:
    """The bounds that an autoscaler sets; None for other objects."""
    spec, target = mapped(body.get("spec")), mapped(lookup(body, ("spec", "scaleTargetRef")))
    if ref.kind == "HorizontalPodAutoscaler":
        replicas = Replicas(whole(spec.get("minReplicas"), 1), whole(spec.get("maxReplicas"), 1))
    elif ref.kind == "ScaledObject":
        replicas = Replicas(whole(spec.get("minReplicaCount"), 0), whole(spec.get("maxReplicaCount"), 100))
    else:
        return None
    return Scaling(ref.namespace, str(target.get("kind", "Deployment")), str(target.get("name", "")), replicas)


def mapped(value: Json) -> Json:
    """A map as it is; an empty one for anything else, which kinds without a schema may hold."""
    return value if isinstance(value, dict) else {}


def whole(value: Json, default: int) -> int:
    """A whole number, be it written as text; the default for anything else."""
    try:
        return default if value is None else int(value)
    except (OverflowError, TypeError, ValueError):
        return default


def replica_amounts(demand: Demand, defaults: Defaults) -> dict[str, Fraction]:
    """What one replica of a workload counts for."""
    pods = [amounts_of(pod, defaults) for pod in demand.pods for _ in range(pod.pods)]
    return added(pods)


def amounts_of(pod: PodNeed, defaults: Defaults) -> dict[str, Fraction]:
    """What a pod counts for: its containers together, or at its start what runs then, if that is more.

    Of the containers that run first one after the other runs, each beside the sidecars that were started before it.
    Kubernetes: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests
    """
    running: dict[str, Fraction] = {}
    peak: dict[str, Fraction] = {}
    for container in pod.containers:
        amounts = container_amounts(container.resources, defaults)
        if container.starts:
            peak = larger(peak, added((running, amounts)))
        else:
            running = added((running, amounts))
    total = larger(running, peak)
    for name, amount in (pod.overhead or {}).items():
        total[f"{REQUESTS}.{name}"] = total.get(f"{REQUESTS}.{name}", Fraction(0)) + parse_quantity(amount)
    return {**total, PODS: Fraction(1)}


def larger(left: Amounts, right: Amounts) -> dict[str, Fraction]:
    """Of each resource the larger of two amounts."""
    return {
        **left,
        **{name: max(amount, left.get(name, Fraction(0))) for name, amount in right.items()},
    }


class Defaults(NamedTuple):
    """What a LimitRange gives containers that say nothing."""

    requests: Json
    limits: Json


def container_amounts(resources: Json, defaults: Defaults) -> dict[str, Fraction]:
    """What a container asks for; a limit of its own is a request where none is given."""
    own = resources.get(LIMITS) or {}
    limits = {**defaults.limits, **own}
    asked = {**defaults.limits, **defaults.requests, **own, **(resources.get(REQUESTS) or {})}
    return {f"{REQUESTS}.{k}": parse_quantity(v) for k, v in asked.items()} | {
        f"{LIMITS}.{k}": parse_quantity(v) for k, v in limits.items()
    }


def added(several: Iterable[Amounts]) -> dict[str, Fraction]:
    """Amounts together."""
    total: dict[str, Fraction] = {}
    for amounts in several:
        for name, amount in amounts.items():
            total[name] = total.get(name, Fraction(0)) + amount
    return total


def scaled(demands: Iterable[Demand], scalings: Iterable[Scaling]) -> list[Demand]:
    """Workloads with the replicas that their autoscalers set."""
    bounds = {(s.namespace, s.kind, s.name): s.replicas for s in scalings}
    return [
        Demand(ref=d.ref, pods=d.pods, replicas=bounds.get((d.ref.namespace, d.ref.kind, d.ref.name), d.replicas))
        for d in demands
    ]
