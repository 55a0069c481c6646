"""Pictures of units for their pages: the way of requests, with links to what is drawn.

Decides where the nodes of a picture lead. What is drawn is the topology's business, how it looks the drawing's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.drawing.svg import svg
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.site.lines import value_of
from kservec.site.names import page_of, unit_stem
from kservec.topology.inventory import Item, inventory_of
from kservec.topology.units import unit_topology

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.site.subject import Gathered
    from kservec.topology.values import Node

PREFIX = "t-"
"""What ids in pictures begin with."""
LONE = 2
"""Of so few nodes a picture says nothing: a workload and its model."""


class Pictures:
    """Draws the units of an environment."""

    def __init__(self, found: Gathered) -> None:
        self._inventory = inventory_of(items_in(found))
        self._units = frozenset(facts.ref for facts in found.units)

    def picture_of(self, unit: ObjectRef, objects: Mapping[ObjectRef, str], root: str) -> str:
        """A unit as SVG that may stand in its page; empty where there is too little to draw.

        Args:
            unit: the unit.
            objects: where its objects are shown, from its page.
            root: what leads from its page to the site's folder.
        """

        def link(node: Node) -> str:
            if node.ref is not None and node.ref in objects:
                return objects[node.ref]
            other = next((ref for ref in (node.ref, node.owner) if ref in self._units and ref != unit), None)
            return f"{root}{page_of(unit_stem(other))}" if other is not None else ""

        topology = unit_topology(self._inventory, unit)
        if len(topology.nodes) <= LONE:
            return ""
        return svg([topology], prefix=PREFIX, link=link, inline=True)


def items_in(found: Gathered) -> Iterator[Item]:
    """Everything that is deployed. Trees are left out: nobody asks a picture where something was written."""
    for facts in found.units:
        yield from (Item(ref, value, facts.ref) for ref, value in facts.values)
    for rendered in found.objects:
        if rendered.place.split("/")[0] != GITOPS_FOLDER:
            yield Item(rendered.ref, value_of(rendered.text), rendered.owner)
