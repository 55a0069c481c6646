"""Knative: the revisions of a service, and which share of the requests each of them gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.shapes import map_at, maps_at
from kservec.topology.labels import broken, line, told
from kservec.topology.pods import workload_parts
from kservec.topology.values import Edge, Node, NodeKind
from kservec.topology.workloads import told_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.paths import Json
    from kservec.topology.inventory import Inventory, Item
    from kservec.topology.values import Part

LATEST = "the latest revision"
EARLIER = "an earlier revision, kept by the cluster"


def traffic_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The revisions of a Knative service; of the one that its template makes what its pods lead to, too."""
    for revision, text, is_own in revision_nodes(item, inventory):
        yield revision
        yield Edge(node.key, revision.key, text)
        if is_own:
            yield from workload_parts(revision, item, inventory)


def revision_nodes(item: Item, inventory: Inventory) -> Iterator[tuple[Node, str, bool]]:
    """The revisions that have traffic, what the edge to each says, and whether the template of the service makes it."""
    targets = maps_at(item.value, "spec", "traffic") or [{"latestRevision": True, "percent": 100}]
    own = str(map_at(item.value, "spec", "template", "metadata").get("name", ""))
    for target in targets:
        name = str(target.get("revisionName") or "")
        is_own = not name or name == own
        yield revision_node(item, own if is_own else name, inventory, is_own=is_own), share_of(target, targets), is_own


def revision_node(item: Item, name: str, inventory: Inventory, *, is_own: bool) -> Node:
    """The node of a revision."""
    lines = tuple(told_of(item, inventory))[1:] if is_own else (EARLIER,)
    path = ("spec", "template", "metadata", "name") if name and is_own else ("metadata", "name")
    span = item.span(*path) or inventory.span_of(item.owner)
    key = f"revision {item.ref.namespace}/{item.ref.name}/{'' if is_own else name}"
    return Node(key, NodeKind.REVISION, (*broken(name or LATEST), *map(line, lines)), item.ref, item.owner, span)


def share_of(target: Mapping[str, Json], targets: list[dict[str, Json]]) -> str:
    """What the edge to one of several revisions says: the share of the requests, and the tag."""
    tag = f"tag {target['tag']}" if target.get("tag") else ""
    share = f"{target.get('percent') or 0}%" if len(targets) > 1 else ""
    return told(share, tag)
