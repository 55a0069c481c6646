"""What a change does to pods: which restart and why, which start or go, and how many GPUs that takes. Pure.

Judged by the canonical pod template alone: what an API server takes for the same restarts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.objects import Action
from kservec.compare.shapes import at, map_at, maps_at, number_at
from kservec.compare.values import Difference, differences, same
from kservec.compare.workloads import NOTHING, Bounds, accelerators, canonical_pods, strategy, workload_of
from kservec.core.paths import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kservec.compare.objects import Changed
    from kservec.compare.workloads import Workload
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json

RECREATE = "Recreate"
COMPONENT_LABELS = ("component", "app.kubernetes.io/component", "serving.kserve.io/inferencegraph")


class Verb(Enum):
    """What happens to the pods of a workload, the worst first."""

    REMOVED = "removed"
    RECREATED = "recreated"
    RENAMED = "renamed"
    RESTARTED = "restarted"
    REVISED = "new revision"
    STARTED = "started"


INTERRUPTING = frozenset({Verb.RECREATED, Verb.RESTARTED, Verb.REVISED})
"""What happens to workloads that are there before and after, because their pods differ."""


class Scalers(NamedTuple):
    """What the tree says besides the workloads: bounds of autoscalers by their target, devices by claim template."""

    bounds: Mapping[tuple[str, str], Bounds]
    devices: Mapping[tuple[str, str], int]


class Effect(NamedTuple):
    """What a change does to the pods of one workload.

    `reasons` are the fields of the template that differ; `pods` and `gpus` what is affected, after the change unless
    the workload goes; `becomes` the name of a renamed one.
    """

    ref: ObjectRef
    owner: str
    verb: Verb
    pods: Bounds
    gpus: Bounds
    reasons: tuple[Difference, ...] = ()
    becomes: str = ""


def forecast(changes: Sequence[Changed], before: Scalers, after: Scalers) -> tuple[Effect, ...]:
    """The effects of changes on pods, the worst first."""
    held = [(change, workload) for change in changes if (workload := workload_of(change.ref)) is not None]
    effects = [effect for change, workload in held for effect in effects_of(change, workload, before, after)]
    return tuple(sorted(renamed(effects, {change.ref: change for change, _ in held}), key=severity))


def severity(effect: Effect) -> tuple[object, ...]:
    """Sort key: what interrupts first, then what takes most GPUs."""
    return (list(Verb).index(effect.verb), -effect.gpus.least, -effect.pods.least, effect.ref)


def effects_of(change: Changed, workload: Workload, before: Scalers, after: Scalers) -> Iterable[Effect]:
    """What a change of one workload does: nothing, or one effect."""
    ref, owner = change.ref, change.owner
    if change.action is Action.ADDED:
        yield sized(Effect(ref, owner, Verb.STARTED, NOTHING, NOTHING), change.after, workload, after)
        return
    if change.action is Action.REMOVED:
        yield sized(Effect(ref, owner, Verb.REMOVED, NOTHING, NOTHING), change.before, workload, before)
        return
    old, new = (canonical_pods(workload, body) for body in (change.before, change.after))
    fixed = [part for part in workload.immutable if not same(lookup(change.before, part), lookup(change.after, part))]
    if same(old, new) and not fixed:
        return
    is_at_once = bool(fixed) or strategy(change.after) == RECREATE
    verb = Verb.RECREATED if is_at_once else Verb.REVISED if workload.verb == "revision" else Verb.RESTARTED
    reasons = differences(old, new) or change.differences
    yield sized(Effect(ref, owner, verb, NOTHING, NOTHING, reasons), change.after, workload, after)


def sized(effect: Effect, body: Json, workload: Workload, scalers: Scalers) -> Effect:
    """An effect with the pods and GPUs that it touches. Without a number and an autoscaler there is one replica."""
    namespace = effect.ref.namespace
    claims = {name: count for (place, name), count in scalers.devices.items() if place == namespace}
    replicas = workload.bounds(body) or scalers.bounds.get((namespace, effect.ref.name)) or Bounds(1, 1)
    groups = workload.groups(body)
    gpus = sum(accelerators(group.template, claims) * group.members for group in groups)
    return effect._replace(pods=replicas.times(sum(g.members for g in groups)), gpus=replicas.times(gpus))


def renamed(effects: Sequence[Effect], changes: Mapping[ObjectRef, Changed]) -> list[Effect]:
    """Effects in which a workload that goes and another that comes in its place are one."""
    kept = list(effects)
    for gone in [effect for effect in effects if effect.verb is Verb.REMOVED]:
        role = role_of(gone, changes[gone.ref].before)
        new = [e for e in kept if e.verb is Verb.STARTED and role_of(e, changes[e.ref].after) == role]
        if len(new) == 1 and role is not None:
            kept[kept.index(gone)] = new[0]._replace(ref=gone.ref, verb=Verb.RENAMED, becomes=new[0].ref.name)
            kept.remove(new[0])
    return kept


def role_of(effect: Effect, body: Json) -> tuple[str, ...] | None:
    """What a workload is to its owner; None if it does not say."""
    labels = map_at(body, "metadata", "labels")
    role = [str(labels[key]) for key in COMPONENT_LABELS if key in labels]
    return (effect.owner, effect.ref.kind, *role) if effect.owner and role else None


class Autoscaler(NamedTuple):
    """The fields of a kind of autoscalers that bound the replicas, and what counts where they are missing."""

    low: str
    high: str
    least: int = 0
    most: int | None = None


SCALER_KINDS: Mapping[tuple[str, str], Autoscaler] = {
    ("autoscaling", "HorizontalPodAutoscaler"): Autoscaler("minReplicas", "maxReplicas", least=1),
    ("keda.sh", "ScaledObject"): Autoscaler("minReplicaCount", "maxReplicaCount", most=100),
}
"""Kinds of autoscalers."""
CLAIM_TEMPLATE = ("resource.k8s.io", "ResourceClaimTemplate")


def holds_size(ref: ObjectRef) -> bool:
    """Whether an object is an autoscaler or a template of claims, by which workloads are sized."""
    return (ref.group, ref.kind) in SCALER_KINDS or (ref.group, ref.kind) == CLAIM_TEMPLATE


def scalers_of(bodies: Iterable[tuple[ObjectRef, Json]]) -> Scalers:
    """What autoscalers and claim templates among objects say."""
    bounds: dict[tuple[str, str], Bounds] = {}
    devices: dict[tuple[str, str], int] = {}
    for ref, body in bodies:
        kind = SCALER_KINDS.get((ref.group, ref.kind))
        if kind is not None:
            spec = map_at(body, "spec")
            least, most = number_at(spec, (kind.low,)), number_at(spec, (kind.high,))
            target = str(at(spec, ("scaleTargetRef", "name")))
            limits = Bounds(kind.least if least is None else least, kind.most if most is None else most)
            bounds[ref.namespace, target] = limits
        elif (ref.group, ref.kind) == CLAIM_TEMPLATE:
            requests = maps_at(body, "spec", "spec", "devices", "requests")
            devices[ref.namespace, ref.name] = sum(map(devices_of, requests))
    return Scalers(bounds, devices)


def devices_of(request: Mapping[str, Json]) -> int:
    """How many devices one request of a claim is for."""
    exactly = request.get("exactly")
    count = number_at(exactly if isinstance(exactly, dict) else request, ("count",))
    return 1 if count is None else count
