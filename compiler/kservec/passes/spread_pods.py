"""spread_pods: the pods of a workload are spread over nodes or zones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.pods.pod_sets import with_pods
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.pods.pod_sets import Pods
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Tree
    from kservec.core.unit import Unit

SPREAD = Origin(Layer.PASS, "spread_pods")
FIELD = "topologySpreadConstraints"


def spread_pods(unit: Unit, env: Env) -> Step:
    """Give pods the project's constraints, where a spec has none; a spec's own that select no pods select theirs.

    Workers stay where they are, close to what leads them, and so do pods of which every node has one.

    Takes:   nothing
    Writes:  topologySpreadConstraints of pods
    Reports: nothing
    """
    constraints = env.additions.spread if env.additions is not None else ()
    return Step(with_pods(unit, lambda pods: spread(pods, constraints))) if constraints else Step(unit)


def spread(pods: Pods, constraints: tuple[Json, ...]) -> Tree:
    """A pod with constraints that select those of its own workload."""
    if pods.follows or pods.everywhere:
        return pods.pod
    own = pods.pod.get(FIELD)
    selecting = [with_selector(constraint, pods) for constraint in own or constraints]
    return pods.pod if selecting == own else pods.pod.put((FIELD,), selecting, SPREAD)


def with_selector(constraint: Json, pods: Pods) -> Json:
    """A constraint that counts pods: without a selector it counts none."""
    if constraint.get("labelSelector") is not None:
        return constraint
    return {**constraint, "labelSelector": {"matchLabels": dict(pods.selector)}}
