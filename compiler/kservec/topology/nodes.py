"""Nodes: which deployed objects are drawn, and what is told of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.shapes import map_at
from kservec.topology.labels import broken, line
from kservec.topology.names import CORE, KNATIVE, SERVICE
from kservec.topology.values import Edge, Node, NodeKind
from kservec.topology.workloads import is_workload, kind_of, told_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.topology.inventory import Inventory, Item
    from kservec.topology.models import Model
    from kservec.topology.names import Name
    from kservec.topology.values import Part

POOL = "InferencePool"
EXTERNAL, HEADLESS = "ExternalName", "headless"
NOT_HERE = "not here"
HOSTS_SHOWN = 3

CLIENTS = Node("clients", NodeKind.CLIENT, ("clients",))
INSIDERS = Node("clients in the cluster", NodeKind.CLIENT, ("clients in the cluster",))


def node_of(item: Item, inventory: Inventory) -> Node | None:
    """The node of a deployed object; None for one that requests do not come to."""
    told = about(item, inventory)
    if told is None:
        return None
    kind, lines = told
    span = item.span("metadata", "name") or inventory.span_of(item.owner)
    return Node(item.name.key, kind, (*broken(item.ref.name), *map(line, lines)), item.ref, item.owner, span)


def about(item: Item, inventory: Inventory) -> tuple[NodeKind, Sequence[str]] | None:
    """What the node of an object is, and what is told of it besides its name."""
    if (route := inventory.routes.get(item.name)) is not None:
        return NodeKind.ROUTE, (item.ref.kind, *shown_hosts(route.hosts))
    if is_service(item):
        return NodeKind.SERVICE, (service_kind(item),)
    if item.ref.kind == POOL:
        return NodeKind.POOL, (f"{POOL}, {item.ref.api_version.rpartition('/')[2]}",)
    if is_workload(item):
        return NodeKind.WORKLOAD, tuple(told_of(item, inventory))
    return None


def service_kind(item: Item) -> str:
    """What kind of Service one is."""
    spec = map_at(item.value, "spec")
    if spec.get("type") == EXTERNAL:
        return f"Service, {EXTERNAL}"
    return f"{kind_of(item)}, {HEADLESS}" if spec.get("clusterIP") == "None" else kind_of(item)


def shown_hosts(hosts: Sequence[str]) -> Iterator[str]:
    """The hosts of a route, a line for each of the first."""
    for host in hosts[:HOSTS_SHOWN]:
        yield from broken(host)
    if len(hosts) > HOSTS_SHOWN:
        yield f"and {len(hosts) - HOSTS_SHOWN} more hosts"


def reached(name: Name, owner: ObjectRef, inventory: Inventory) -> Node:
    """The node of an object that one of a unit leads to: of another unit's that unit stands for it."""
    item = inventory.items.get(name)
    if item is None:
        return missing(name)
    if item.owner != owner:
        return unit_node(item.owner, owner.namespace, inventory)
    return node_of(item, inventory) or missing(name)


def onward(node: Node, name: Name, inventory: Inventory, text: str = "", *, is_aside: bool = False) -> Iterator[Part]:
    """What leads from a node of a unit to an object: an edge, and the node at its end if that is of another unit."""
    item = inventory.items.get(name)
    if item is not None and item.owner == node.owner and is_drawn(item, inventory):
        yield Edge(node.key, name.key, text, is_aside)
        return
    assert node.owner is not None
    target = reached(name, node.owner, inventory)
    yield target
    yield Edge(node.key, target.key, text, is_aside)


def is_drawn(item: Item, inventory: Inventory) -> bool:
    """Whether requests come to an object, so that it is a node of its unit."""
    return item.name in inventory.routes or is_service(item) or item.ref.kind == POOL or is_workload(item)


def is_service(item: Item) -> bool:
    """Whether an object is a Service, of the core group or Knative's."""
    return item.ref.kind == SERVICE and item.ref.group in (CORE, KNATIVE)


def missing(name: Name) -> Node:
    """The node of an object that is not among what is deployed."""
    kind = NodeKind.POOL if name.kind == POOL else NodeKind.SERVICE
    return Node(name.key, kind, (*broken(name.name), line(name.kind), NOT_HERE))


def unit_node(ref: ObjectRef, seen_from: str, inventory: Inventory) -> Node:
    """The node that stands for an object of a user's, as it is called in a namespace."""
    name = ref.name if ref.namespace == seen_from else f"{ref.namespace}/{ref.name}"
    return Node(str(ref), NodeKind.UNIT, (*broken(name), line(ref.kind)), ref, ref, inventory.span_of(ref))


def gateway_node(name: Name) -> Node:
    """The node of a gateway, or of the class of one, which is not among what is deployed."""
    called = f"{name.namespace}/{name.name}" if name.namespace else name.name
    return Node(name.key, NodeKind.GATEWAY, (*broken(called), line(name.kind)))


def model_node(model: Model, item: Item, inventory: Inventory) -> Node:
    """The node of a model of a workload."""
    span = (item.span(*model.path) if model.path else None) or inventory.span_of(item.owner)
    key = f"model {model.way} {model.place}"
    return Node(key, NodeKind.MODEL, (*broken(model.place), line(model.way)), owner=item.owner, span=span)
