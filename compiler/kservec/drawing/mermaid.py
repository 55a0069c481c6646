"""Pictures in Mermaid's language, which Git forges show in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.drawing.metrics import row_lines
from kservec.topology.values import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.topology.values import Node, Topology

BOX = ('["', '"]')
BRACKETS = {
    NodeKind.CLIENT: ('(["', '"])'),
    NodeKind.UNIT: ('(["', '"])'),
    NodeKind.MODEL: ('[("', '")]'),
    NodeKind.ADDRESS: ('>"', '"]'),
    NodeKind.GATEWAY: ('{{"', '"}}'),
    NodeKind.NAMESPACE: ('[["', '"]]'),
}
"""The brackets that give a node its shape; all others have `BOX`."""
_find_special = re.compile(r"[^\w .,:/=+*@$'()-]")


def mermaid(topologies: Sequence[Topology]) -> str:
    """A flowchart; each topology is a subgraph."""
    lines = ["flowchart LR"]
    for i, topology in enumerate(topologies):
        title = f"{topology.title}: {topology.note}" if topology.note else topology.title
        lines += [f'  subgraph g{i}["{text(title)}"]', *contents(topology, f"g{i}"), "  end"]
    return "\n".join((*lines, ""))


def contents(topology: Topology, prefix: str) -> Iterator[str]:
    """The nodes and edges of a topology."""
    names = {node.key: f"{prefix}b{i}" for i, node in enumerate(topology.nodes)}
    for node in topology.nodes:
        yield f"    {names[node.key]}{shaped(node)}"
    for edge in topology.edges:
        label = f'|"{joined(row_lines(edge.text))}"|' if edge.text else ""
        yield f"    {names[edge.source]} {'-.->' if edge.is_aside else '-->'}{label} {names[edge.target]}"


def shaped(node: Node) -> str:
    """The text of a node in the brackets that give it its shape."""
    left, right = BRACKETS.get(node.kind, BOX)
    return f"{left}{joined(node.lines)}{right}"


def joined(lines: Sequence[str]) -> str:
    """Lines of text below one another."""
    return "<br/>".join(map(text, lines))


def text(plain: str) -> str:
    """A text in which nothing means anything to Mermaid or to HTML: other characters are written by their number."""
    return _find_special.sub(lambda found: f"#{ord(found[0])};", plain)
