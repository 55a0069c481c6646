"""Pods: which models the pods of a workload serve, and whom they call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.shapes import maps_at
from kservec.core.graphs.endpoints import GRAPH
from kservec.core.llm.names import ROLE_LABEL, SIDECAR
from kservec.core.serving.arguments import PREDICTOR_HOST
from kservec.topology.inventory import pod_labels, templates
from kservec.topology.models import models_of
from kservec.topology.nodes import model_node, onward
from kservec.topology.routers import router_parts
from kservec.topology.steps import address_node
from kservec.topology.values import Edge
from kservec.topology.workloads import option_values, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.topology.inventory import Inventory, Item
    from kservec.topology.values import Node, Part

PREFILL = "prefill"
HEAD = "HEAD_SVC"
"""The variable that tells workers the Service of their head."""


def workload_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The models of a workload, and whom its pods call."""
    yield from model_parts(node, item, inventory)
    if item.owner.kind == GRAPH:
        yield from router_parts(node, item, inventory)
    yield from predictor_parts(node, item, inventory)
    yield from head_parts(node, item, inventory)
    if is_prefill(item) or not has_sidecar(item):
        return
    for other in inventory.owned[item.owner]:
        if is_prefill(other):
            yield from onward(node, other.name, inventory, "prefill")


def model_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The models of a workload."""
    for model in models_of(item, inventory):
        target = model_node(model, item, inventory)
        yield target
        yield Edge(node.key, target.key, is_aside=True)


def predictor_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The predictor that a transformer or explainer calls."""
    for _, template in templates(item):
        for container in maps_at(template, "spec", "containers"):
            for host in option_values(words_of(container), PREDICTOR_HOST):
                found = inventory.at_host(host.partition(":")[0], item.ref.namespace)
                if found is not None:
                    yield from onward(node, found.name, inventory)
                else:
                    address = address_node(host)
                    yield address
                    yield Edge(node.key, address.key)


def head_parts(node: Node, item: Item, inventory: Inventory) -> Iterator[Part]:
    """The head that workers of a predictor over several nodes join."""
    for _, template in templates(item):
        for entry in (e for c in maps_at(template, "spec", "containers") for e in maps_at(c, "env")):
            head = inventory.service(item.ref.namespace, str(entry.get("value"))) if entry.get("name") == HEAD else None
            if head is not None:
                yield from onward(node, head.name, inventory, "joins", is_aside=True)


def is_prefill(item: Item) -> bool:
    """Whether the pods of a workload only begin requests, which others finish."""
    return any(labels.get(ROLE_LABEL) == PREFILL for labels in pod_labels(item))


def has_sidecar(item: Item) -> bool:
    """Whether something beside the server of a workload sends requests to pods that begin them."""
    found = (c for _, template in templates(item) for c in maps_at(template, "spec", "initContainers"))
    return any(container.get("name") == SIDECAR for container in found)
