"""What a topology is made of: nodes and edges. Knows neither objects nor any language that pictures are written in."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.diagnostics import ObjectRef, Span


class NodeKind(StrEnum):
    """What a node stands for."""

    CLIENT = "client"
    GATEWAY = "gateway"
    ROUTE = "route"
    SERVICE = "service"
    POOL = "pool"
    WORKLOAD = "workload"
    REVISION = "revision"
    STEP = "step"
    MODEL = "model"
    UNIT = "unit"
    ADDRESS = "address"
    NAMESPACE = "namespace"


class Node(NamedTuple):
    """A thing that requests come to or models come from.

    `key` tells it from the other nodes of its topology, and is the same in every run. `lines` is what is told of it,
    its name first, each fit for one line of a label. `ref` is the object that it stands for, if it is one: of a `unit`
    the user's object, of all others what is deployed. `owner` is the user's object that it is made of; `span` is where
    it was written.
    """

    key: str
    kind: NodeKind
    lines: tuple[str, ...]
    ref: ObjectRef | None = None
    owner: ObjectRef | None = None
    span: Span | None = None


class Edge(NamedTuple):
    """A way from one node to another, by their keys.

    `text` says which requests take it: a share, a condition, a path. `is_aside`: no request takes it, but what is at
    its start asks or reads what is at its end.
    """

    source: str
    target: str
    text: str = ""
    is_aside: bool = False


class Topology(NamedTuple):
    """Nodes and edges, those first that requests come to first. `note` says what was folded, if anything was."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    note: str = ""


Part: TypeAlias = "Node | Edge"


def collected(title: str, parts: Iterable[Part], note: str = "") -> Topology:
    """A topology of its parts: of nodes with one key the first counts, edges that say nothing are there once."""
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    bare: set[Edge] = set()
    for part in parts:
        if isinstance(part, Node):
            nodes.setdefault(part.key, part)
        elif part not in bare:
            edges.append(part)
            bare.update({part} if not part.text else ())
    return Topology(title, tuple(nodes.values()), tuple(edges), note)
