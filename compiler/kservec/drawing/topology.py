"""Topology: what the picture of graphs and services shows.

Each graph is a section with its nodes, the services that it calls, and its steps as arrows; services that no graph
calls come last. Must not know how pictures are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.graphs.unused_fields import HEEDED
from kservec.core.graphs.endpoints import GRAPH, SERVICE, called_object, service_ref
from kservec.core.graphs.nodes import walk
from kservec.drawing.picture import Arrow, Box, Section, Shape, line
from kservec.spec.graph import ENSEMBLE, SEQUENCE, InferenceGraph
from kservec.spec.inferenceservice import InferenceService

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.spec.graph import InferenceRouter, InferenceStep

PARTS = ("transformer", "predictor", "explainer")


def topology(units: Sequence[Unit], env: Env) -> tuple[Section, ...]:
    """The sections of a picture, graphs by namespace and name."""
    known = {unit.ref: unit for unit in units}
    graphs = [known[ref] for ref in sorted(known) if ref.kind == GRAPH]
    sections = [graph_section(graph, known, env) for graph in graphs]
    called = {ref for graph in graphs for ref in calls(graph, env)}
    left = [service_box(known[ref]) for ref in sorted(known) if ref.kind == SERVICE and ref not in called]
    return (*sections, Section("InferenceServices", tuple(left))) if left else tuple(sections)


def calls(graph: Unit, env: Env) -> Iterator[ObjectRef]:
    """The objects that the steps of a graph call."""
    for router in graph.spec_as(InferenceGraph).spec.routers.values():
        for step in router.steps:
            ref = called_object(step, graph.namespace, env)
            if ref is not None:
                yield ref


def graph_section(graph: Unit, known: Mapping[ObjectRef, Unit], env: Env) -> Section:
    """One graph. Nodes that are never reached stand in it without an arrow to them."""
    routers = graph.spec_as(InferenceGraph).spec.routers
    first = list(reversed(walk(routers).reached))
    names = [*first, *(name for name in sorted(routers) if name not in first)]
    boxes = {box.key: box for box in (Box(f"node {n}", Shape.NODE, node_lines(n, routers[n])) for n in names)}
    arrows: list[Arrow] = []
    for name in names:
        for i, step in enumerate(routers[name].steps):
            box = target_box(step, graph, known, env)
            boxes.setdefault(box.key, box)
            arrows.append(Arrow(f"node {name}", box.key, step_line(routers[name], i, step)))
    return Section(line(f"{graph.ref} ({graph.mode})"), tuple(boxes.values()), tuple(arrows))


def node_lines(name: str, router: InferenceRouter) -> tuple[str, ...]:
    """What stands in the box of a node."""
    return line(name), router.router_type


def target_box(step: InferenceStep, graph: Unit, known: Mapping[ObjectRef, Unit], env: Env) -> Box:
    """The box that a step leads to."""
    if step.node_name:
        return Box(f"node {step.node_name}", Shape.NODE, (line(step.node_name),))
    ref = called_object(step, graph.namespace, env)
    if ref is not None and (ref in known or step.service_name):
        unit = known.get(ref)
        return service_box(unit) if unit is not None else Box(str(ref), Shape.SERVICE, (line(ref.name), "not here"))
    shown = shown_url(step.service_url)
    return Box(f"url {shown}", Shape.ADDRESS, (line(shown),))


def shown_url(url: str) -> str:
    """A URL without credentials."""
    start, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{start}{mark}{host.rpartition('@')[2]}{slash}{path}"


def service_box(unit: Unit) -> Box:
    """The box of a service, or of a graph that another one calls."""
    lines = (line(unit.name), f"{unit.ref.kind}, {unit.mode}")
    if unit.ref != service_ref(unit.namespace, unit.name):
        return Box(str(unit.ref), Shape.SERVICE, lines)
    spec = unit.spec_as(InferenceService).spec
    parts = [part for part in PARTS if getattr(spec, part) is not None]
    return Box(str(unit.ref), Shape.SERVICE, (*lines, *([", ".join(parts)] if parts != ["predictor"] else [])))


def step_line(router: InferenceRouter, number: int, step: InferenceStep) -> str:
    """What stands at the arrow of a step: its number where the order counts, its name, and what its node heeds.

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
    return line(" ".join(filter(None, words)))
