"""The nodes of a graph and the steps between them: which are reached, and where they go round in circles.

Must not know what a node does with a request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.spelling import closest
from kservec.spec.graph import ENSEMBLE, ROOT, SEQUENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.spec.graph import InferenceRouter, InferenceStep


RUN_ALL = (SEQUENCE, ENSEMBLE)
"""Nodes that take all of their steps; others take one."""
NO_OTHERS: Mapping[str, str] = {}


class Edge(NamedTuple):
    """A step that goes to another node: the node it stands in, its number, and the node that it names."""

    node: str
    step: int
    target: str


class Walk(NamedTuple):
    """What a walk from the root meets.

    `reached` are the nodes in the order in which they are left for good, so that each comes after all that it leads to;
    `cycles` are the circles, each as the edges round it.
    """

    reached: tuple[str, ...]
    cycles: tuple[tuple[Edge, ...], ...]


def edges(name: str, router: InferenceRouter) -> Iterator[Edge]:
    """The steps of a node that go to other nodes."""
    for i, step in enumerate(router.steps):
        if step.node_name:
            yield Edge(name, i, step.node_name)


def walk(routers: Mapping[str, InferenceRouter], start: str = ROOT, meant: Mapping[str, str] = NO_OTHERS) -> Walk:
    """Go through all nodes that can be reached, without recursion: a graph may be as deep as its file is long.

    `meant` are the nodes that names of none stand for.
    """
    if start not in routers:
        return Walk((), ())
    left: dict[str, None] = {}
    cycles: list[tuple[Edge, ...]] = []
    way: list[Edge] = []
    """The edges from the start to the node that is looked at."""
    on_way = {start: 0}
    open_edges = [edges(start, routers[start])]
    while open_edges:
        edge = next(open_edges[-1], None)
        if edge is not None and edge.target in meant:
            edge = edge._replace(target=meant[edge.target])
        if edge is None:
            open_edges.pop()
            done = way.pop().target if way else start
            on_way.pop(done)
            left[done] = None
        elif edge.target in on_way:
            cycles.append((*way[on_way[edge.target] :], edge))
        elif edge.target in routers and edge.target not in left:
            way.append(edge)
            on_way[edge.target] = len(way)
            open_edges.append(edges(edge.target, routers[edge.target]))
    return Walk(tuple(left), tuple(cycles))


def walk_as_meant(routers: Mapping[str, InferenceRouter]) -> Walk:
    """The same, where steps to nodes that do not exist lead to those whose names are nearly theirs.

    What is wrong with these is then told of, and nobody is told that nothing leads to them.
    """
    found = walk(routers)
    unknown = {e.target for name, router in routers.items() for e in edges(name, router)} - routers.keys()
    meant = {name: near for name in sorted(unknown) if (near := closest(name, routers)) is not None}
    return found._replace(reached=walk(routers, meant=meant).reached) if meant else found


def depth(routers: Mapping[str, InferenceRouter], found: Walk) -> int:
    """How many nodes a request goes through at most, one inside the other; circles are not followed."""
    depths: dict[str, int] = {}
    for name in found.reached:
        below = (depths.get(edge.target, 0) for edge in edges(name, routers[name]))
        depths[name] = 1 + max(below, default=0)
    return depths.get(ROOT, 0)


def steps_of(routers: Mapping[str, InferenceRouter]) -> Iterator[tuple[str, int, InferenceStep]]:
    """Every step with its node and its number, nodes by name."""
    for name in sorted(routers):
        for i, step in enumerate(routers[name].steps):
            yield name, i, step


def calls(routers: Mapping[str, InferenceRouter], way: Walk) -> int:
    """How many services one request asks at most; for graphs without circles."""
    counts: dict[str, int] = {}
    for name in way.reached:
        router = routers[name]
        steps = [counts.get(step.node_name, 0) if step.node_name else 1 for step in router.steps]
        counts[name] = sum(steps) if router.router_type in RUN_ALL else max(steps, default=0)
    return counts.get(ROOT, 0)
