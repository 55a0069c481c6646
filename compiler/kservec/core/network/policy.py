"""The NetworkPolicy of a workload: who may call it, and whom it may call. All else is denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import manifest
from kservec.core.names import INFERENCEGRAPH_LABEL, INFERENCESERVICE_LABEL, STORAGE_INITIALIZER
from kservec.core.network.addresses import in_namespace, rules_of, tcp, urls
from kservec.core.network.callers import calls, in_graphs, is_graph, serves
from kservec.core.pods.accounts import bound_accounts
from kservec.core.pods.metrics_ports import metrics_ports
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.additions import Peers
    from kservec.core.bundle import Manifest
    from kservec.core.network.callers import Workload
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

RESTRICTED = Origin(Layer.PASS, "restrict_networks")
API_VERSION, KIND = "networking.k8s.io/v1", "NetworkPolicy"
KNATIVE_NAMESPACE = "knative-serving"
API_PORTS = (443, 6443)
DOWNLOADING = ("--enable-puller", "--model_id")
"""What arguments begin with of containers that fetch models while they run."""


def policy(unit: Unit, workload: Workload, others: Sequence[Workload], peers: Peers) -> Manifest:
    """The NetworkPolicy of a workload."""
    ref = workload.sets[0].made.ref
    metadata = {"name": ref.name, "namespace": ref.namespace}
    if labels := workload.sets[0].made.body.get("metadata", "labels"):
        metadata["labels"] = labels
    siblings = [other for other in others if other is not workload]
    spec = {
        "podSelector": {"matchLabels": dict(workload.sets[0].selector)},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [*incoming(workload, siblings, peers)],
        "egress": [*outgoing(unit, workload, siblings, peers)],
    }
    return manifest(API_VERSION, KIND, metadata, {"spec": {k: v for k, v in spec.items() if v}}, RESTRICTED)


def incoming(workload: Workload, siblings: Sequence[Workload], peers: Peers) -> Iterator[Json]:
    """Who may call a workload."""
    callers = [*(peers.gateways or ()), *(peers.clients if serves(workload) else ())]
    callers += having(INFERENCEGRAPH_LABEL) if in_graphs(workload) else ()
    if callers and workload.served.outer:
        yield {"from": callers, "ports": list(workload.served.outer)}
    if workload.sets[0].is_knative:
        yield {"from": [in_namespace(KNATIVE_NAMESPACE)], "ports": workload.ports}
    if workload.team:
        yield {"from": [other.peer for other in (workload, *siblings) if other.team]}
    for sibling in siblings:
        if calls(sibling, workload):
            yield {"from": [sibling.peer], "ports": workload.ports}
    scraped = [port.number for pods in workload.sets for port in metrics_ports(pods)]
    if peers.monitoring and scraped:
        yield {"from": list(peers.monitoring), "ports": [tcp(number) for number in dict.fromkeys(scraped)]}


def outgoing(unit: Unit, workload: Workload, siblings: Sequence[Workload], peers: Peers) -> Iterator[Json]:
    """Whom a workload may call."""
    yield {"to": list(peers.dns), "ports": [{"port": 53, "protocol": "UDP"}, tcp(53)]}
    if workload.team:
        yield {"to": [other.peer for other in (workload, *siblings) if other.team]}
    for sibling in siblings:
        if calls(workload, sibling) and not sibling.sets[0].is_knative:
            yield {"to": [sibling.peer], "ports": sibling.ports}
    if is_graph(workload):
        yield {"to": having(INFERENCESERVICE_LABEL, INFERENCEGRAPH_LABEL)}
    if is_graph(workload) or (workload.sets[0].is_knative and any(calls(workload, s) for s in siblings)):
        yield {"to": [*(peers.gateways or ()), in_namespace(KNATIVE_NAMESPACE)]}
    if any(downloads(pods.pod) for pods in workload.sets):
        yield {"to": list(peers.storage), "ports": [tcp(port) for port in peers.storage_ports]}
    if {pods.pod.get("serviceAccountName") for pods in workload.sets} & bound_accounts(unit.bundle):
        yield {"to": list(peers.api_server), "ports": [tcp(port) for port in API_PORTS]}
    told = [rule for _, host, port in urls(texts(unit, workload)) for rule in rules_of(host, port)]
    yield from (rule for i, rule in enumerate(told) if rule not in told[:i])


def having(*labels: str) -> list[Json]:
    """The pods of the own namespace that have one of several labels, whatever it says, as peers."""
    return [{"podSelector": {"matchExpressions": [{"key": key, "operator": "Exists"}]}} for key in labels]


def downloads(pod: Json) -> bool:
    """Whether a pod fetches a model: before its server starts, or while it runs."""
    if any(container["name"] == STORAGE_INITIALIZER for container in pod.get("initContainers") or ()):
        return True
    arguments = (a for c in pod["containers"] for a in (*(c.get("command") or ()), *(c.get("args") or ())))
    return any(argument.startswith(DOWNLOADING) for argument in arguments)


def texts(unit: Unit, workload: Workload) -> Iterator[str]:
    """The arguments and variables of a workload's containers, and what a graph calls elsewhere."""
    for pods in workload.sets:
        for container in (*(pods.pod.get("initContainers") or ()), *pods.pod["containers"]):
            yield from container.get("args") or ()
            yield from (entry["value"] for entry in container.get("env") or () if "value" in entry)
    if is_graph(workload):
        nodes = (unit.source.document.value.get("spec") or {}).get("nodes") or {}
        steps = (step for node in nodes.values() for step in node.get("steps") or ())
        yield from (step["serviceUrl"] for step in steps if step.get("serviceUrl"))
