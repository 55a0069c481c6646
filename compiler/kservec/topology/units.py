"""Units: the way of requests through what one object of a user's led to.

Decides what leads from one object to the next. Reads deployed objects alone, so that patches and manifests of users'
own count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.shapes import map_at
from kservec.topology.knative import traffic_parts
from kservec.topology.labels import line
from kservec.topology.names import CORE, KNATIVE, SERVICE, Name
from kservec.topology.nodes import CLIENTS, EXTERNAL, HEADLESS, INSIDERS, POOL, gateway_node, node_of, onward
from kservec.topology.pods import is_prefill, workload_parts
from kservec.topology.routes import ways
from kservec.topology.steps import address_node
from kservec.topology.values import Edge, Node, NodeKind, collected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.topology.inventory import Inventory, Item
    from kservec.topology.routes import Route
    from kservec.topology.values import Part, Topology

PICKERS = ("endpointPickerRef", "extensionRef")
ORDER = tuple(NodeKind)
"""Nodes of the kinds that requests come to first are named first."""


def unit_topology(inventory: Inventory, owner: ObjectRef) -> Topology:
    """What one object of a user's led to, from the clients to the models.

    Args:
        inventory: all that is deployed.
        owner: the user's object. What another one led to is a single node.
    """
    own = inventory.owned.get(owner, ())
    parts = [part for item in own for part in (*parts_of(item, inventory), *foreign_parts(item, inventory))]
    parts += client_parts(parts)
    whole = collected(line(str(owner)), parts)
    nodes = sorted(whole.nodes, key=lambda node: ORDER.index(node.kind))
    place = {node.key: i for i, node in enumerate(nodes)}
    edges = sorted(whole.edges, key=lambda edge: place[edge.source])
    return whole._replace(nodes=tuple(nodes), edges=tuple(edges))


def parts_of(item: Item, inventory: Inventory) -> Iterator[Part]:
    """The node of an object, and what leads on from it."""
    node = node_of(item, inventory)
    if node is None:
        return
    yield node
    if (route := inventory.routes.get(item.name)) is not None:
        yield from route_parts(node, route, inventory)
    elif item.ref.group == KNATIVE:
        yield from traffic_parts(node, item, inventory)
    elif item.ref.kind == SERVICE:
        yield from service_parts(node, item, inventory)
    elif item.ref.kind == POOL:
        yield from pool_parts(node, item, inventory)
    else:
        yield from workload_parts(node, item, inventory)


def route_parts(node: Node, route: Route, inventory: Inventory) -> Iterator[Part]:
    """The gateways of a route, and where it leads."""
    yield from entry_parts(node, route)
    for way in ways(route):
        if way.target.name is not None:
            yield from onward(node, way.target.name, inventory, way.text)
        else:
            address = address_node(way.target.host)
            yield address
            yield Edge(node.key, address.key, way.text)


def entry_parts(node: Node, route: Route) -> Iterator[Part]:
    """What leads to a route: its gateways, and clients in the mesh."""
    for name in route.gateways:
        gateway = gateway_node(name)
        yield gateway
        yield Edge(gateway.key, node.key)
    if route.in_mesh:
        yield INSIDERS
        yield Edge(INSIDERS.key, node.key)


def foreign_parts(item: Item, inventory: Inventory) -> Iterator[Part]:
    """The routes to an object that others own: manifests of a user's own, or a route of another unit."""
    for other in inventory.leading.get(item.name, ()):
        node, route = node_of(other, inventory), inventory.routes.get(other.name)
        if other.owner != item.owner and node is not None and route is not None:
            yield node
            yield from entry_parts(node, route)
            own = (way for way in ways(route) if way.target.name == item.name)
            yield from (Edge(node.key, item.name.key, way.text) for way in own)


def service_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The pods of a Service, or the gateway or host that it is another name of."""
    spec = map_at(item.value, "spec")
    if spec.get("type") == EXTERNAL:
        host = str(spec.get("externalName", ""))
        target = next(gateways_at(host, item, inventory), None) or address_node(host)
        yield target
        yield Edge(node.key, target.key)
        return
    for workload in inventory.selected(item.ref.namespace, map_at(spec, "selector")):
        yield from onward(node, workload.name, inventory)


def gateways_at(host: str, item: Item, inventory: Inventory) -> Iterator[Node]:
    """The gateways that the routes of a unit are attached to and that have the name of a host.

    Istio calls the Service of a gateway as it likes; KServe's configuration of Knative gives both one name.
    """
    name = host.partition(".")[0]
    for other in inventory.owned.get(item.owner, ()):
        route = inventory.routes.get(other.name)
        yield from (gateway_node(gateway) for gateway in (route.gateways if route else ()) if gateway.name == name)


def pool_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The pods of an InferencePool, and the scheduler that picks one of them for each request.

    Pods that only begin requests are called by those that finish them, though both are of the pool.
    """
    spec = map_at(item.value, "spec")
    picker = next((found for field in PICKERS if (found := map_at(spec, field))), None)
    if picker is not None:
        name = Name(CORE, SERVICE, item.ref.namespace, str(picker.get("name", "")))
        yield from onward(node, name, inventory, "asks which pod", is_aside=True)
    selector = map_at(spec, "selector", "matchLabels") or map_at(spec, "selector")
    selected = inventory.selected(item.ref.namespace, selector)
    finishing = [workload for workload in selected if not is_prefill(workload)]
    for workload in finishing or selected:
        yield from onward(node, workload.name, inventory)


def client_parts(parts: Sequence[Part]) -> Iterator[Part]:
    """Clients: from outside at the gateways, from inside at Services that nothing else leads to.

    Headless Services beside others are not for clients: the pods of a group find each other by them.
    """
    nodes = {part.key: part for part in parts if isinstance(part, Node)}
    led_to = {part.target for part in parts if isinstance(part, Edge)}
    called = [node for node in nodes.values() if node.kind is NodeKind.SERVICE and node.key not in led_to]
    with_address = [node for node in nodes.values() if node.kind is NodeKind.SERVICE and not is_headless(node)]
    for node in nodes.values():
        if node.kind is NodeKind.GATEWAY and node.key not in led_to:
            yield CLIENTS
            yield Edge(CLIENTS.key, node.key)
        if node in called and (node in with_address or not with_address):
            yield INSIDERS
            yield Edge(INSIDERS.key, node.key)


def is_headless(node: Node) -> bool:
    """Whether a Service has no address of its own."""
    return node.lines[-1].endswith(HEADLESS)
