"""Rings: graphs that come to be called by what they call, through other graphs and services of the run.

A graph that calls graphs round in a circle never answers. Whether a service calls a graph that its arguments or
variables name cannot be seen, so that is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.graphs.endpoints import GRAPH, called_object
from kservec.core.graphs.nodes import walk
from kservec.core.graphs.resolution import step_path
from kservec.core.records import evolve
from kservec.core.unit import finding
from kservec.spec.graph import InferenceGraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.endpoint import Endpoint
    from kservec.core.registry import Env
    from kservec.core.tree import Path
    from kservec.core.unit import Unit

CALLS_ITSELF = Code(
    "graph/calls-itself",
    Severity.ERROR,
    "a graph that calls itself",
    "A step calls the graph that it stands in, or another graph that leads back to it: a request would go round for "
    "ever. Each request that arrives makes another, until the routers have no connection left.",
)
CALLED_BACK = Code(
    "graph/called-back",
    Severity.WARNING,
    "a service that may call the graph which calls it",
    "Arguments or variables of the service name the host of the graph. If it sends its requests there, they go round "
    "for ever.",
)


def ring_findings(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """What leads from a step of a graph back to the graph, one finding for each object that is called."""
    routers = unit.spec_as(InferenceGraph).spec.routers
    seen: set[ObjectRef] = set()
    for name in sorted(walk(routers).reached):
        for i, step in enumerate(routers[name].steps):
            called = called_object(step, unit.namespace, env)
            if called is None or called in seen or called not in env.endpoints:
                continue
            seen.add(called)
            way = way_back(called, unit.ref, env.endpoints)
            if way:
                yield ring(unit, way, step_path(name, i), env.endpoints)


def way_back(start: ObjectRef, goal: ObjectRef, endpoints: Mapping[ObjectRef, Endpoint]) -> tuple[ObjectRef, ...]:
    """A shortest way from one object to another along their calls, both included; empty if there is none."""
    ways: dict[ObjectRef, tuple[ObjectRef, ...]] = {start: (start,)}
    waiting = [start]
    for ref in waiting:
        if ref == goal:
            return ways[ref]
        for called in sorted(endpoints[ref].calls):
            if called in endpoints and called not in ways:
                ways[called] = (*ways[ref], called)
                waiting.append(called)
    return ()


def ring(unit: Unit, way: tuple[ObjectRef, ...], at: Path, endpoints: Mapping[ObjectRef, Endpoint]) -> Diagnostic:
    """The finding about one way back."""
    shown = " -> ".join(str(ref) for ref in (unit.ref, *way))
    services = [ref for ref in way if ref.kind != GRAPH]
    code = CALLED_BACK if services else CALLS_ITSELF
    message = f"{unit.ref} may come to be called by {services[-1]}" if services else f"{unit.ref} calls itself"
    related = tuple((endpoints[ref].place, f"{ref} is here") for ref in way[:-1])
    hint = "let the service call others" if services else "call something else"
    return evolve(finding(unit, code, f"{message}: {shown}", at, hint), related=related)
