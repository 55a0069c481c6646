"""Whatever selects pods selects some: workloads their own, all others those of a workload of the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import GROUP, WORKLOADS, Object, Output, Pods, holds, name, namespace, title

if TYPE_CHECKING:
    from collections.abc import Iterator


def workloads_select_their_pods(output: Output) -> Iterator[str]:
    """A workload's selector fits its template: an API server refuses it otherwise."""
    for pods in output.pods:
        if pods.workload["kind"] in WORKLOADS and not holds(pods.labels, pods.workload["spec"]["selector"]):
            yield f"{title(pods.workload)} does not select its own pods"


def workloads_share_no_pods(output: Output) -> Iterator[str]:
    """No two workloads select the same pods, which both would then adopt."""
    for pods in output.pods:
        for other in output.of(*WORKLOADS):
            is_other = other is not pods.workload and namespace(other) == pods.namespace
            if is_other and other["kind"] == pods.workload["kind"] and holds(pods.labels, other["spec"]["selector"]):
                yield f"{title(other)} selects the pods of {title(pods.workload)}"


def others_select_some_pods(output: Output) -> Iterator[str]:
    """Services, pools, budgets, monitors and network policies select pods of a workload of the output."""
    for body in output.objects:
        selector = selector_of(body)
        is_said = output.says("llm/selects-nothing", body["kind"], name(body))
        if selector is not None and not selected(output, body, selector) and not is_said:
            yield f"{title(body)} selects no pods: {selector}"


def selector_of(body: Object) -> Object | None:
    """What selects the pods of an object that runs none itself; None if it selects none."""
    spec = body.get("spec") or {}
    if body["kind"] in {"Service", "InferencePool", "PodDisruptionBudget", "PodMonitor"}:
        found: Object | None = spec.get("selector")
        return found
    if body["kind"] == "NetworkPolicy":
        own: Object = spec["podSelector"]
        return own
    return None


def selected(output: Output, body: Object, selector: Object) -> list[Pods]:
    """The pods of the output that a selector selects in the namespace of its object."""
    return [pods for pods in output.pods if pods.namespace == namespace(body) and holds(pods.labels, selector)]


def spread_rules_count_their_pods(output: Output) -> Iterator[str]:
    """What spreads pods counts the pods that it stands in, and not some others."""
    for pods in output.pods:
        for rule in pods.spec.get("topologySpreadConstraints") or ():
            selector = rule.get("labelSelector")
            if selector and pods.workload["kind"] == GROUP and not holds(pods.labels, selector):
                yield f"{title(pods.workload)} spreads other pods than its own"


INVARIANTS = (
    workloads_select_their_pods,
    workloads_share_no_pods,
    others_select_some_pods,
    spread_rules_count_their_pods,
)
