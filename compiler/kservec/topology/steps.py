"""Steps: the nodes of InferenceGraphs and the services that they call.

Decides what a step is told by. Graphs are drawn alone from what users wrote, and as parts of what is deployed from what
their routers are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.graphs.unused_fields import HEEDED
from kservec.core.graphs.endpoints import GRAPH, SERVICE, called_object, service_ref
from kservec.core.graphs.nodes import walk
from kservec.spec.graph import ENSEMBLE, SEQUENCE, InferenceGraph
from kservec.spec.inferenceservice import InferenceService
from kservec.topology.labels import broken, line, told
from kservec.topology.values import Edge, Node, NodeKind, Topology, collected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.spec.graph import InferenceRouter, InferenceStep

PARTS = ("transformer", "predictor", "explainer")


def graph_topologies(units: Sequence[Unit], env: Env) -> tuple[Topology, ...]:
    """Each graph by namespace and name, as its user wrote it; services that no graph calls come last."""
    known = {unit.ref: unit for unit in units}
    graphs = [known[ref] for ref in sorted(known) if ref.kind == GRAPH]
    drawn = [graph_topology(graph, known, env) for graph in graphs]
    called = {ref for graph in graphs for ref in calls(graph, env)}
    left = [unit_node(known[ref]) for ref in sorted(known) if ref.kind == SERVICE and ref not in called]
    return (*drawn, Topology("InferenceServices", tuple(left))) if left else tuple(drawn)


def calls(graph: Unit, env: Env) -> Iterator[ObjectRef]:
    """The objects that the steps of a graph call."""
    for router in graph.spec_as(InferenceGraph).spec.routers.values():
        for step in router.steps:
            ref = called_object(step, graph.namespace, env)
            if ref is not None:
                yield ref


def graph_topology(graph: Unit, known: Mapping[ObjectRef, Unit], env: Env) -> Topology:
    """One graph."""
    routers = graph.spec_as(InferenceGraph).spec.routers

    def called(step: InferenceStep) -> Node:
        ref = called_object(step, graph.namespace, env)
        if ref is not None and (ref in known or step.service_name):
            unit = known.get(ref)
            return unit_node(unit) if unit is not None else Node(str(ref), NodeKind.UNIT, (line(ref.name), "not here"))
        return address_node(shown_url(step.service_url))

    parts = tuple(graph_parts(routers, lambda name: graph.source.span("spec", "nodes", name), called))
    return collected(line(f"{graph.ref} ({graph.mode})"), parts)


def graph_parts(
    routers: Mapping[str, InferenceRouter],
    span: Callable[[str], Span | None],
    called: Callable[[InferenceStep], Node],
) -> Iterator[Node | Edge]:
    """The nodes of a graph in the order in which a request meets them, then the edges of their steps.

    Nodes that are never reached are among them, without an edge to them; what steps call comes before their edge.

    Args:
        routers: the nodes of the graph by name.
        span: tells where a node was written, by its name.
        called: tells what a step that goes to no node of the graph calls.
    """
    first = list(reversed(walk(routers).reached))
    names = [*first, *(name for name in sorted(routers) if name not in first)]
    for name in names:
        lines = (line(name), line(routers[name].router_type))
        yield Node(step_key(name), NodeKind.STEP, lines, span=span(name))
    for name in names:
        for i, step in enumerate(routers[name].steps):
            target = called(step) if not step.node_name else Node(step_key(step.node_name), *unknown(step.node_name))
            yield target
            yield Edge(step_key(name), target.key, step_line(routers[name], i, step))


def unknown(name: str) -> tuple[NodeKind, tuple[str, ...]]:
    """What is told of a node that a step names, should the graph not have it."""
    return NodeKind.STEP, (line(name), "not here")


def step_key(name: str) -> str:
    """The key of a node of a graph."""
    return f"node {name}"


def address_node(shown: str) -> Node:
    """The node of a place that nothing here is at."""
    return Node(f"url {shown}", NodeKind.ADDRESS, tuple(broken(shown)))


def shown_url(url: str) -> str:
    """A URL without credentials."""
    start, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{start}{mark}{host.rpartition('@')[2]}{slash}{path}"


def unit_node(unit: Unit) -> Node:
    """The node of a service, or of a graph that another one calls."""
    lines: tuple[str, ...] = (line(unit.name), f"{unit.ref.kind}, {unit.mode}")
    if unit.ref == service_ref(unit.namespace, unit.name):
        spec = unit.spec_as(InferenceService).spec
        parts = [part for part in PARTS if getattr(spec, part) is not None]
        lines = (*lines, *([", ".join(parts)] if parts != ["predictor"] else []))
    return Node(str(unit.ref), NodeKind.UNIT, lines, unit.ref, unit.ref, unit.source.span("metadata", "name"))


def step_line(router: InferenceRouter, number: int, step: InferenceStep) -> str:
    """What stands at the edge of a step: its number where the order counts, its name, and what its node heeds.

    Results of an Ensemble are called by the number, from 0, of a step without a name.
    """
    heeded = {field for field, types in HEEDED.items() if router.router_type in types}
    words = (
        f"{number + 1}." if router.router_type == SEQUENCE else "",
        step.name or (str(number) if router.router_type == ENSEMBLE else ""),
        f"{step.weight or 0}%" if "weight" in heeded else "",
        f"if {step.condition}" if step.condition and "condition" in heeded else "",
        step.data if "data" in heeded else "",
        "predictions as instances" if step.map_predictions_to_instances and "data" in heeded else "",
        step.dependency if "dependency" in heeded else "",
    )
    return told(*words)
