"""Pictures in the language of Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.drawing.metrics import row_lines
from kservec.topology.values import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.topology.values import Topology

SHAPES = {
    NodeKind.CLIENT: "ellipse",
    NodeKind.UNIT: "component",
    NodeKind.MODEL: "cylinder",
    NodeKind.ADDRESS: "note",
    NodeKind.GATEWAY: "hexagon",
    NodeKind.NAMESPACE: "tab",
}
"""The shapes of nodes; all others are boxes."""
BOX = "box"


def dot(topologies: Sequence[Topology]) -> str:
    """A directed graph; each topology is a cluster."""
    lines = ["digraph kservec {", "  rankdir=LR;", '  node [fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    for i, topology in enumerate(topologies):
        title = [topology.title, *([topology.note] if topology.note else [])]
        lines += [f"  subgraph cluster_{i} {{", f"    label={quoted(title)};", *contents(topology, i), "  }"]
    return "\n".join((*lines, "}", ""))


def contents(topology: Topology, number: int) -> Iterator[str]:
    """The nodes and edges of a topology."""
    names = {node.key: f"g{number}b{i}" for i, node in enumerate(topology.nodes)}
    for node in topology.nodes:
        yield f"    {names[node.key]} [shape={SHAPES.get(node.kind, BOX)}, label={quoted(node.lines)}];"
    for edge in topology.edges:
        looks = [f"label={quoted(row_lines(edge.text))}"] if edge.text else []
        looks += ["style=dashed"] if edge.is_aside else []
        ending = f" [{', '.join(looks)}]" if looks else ""
        yield f"    {names[edge.source]} -> {names[edge.target]}{ending};"


def quoted(lines: Sequence[str]) -> str:
    """Lines of text as a string, below one another."""
    plain = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(plain) + '"'
