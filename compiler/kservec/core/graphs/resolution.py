"""Resolution: the services that a graph names become URLs, and what is found on the way.

Decides from the endpoints of this run alone. Must not know how the URLs get to the router.
KServe: pkg/controller/v1alpha1/inferencegraph/controller.go, Reconcile
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Needed, Severity
from kservec.core.graphs.endpoints import LLM, SERVICE, V2, service_ref
from kservec.core.graphs.nodes import steps_of, walk
from kservec.core.records import evolve
from kservec.core.spelling import meant_name
from kservec.core.unit import finding
from kservec.spec.graph import SEQUENCE, InferenceGraph
from kservec.spec.graph_texts import RESPONSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.endpoint import Endpoint
    from kservec.core.registry import Env
    from kservec.core.tree import Path
    from kservec.core.unit import Unit
    from kservec.spec.graph import InferenceRouter

CHAT = "/v1/chat/completions"

NOT_FOUND = Code(
    "graph/service-not-found",
    Severity.ERROR,
    "a step for a service that is not there",
    "`serviceName` names an InferenceService of the graph's own namespace. KServe finds its address in the cluster; a "
    "build knows the services that it compiles. Compile the service together with the graph, or write the URL as "
    "`serviceUrl`.",
)
UNREACHABLE = Code(
    "graph/service-unusable",
    Severity.ERROR,
    "a step for a service that no graph can call",
    "The service is stopped, or its runtime speaks neither of the protocols v1 and v2. KServe's controller waits for "
    "it for ever, and makes nothing of the graph.",
)
PATHLESS = Code(
    "graph/service-without-path",
    Severity.WARNING,
    "a service whose models a graph cannot ask for",
    "KServe makes the path of a step's URL from the protocol and the model of the service. For gRPC and for servers "
    "that pull their models there is none, so the router calls the bare address of the service.",
)
NO_PREDICTIONS = Code(
    "graph/predictions-absent",
    Severity.WARNING,
    "predictions of a service that gives outputs",
    "mapPredictionsToInstances renames the member `predictions` of protocol v1. A service that speaks v2 answers with "
    "`outputs`, so nothing is renamed and the next service gets what it cannot read.",
)


class Resolved(NamedTuple):
    """URLs by node and number of the step, and what was found."""

    urls: Mapping[tuple[str, int], str]
    diagnostics: tuple[Diagnostic, ...] = ()


def step_path(node: str, step: int, field: str = "") -> Path:
    """Where a step, or a field of it, stands in a graph."""
    at: Path = ("spec", "nodes", node, "steps", step)
    return (*at, field) if field else at


def resolve(unit: Unit, env: Env) -> Resolved:
    """The URLs of all steps that name services; nodes that are never reached count as well, as in KServe."""
    urls: dict[tuple[str, int], str] = {}
    found: list[Diagnostic] = []
    routers = unit.spec_as(InferenceGraph).spec.routers
    for node, i, step in steps_of(routers):
        if step.service_name:
            endpoint = env.endpoints.get(service_ref(unit.namespace, step.service_name))
            at = step_path(node, i, "serviceName")
            found += [not_found(unit, step.service_name, at, env)] if endpoint is None else judged(unit, endpoint, at)
            if endpoint is not None and endpoint.url:
                urls[node, i] = endpoint.url
    return Resolved(urls, (*found, *absent_predictions(unit, routers, env)))


def not_found(unit: Unit, name: str, at: Path, env: Env) -> Diagnostic:
    """The error about a service that the run does not have, with where it may be meant to be."""
    services = [e for ref, e in sorted(env.endpoints.items()) if ref.kind == SERVICE]
    elsewhere = [e for e in services if e.ref.name == name]
    for language in (e for ref, e in sorted(env.endpoints.items()) if ref.kind == LLM and ref.name == name):
        if language.ref.namespace == unit.namespace:
            return language_model(unit, language, at)
    meant = meant_name(name, [e.ref.name for e in services if e.ref.namespace == unit.namespace])
    if meant:
        hint = f"did you mean {meant}?"
    elif elsewhere:
        hint = f"a graph calls services of its own namespace by name; for {elsewhere[0].ref} write serviceUrl"
    else:
        hint = "compile the service together with the graph, or write its URL as serviceUrl"
    message = f"there is no InferenceService {unit.namespace}/{name} in the input"
    related = tuple((e.place, "one of that name is here") for e in elsewhere[:1])
    missing = finding(unit, NOT_FOUND, message, at, hint)
    return evolve(missing, related=related, rests_on=(Needed(SERVICE, unit.namespace, name),))


def language_model(unit: Unit, endpoint: Endpoint, at: Path) -> Diagnostic:
    """The error about a step that names an LLMInferenceService, which KServe does not look for."""
    message = f"{endpoint.ref} cannot be called by its name: serviceName is for InferenceServices"
    hint = f"write serviceUrl: {endpoint.url}{CHAT}, or another path of the OpenAI API"
    return evolve(finding(unit, NOT_FOUND, message, at, hint), related=((endpoint.place, "it is here"),))


def judged(unit: Unit, endpoint: Endpoint, at: Path) -> list[Diagnostic]:
    """What is to be said about a service that a step names."""
    if not (endpoint.fault or endpoint.pathless):
        return []
    code = UNREACHABLE if endpoint.fault else PATHLESS
    message = f"{endpoint.ref} cannot be called as a graph does: {endpoint.fault or endpoint.pathless}"
    hint = "start the service, or choose another" if endpoint.fault else "call a service of protocol v1 or v2"
    return [evolve(finding(unit, code, message, at, hint), related=((endpoint.place, "the service is here"),))]


def absent_predictions(unit: Unit, routers: Mapping[str, InferenceRouter], env: Env) -> Iterator[Diagnostic]:
    """Warnings about replies of protocol v2 that are to be made into requests of protocol v1."""
    for name in sorted(walk(routers).reached):
        steps = routers[name].steps if routers[name].router_type == SEQUENCE else ()
        for i, step in enumerate(steps):
            before = steps[i - 1].service_name if i else ""
            if not (step.map_predictions_to_instances and step.data.startswith(RESPONSE) and before):
                continue
            endpoint = env.endpoints.get(service_ref(unit.namespace, before))
            if endpoint is not None and endpoint.protocol == V2:
                message = f"{before} speaks v2: its replies have no predictions that could become instances"
                at = step_path(name, i, "mapPredictionsToInstances")
                yield finding(unit, NO_PREDICTIONS, message, at, "use services of one protocol, or a transformer")
