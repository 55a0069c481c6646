"""budget_disruptions: how many pods of a workload may be taken away at a time while nodes are drained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import manifest
from kservec.core.diagnostics import Code, Severity
from kservec.core.pods.copies import copies_of
from kservec.core.pods.pod_sets import EVERYWHERE, pod_sets
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from kservec.core.additions import Budget
    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.pods.copies import Copies
    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

BUDGETED = Origin(Layer.PASS, "budget_disruptions")
API_VERSION, KIND = "policy/v1", "PodDisruptionBudget"
LEAST, MOST = "minAvailable", "maxUnavailable"

SINGLE = Code(
    "availability/no-budget",
    Severity.WARNING,
    "a workload too small for a PodDisruptionBudget",
    "A PodDisruptionBudget over the only pod of a workload either keeps its node from being drained for ever, or "
    "protects nothing, so none is made. Run more replicas; or ask for it all the same with "
    "podDisruptionBudget.singleReplica.",
)


def budget_disruptions(unit: Unit, env: Env) -> Step:
    """Make a PodDisruptionBudget for every workload that has pods to spare.

    Takes:   nothing
    Writes:  PodDisruptionBudgets
    Reports: availability/no-budget
    """
    budget = env.additions.budget if env.additions is not None else None
    if budget is None:
        return Step(unit)
    sets = [pods for pods in pod_sets(unit.bundle) if not pods.follows and pods.made.ref.kind != EVERYWHERE]
    spared = [pods for pods in sets if budget.singles or has_spare(budget, copies_of(pods, unit.bundle))]
    small = [pods.name for pods in sets if pods not in spared]
    made = tuple(disruption_budget(pods, budget) for pods in spared)
    found = (too_small(unit, small, budget),) if small else ()
    return Step(evolve(unit, bundle=unit.bundle.add(*made)), found)


def has_spare(budget: Budget, copies: Copies) -> bool:
    """Whether a workload has a pod that may go while the budget holds; a share of pods needs two of them at least."""
    if budget.field == MOST:
        return copies.most > 1
    return copies.least > (budget.value if isinstance(budget.value, int) else 1)


def disruption_budget(pods: PodSet, budget: Budget) -> Manifest:
    """The budget of a workload. Pods that are not ready may always go: else a broken version would block its node."""
    ref, spec = pods.made.ref, {budget.field: budget.value, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    metadata = {"name": ref.name, "namespace": ref.namespace}
    if labels := pods.made.body.get("metadata", "labels"):
        metadata["labels"] = labels
    fields = {"spec": {**spec, "selector": {"matchLabels": dict(pods.selector)}}}
    return manifest(API_VERSION, KIND, metadata, fields, BUDGETED)


def too_small(unit: Unit, names: list[str], budget: Budget) -> Diagnostic:
    """The warning about workloads without a budget, one for the unit."""
    wanted = f"{budget.field}: {budget.value}"
    message = f"no PodDisruptionBudget for {', '.join(names)}: with {wanted} there would be no pod to spare"
    hint = "run more replicas, or set podDisruptionBudget.singleReplica"
    return finding(unit, SINGLE, message, None, hint)
