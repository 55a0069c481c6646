"""The shape of a graph: a root, nodes that exist, have steps and are reached, and no way round in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.graphs.nodes import calls, depth
from kservec.core.records import evolve
from kservec.core.spelling import closest, meant_name
from kservec.spec.graph import ROOT, SPLITTER
from kservec.spec.graph_texts import MOST_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.graphs.nodes import Edge
    from kservec.core.tree import Path

MOST_NESTED = 101
"""Nodes inside one another that kservec-router takes, the root included."""

NO_ROOT = Code(
    "graph/no-root",
    Severity.ERROR,
    "a graph without a root",
    "Every request begins at the node with the name `root`.",
)
UNKNOWN_NODE = Code(
    "graph/unknown-node",
    Severity.ERROR,
    "a step to a node that does not exist",
    "`nodeName` names another node of the same graph. KServe accepts any name, and its router answers with status 500 "
    "when a request comes to the step.",
)
EMPTY_NODE = Code(
    "graph/empty-node",
    Severity.ERROR,
    "a node without steps",
    "A node does nothing but take its steps. KServe accepts one without, and its router answers with nothing.",
)
UNREACHED = Code(
    "graph/unreachable-node",
    Severity.WARNING,
    "a node that no request comes to",
    "No step leads from the root to the node, so what stands in it has no effect.",
)
CYCLE = Code(
    "graph/cycle",
    Severity.ERROR,
    "nodes that lead back to themselves",
    "A request would go round in a circle for ever: KServe's router does so until it has no memory left.",
)
TOO_DEEP = Code(
    "graph/too-deep",
    Severity.ERROR,
    "nodes that are nested too deep",
    "A node that is a step of another runs inside it. The router takes 101 nodes inside one another, with the root.",
)


TOO_MANY_CALLS = Code(
    "graph/too-many-calls",
    Severity.ERROR,
    "one request leads to too many calls",
    "A node that several steps lead to runs once for each of them, so that a few nodes can ask for millions of calls. "
    "The router makes 1,000 for one request, or as many as the graph has steps.",
)


def check_root(subject: GraphSubject) -> Iterator[Diagnostic]:
    """KServe: inference_graph_validation.go, validateInferenceGraphRouterRoot."""
    if ROOT not in subject.routers:
        meant = closest(ROOT, subject.routers)
        hint = f"rename {meant}, or add a node {ROOT}" if meant else f"name the first node {ROOT}"
        yield subject.site.finding(NO_ROOT, f"the graph has no node {ROOT}", ("spec", "nodes"), hint)


def check_nodes(subject: GraphSubject) -> Iterator[Diagnostic]:
    """Nodes that do nothing, and nodes that nothing leads to."""
    for name in subject.reached:
        router = subject.routers[name]
        if not router.steps and router.router_type != SPLITTER:  # the weights of a Splitter tell
            message, path = f"node {name} has no steps", ("spec", "nodes", name)
            yield subject.site.finding(EMPTY_NODE, message, path, "give it steps, or remove it")
    for name in sorted(subject.routers.keys() - {*subject.reached, ROOT}) if ROOT in subject.routers else ():
        message, path = f"no request comes to node {name}", ("spec", "nodes", name)
        hint = f"let a step lead to it (nodeName: {name}), or remove it"
        yield evolve(
            subject.site.finding(UNREACHED, message, path, hint), span=subject.site.source.document.key_span(path)
        )


def check_ways(subject: GraphSubject) -> Iterator[Diagnostic]:
    """Steps to other nodes: those that lead nowhere, those that lead back, and too long a way down."""
    for place in subject.places():
        target = place.step.node_name
        if target and target not in subject.routers:
            meant = meant_name(target, subject.routers)
            hint = f"did you mean {meant}?" if meant else "add the node, or correct the name"
            yield subject.site.finding(
                UNKNOWN_NODE, f"{place}: there is no node {target}", (*place.path, "nodeName"), hint
            )
    for circle in subject.walk.cycles:
        yield cycle(subject, circle)
    nested = 0 if subject.walk.cycles else depth(subject.routers, subject.walk)
    if nested > MOST_NESTED:
        message = f"up to {nested} nodes run inside one another; the router takes {MOST_NESTED}"
        hint = "let steps of one Sequence follow one another, or call another graph"
        yield subject.site.finding(TOO_DEEP, message, ("spec", "nodes"), hint)
    made = 0 if subject.walk.cycles else calls(subject.routers, subject.walk)
    most = max(MOST_CALLS, sum(len(router.steps) for router in subject.routers.values()))
    if made > most:
        message = f"one request leads to {made} calls; the router makes {most}"
        hint = "let fewer steps lead to the same node, or call another graph"
        yield subject.site.finding(TOO_MANY_CALLS, message, ("spec", "nodes"), hint)


def cycle(subject: GraphSubject, circle: tuple[Edge, ...]) -> Diagnostic:
    """The error about one circle, at the step that closes it."""
    names = [*(edge.node for edge in circle), circle[-1].target]
    *before, last = circle
    message = f"the nodes go round in a circle: {' -> '.join(names)}"
    found = subject.site.finding(CYCLE, message, edge_path(last), "let the last step lead elsewhere")
    span = subject.site.source.span
    return evolve(found, related=tuple((span(*edge_path(e)), f"{e.node} leads to {e.target}") for e in before))


def edge_path(edge: Edge) -> Path:
    """Where a step names the node that it leads to."""
    return ("spec", "nodes", edge.node, "steps", edge.step, "nodeName")
