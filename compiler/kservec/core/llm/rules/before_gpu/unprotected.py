"""Traffic between the pods of a service that nobody checks and anybody in the cluster can join.

vLLM, NCCL and the connectors of the KV cache trust every host that reaches their ports, and speak in plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.names import (
    COMPONENT_LABEL,
    KSERVE_COMPONENT_LABEL,
    NAME_LABEL,
    PART_OF,
    PART_OF_LABEL,
    ROLE_LABEL,
)
from kservec.core.llm.rules.subject import PREFILL
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject, Workload

INJECTED: Final = "sidecar.istio.io/inject"
MESHES: Final = {
    "istio-injection": ("enabled",),
    "istio.io/dataplane-mode": ("ambient",),
    "linkerd.io/inject": ("enabled", "ingress"),
}
"""Labels of a namespace, or of pods, with which a mesh speaks for them."""
REVISION: Final = "istio.io/rev"
HINT: Final = "add a NetworkPolicy for the pods of the service, or set networkPolicy in kservec.yaml"
OF_ROLES: Final = (COMPONENT_LABEL, KSERVE_COMPONENT_LABEL, ROLE_LABEL)
"""Labels whose values tell the pods of one service apart."""

UNPROTECTED = Code(
    "llm/unprotected-traffic",
    Severity.WARNING,
    "pods that exchange data without protection",
    "The pods of a model on several nodes, and prefill and decode, open ports to each other at which nobody is asked "
    "who they are. Keep others out by a NetworkPolicy that lets only the pods of the service in, or by a mesh.",
)


def check_unprotected(subject: Subject) -> Iterator[Diagnostic]:
    """Several nodes, and prefill beside decode."""
    if subject.is_guarded or is_meshed(subject.namespace_labels):
        return
    exposed = [w for w in subject.workloads if not is_meshed(pod_labels(w)) and not is_isolated(subject, w)]
    several = [workload for workload in exposed if workload.is_multi_node]
    if several:
        message = f"the pods of {several[0].name} exchange data on ports that anybody in the cluster can reach"
        path = (*several[0].path, "worker")
        yield subject.finding(UNPROTECTED, message, path, HINT)
    elif subject.at("spec", PREFILL) is not None and exposed:
        message = "prefill and decode exchange the KV cache on ports that anybody in the cluster can reach"
        yield subject.finding(UNPROTECTED, message, ("spec", PREFILL), HINT)


def is_meshed(labels: Mapping[str, str]) -> bool:
    """Whether labels put pods into a mesh."""
    return REVISION in labels or labels.get(INJECTED) == "true" or any(labels.get(k) in v for k, v in MESHES.items())


def is_isolated(subject: Subject, workload: Workload) -> bool:
    """Whether a NetworkPolicy is for the pods of a workload. Whom it lets in is not judged."""
    labels = {NAME_LABEL: subject.ref.name, PART_OF_LABEL: PART_OF, **pod_labels(workload)}
    selectors = (lookup(policy, ("spec", "podSelector", "matchLabels")) or {} for policy in subject.network_policies)
    return any(all(key in OF_ROLES or labels.get(key) == s[key] for key in s) for s in selectors)


def pod_labels(workload: Workload) -> Mapping[str, str]:
    """The labels of the pods of a workload."""
    labels: Mapping[str, str] = workload.spec.get("labels") or {}
    return labels
