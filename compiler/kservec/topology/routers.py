"""Routers: the graph that the router of an InferenceGraph was told, as it is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kservec.compare.shapes import map_at, maps_at
from kservec.core.graphs.router_pod import FILE
from kservec.core.names import GRAPH_VOLUME
from kservec.spec.graph import ROOT, InferenceRouter
from kservec.spec.graph_texts import url_problem
from kservec.topology.inventory import templates
from kservec.topology.models import json_of
from kservec.topology.names import CORE, Name
from kservec.topology.nodes import reached
from kservec.topology.steps import address_node, graph_parts, shown_url, step_key
from kservec.topology.values import Edge
from kservec.topology.workloads import option_values, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.paths import Json
    from kservec.spec.graph import InferenceStep
    from kservec.topology.inventory import Inventory, Item
    from kservec.topology.values import Node, Part

GRAPH_OPTION = "--graph-json"
TEXTS = ("name", "nodeName", "serviceName", "serviceUrl", "data", "condition", "dependency")
WEIGHT, RENAMES = "weight", "mapPredictionsToInstances"


def router_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The nodes of the graph that a router was told, and whom its steps call."""
    routers = {name: InferenceRouter.read(json) for name, json in told_nodes(item, inventory).items()}
    if not routers:
        return

    def called(step: InferenceStep) -> Node:
        host = None if url_problem(step.service_url) else urlsplit(step.service_url).hostname
        found = inventory.at_host(host, item.ref.namespace) if host else None
        return (
            address_node(shown_url(step.service_url)) if found is None else reached(found.name, item.owner, inventory)
        )

    parts = graph_parts(routers, lambda name: inventory.span_of(item.owner, ("spec", "nodes", name)), called)
    yield from parts
    if ROOT in routers:
        yield Edge(node.key, step_key(ROOT))


def told_nodes(item: Item, inventory: Inventory) -> dict[str, Json]:
    """The nodes of the graph that a router was told by its arguments or a ConfigMap; none where it cannot be read."""
    for _, template in templates(item):
        for volume in maps_at(template, "spec", "volumes"):
            if volume.get("name") == GRAPH_VOLUME:
                name = Name(CORE, "ConfigMap", item.ref.namespace, str(map_at(volume, "configMap").get("name", "")))
                held = inventory.items.get(name)
                return checked_nodes(json_of(map_at(held.value, "data").get(FILE) if held is not None else None))
        for container in maps_at(template, "spec", "containers"):
            for text in option_values(words_of(container), GRAPH_OPTION):
                return checked_nodes(json_of(text.replace("$$", "$")))
    return {}


def checked_nodes(graph: Json) -> dict[str, Json]:
    """The nodes of a graph, without what is not of the type that it should be: a patch may have written anything."""
    nodes = map_at(graph, "nodes")
    return {
        name: {
            "routerType": str(map_at(node).get("routerType", "")),
            "steps": [checked_step(step) for step in maps_at(node, "steps")],
        }
        for name, node in nodes.items()
    }


def checked_step(step: dict[str, Json]) -> dict[str, Json]:
    """A step, without what is not of the type that it should be."""
    texts = {field: step[field] for field in TEXTS if isinstance(step.get(field), str)}
    weight = {WEIGHT: step[WEIGHT]} if isinstance(step.get(WEIGHT), int) else {}
    return {**texts, **weight, RENAMES: step.get(RENAMES) is True}
