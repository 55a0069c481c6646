"""restrict_networks: pods may only talk to whom their service needs.

Each workload gets a NetworkPolicy that selects its pods, which denies all that it does not allow: who calls whom is
known here. Must not know how requests are routed; what is routed is what Services and pools lead to.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import manifest
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.llm.names import COMPONENT_LABEL as LLM_COMPONENT
from kservec.core.names import (
    COMPONENT_LABEL,
    GENERATION_LABEL,
    INFERENCEGRAPH_LABEL,
    INFERENCESERVICE_LABEL,
    STORAGE_INITIALIZER,
)
from kservec.core.network.addresses import in_namespace, labelled, rules_of, tcp, urls
from kservec.core.network.served_ports import Served, served_ports
from kservec.core.pods.accounts import bound_accounts
from kservec.core.pods.metrics_ports import WORKLOAD, metrics_ports
from kservec.core.pods.pod_sets import pod_sets
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Role, Step, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.additions import Peers
    from kservec.core.bundle import Manifest
    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

RESTRICTED = Origin(Layer.PASS, "restrict_networks")
API_VERSION, KIND = "networking.k8s.io/v1", "NetworkPolicy"
KNATIVE_NAMESPACE = "knative-serving"
API_PORTS = (443, 6443)
DOWNLOADING = ("--enable-puller", "--model_id")
"""What arguments begin with of containers that fetch models while they run."""

NO_GATEWAY = Code(
    "network/gateway-unknown",
    Severity.WARNING,
    "nothing says where requests come from",
    "networkPolicy lets requests in from gateways, and neither networkPolicy.gateways nor a route of the service says "
    "where those run; a Knative service and a graph in Standard mode have no such route. Its own pods, graphs and "
    "Knative itself reach the service, and nobody else.",
)


class Workload(NamedTuple):
    """A workload: its pods, and the ports at which they are called. `team`: its pods talk to each other at any port."""

    sets: tuple[PodSet, ...]
    served: Served
    team: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.sets[0].name

    @property
    def peer(self) -> Json:
        """Its pods, as a peer of a rule."""
        return labelled(self.sets[0].selector)

    @property
    def ports(self) -> list[Json]:
        """All the ports at which it is called."""
        return [*self.served.outer, *self.served.inner]

    @property
    def labels(self) -> Json:
        """The labels of its first pods."""
        return self.sets[0].labels


def restrict_networks(unit: Unit, env: Env) -> Step:
    """Make a NetworkPolicy for every workload.

    Takes:   nothing
    Writes:  NetworkPolicies
    Reports: network/gateway-unknown
    """
    peers = env.additions.network if env.additions is not None else None
    if peers is None:
        return Step(unit)
    workloads = workloads_of(unit)
    gateways = peers.gateways if peers.gateways is not None else route_gateways(unit)
    peers = evolve(peers, gateways=tuple(gateways))
    made = [policy(unit, workload, workloads, peers) for workload in workloads]
    served = [w for w in workloads if w.served.outer]
    found = (gateway_unknown(unit),) if served and not gateways and not peers.clients else ()
    return Step(evolve(unit, bundle=unit.bundle.add(*made)), found)


def workloads_of(unit: Unit) -> tuple[Workload, ...]:
    """The workloads of a unit."""
    grouped = [tuple(sets) for _, sets in groupby(pod_sets(unit.bundle), key=lambda pods: pods.made.ref)]
    servers = [sets for sets in grouped if is_model_server(sets[0])]
    several = len(servers) > 1 or any(sets[0].is_group for sets in servers)
    return tuple(
        Workload(
            sets=sets,
            served=served_ports(sets, unit.bundle),
            team=GENERATION_LABEL in sets[0].labels or (several and sets in servers),
        )
        for sets in grouped
    )


def is_model_server(pods: PodSet) -> bool:
    """Whether pods of an LLMInferenceService serve the model, rather than schedule requests."""
    component: str = pods.labels.get(LLM_COMPONENT, "")
    return component.startswith(WORKLOAD)


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


def calls(caller: Workload, callee: Workload) -> bool:
    """Whether a workload calls another one of its unit, at the ports that are served: a predictor calls nobody."""
    if not callee.ports or (caller.team and callee.team):
        return False
    return bool(caller.labels.get(COMPONENT_LABEL) != Role.PREDICTOR)


def is_graph(workload: Workload) -> bool:
    """Whether a workload is the router of a graph."""
    return INFERENCEGRAPH_LABEL in workload.labels


def serves(workload: Workload) -> bool:
    """Whether clients call it: schedulers and tokenizers are none of their business."""
    return LLM_COMPONENT not in workload.labels or is_model_server(workload.sets[0])


def in_graphs(workload: Workload) -> bool:
    """Whether graphs may call it: they call services and each other."""
    return is_graph(workload) or INFERENCESERVICE_LABEL in workload.labels


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


def route_gateways(unit: Unit) -> list[Json]:
    """The namespaces of the Gateways that the unit's routes name: where their pods run, unless somebody says more."""
    parents = (p for m in unit.bundle.manifests for p in m.body.get("spec", "parentRefs") or ())
    names = {p.get("namespace") or unit.namespace for p in parents if p.get("kind", "Gateway") == "Gateway"}
    return [in_namespace(name) for name in sorted(names)]


def gateway_unknown(unit: Unit) -> Diagnostic:
    """The warning about a service that no gateway reaches."""
    message = f"no gateway and no client may call {unit.ref}: nothing says where they run"
    hint = "name the pods of the gateway in networkPolicy.gateways of kservec.yaml, or callers in networkPolicy.clients"
    return finding(unit, NO_GATEWAY, message, None, hint)
