"""restrict_networks: pods may only talk to whom their service needs.

Each workload gets a NetworkPolicy that selects its pods, which denies all that it does not allow. Who calls whom is
known below `core.network`; here it is decided for which units, and which gateways let requests in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.network.addresses import in_namespace
from kservec.core.network.callers import workloads_of
from kservec.core.network.policy import policy
from kservec.core.records import evolve
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

NO_GATEWAY = Code(
    "network/gateway-unknown",
    Severity.WARNING,
    "nothing says where requests come from",
    "networkPolicy lets requests in from gateways, and neither networkPolicy.gateways nor a route of the service says "
    "where those run; a Knative service and a graph in Standard mode have no such route. Its own pods, graphs and "
    "Knative itself reach the service, and nobody else.",
)


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


def route_gateways(unit: Unit) -> list[Json]:
    """The namespaces of the Gateways that the unit's routes name: where their pods run, unless somebody says more."""
    parents = (p for m in unit.bundle.manifests for p in m.body.get("spec", "parentRefs") or ())
    names = {p.get("namespace") or unit.namespace for p in parents if p.get("kind") == "Gateway"}
    return [in_namespace(name) for name in sorted(names)]


def gateway_unknown(unit: Unit) -> Diagnostic:
    """The warning about a service that no gateway reaches."""
    message = f"no gateway and no client may call {unit.ref}: nothing says where they run"
    hint = "name the pods of the gateway in networkPolicy.gateways of kservec.yaml, or callers in networkPolicy.clients"
    return finding(unit, NO_GATEWAY, message, None, hint)
