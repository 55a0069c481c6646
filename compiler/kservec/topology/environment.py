"""Environments: all that is deployed in one picture, folded where that would be too large to read.

Decides what is one node. A folded picture says so.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.workloads import NOTHING, Bounds
from kservec.report.words import plural
from kservec.topology.labels import broken, line
from kservec.topology.models import models_of
from kservec.topology.nodes import about, unit_node
from kservec.topology.routes import READERS
from kservec.topology.units import unit_topology
from kservec.topology.values import Edge, Node, NodeKind, Topology, collected
from kservec.topology.workloads import size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.topology.inventory import Inventory, Item
    from kservec.topology.values import Part

ONE = Bounds(1, 1)
MOST_OPEN, MOST_UNITS = 12, 40
"""How many of the users' objects are drawn with all that they led to, and how many as a node each."""
OUTER = frozenset({NodeKind.CLIENT, NodeKind.GATEWAY})
"""Nodes that belong to nobody, and are never folded."""


class Fold(StrEnum):
    """What is one node: each object, each of the users' objects, or each namespace; `auto` goes by the size."""

    AUTO = "auto"
    NONE = "none"
    UNITS = "units"
    NAMESPACES = "namespaces"


class Sum(NamedTuple):
    """What some objects are together: routes, replicas, GPUs, and models that they serve."""

    routes: int = 0
    replicas: Bounds = NOTHING
    gpus: Bounds = NOTHING
    models: int = 0


def environment_topology(inventory: Inventory, title: str, fold: Fold = Fold.AUTO) -> tuple[Topology, ...]:
    """All that is deployed: a topology for each of the users' objects, or one in which they are folded.

    Args:
        inventory: all that is deployed.
        title: what a folded picture is called.
        fold: what is one node.
    """
    owners = drawn_owners(inventory)
    chosen = fitting(owners) if fold is Fold.AUTO else fold
    units = [unit_topology(inventory, owner) for owner in owners]
    if chosen is Fold.NONE:
        return tuple(units)
    return (folded(units, owners, inventory, title, by_namespace=chosen is Fold.NAMESPACES),)


def drawn_owners(inventory: Inventory) -> list[ObjectRef]:
    """The users' objects that led to anything that requests or models come to, by namespace, name and kind."""
    owners = (owner for owner, items in inventory.owned.items() if any(about(item, inventory) for item in items))
    return sorted(owners, key=lambda ref: (ref.namespace, ref.name, ref.kind, ref.api_version))


def fitting(owners: Sequence[ObjectRef]) -> Fold:
    """How a number of the users' objects is folded."""
    if len(owners) <= MOST_OPEN:
        return Fold.NONE
    return Fold.UNITS if len(owners) <= MOST_UNITS else Fold.NAMESPACES


def folded(
    units: Sequence[Topology], owners: Sequence[ObjectRef], inventory: Inventory, title: str, *, by_namespace: bool
) -> Topology:
    """One topology in which each of the users' objects, or all of a namespace, is one node."""
    groups: dict[str, list[ObjectRef]] = {}
    for owner in owners:
        groups.setdefault(owner.namespace if by_namespace else str(owner), []).append(owner)
    group_of = {owner: key for key, members in groups.items() for owner in members}
    nodes = {
        key: namespace_node(key, members, inventory) if by_namespace else summed_node(members[0], inventory)
        for key, members in groups.items()
    }
    what = plural(len(groups), "namespace") if by_namespace else plural(len(owners), "object")
    note = f"folded: {plural(len(owners), 'object')} in {what}" if by_namespace else f"folded: {what}, a node each"
    outer = [node for unit in units for node in unit.nodes if node.kind in OUTER]
    parts: tuple[Part, ...] = (*outer, *nodes.values(), *merged(units, owners, group_of, nodes))
    return collected(line(title), parts, note)


def merged(
    units: Sequence[Topology], owners: Sequence[ObjectRef], group_of: Mapping[ObjectRef, str], nodes: Mapping[str, Node]
) -> Iterator[Edge]:
    """The edges between folded nodes, and how many calls of one unit by another each stands for."""
    calls: dict[tuple[str, str], int] = {}
    for unit, owner in zip(units, owners, strict=True):
        own = nodes[group_of[owner]].key
        ends = {node.key: end_of(node, own, group_of, nodes) for node in unit.nodes}
        called = {node.key for node in unit.nodes if node.kind is NodeKind.UNIT}
        for edge in unit.edges:
            pair = ends[edge.source], ends[edge.target]
            if pair[0] != pair[1]:
                calls[pair] = calls.get(pair, 0) + (edge.target in called)
    for (source, target), count in calls.items():
        yield Edge(source, target, plural(count, "call") if count > 1 else "")


def end_of(node: Node, own: str, group_of: Mapping[ObjectRef, str], nodes: Mapping[str, Node]) -> str:
    """The folded node that a node of a unit is in."""
    if node.kind in OUTER:
        return node.key
    group = group_of.get(node.owner) if node.owner is not None else None
    return nodes[group].key if group is not None else own


def summed_node(owner: ObjectRef, inventory: Inventory) -> Node:
    """The node of one of the users' objects, with what it led to in numbers."""
    node = unit_node(owner, "", inventory)
    return node._replace(lines=(*node.lines, *told(sum_of(inventory.owned[owner], inventory))))


def namespace_node(namespace: str, owners: Sequence[ObjectRef], inventory: Inventory) -> Node:
    """The node of a namespace, with what is in it in numbers."""
    kinds = Counter(owner.kind for owner in owners)
    items = [item for owner in owners for item in inventory.owned[owner]]
    counts = line(", ".join(plural(count, kind) for kind, count in sorted(kinds.items())))
    lines = (*broken(namespace or "the cluster"), counts, *told(sum_of(items, inventory)))
    return Node(f"namespace {namespace}", NodeKind.NAMESPACE, lines)


def sum_of(items: Sequence[Item], inventory: Inventory) -> Sum:
    """What some objects are together."""
    sized = [(item, size) for item in items if (size := size_of(item, inventory)) is not None]
    places = {model.place for item, _ in sized for model in models_of(item, inventory)}
    routes = sum(1 for item in items if (item.ref.group, item.ref.kind) in READERS)
    replicas = together(size.replicas for _, size in sized)
    gpus = together(size.replicas.times(size.gpus) for _, size in sized if size.gpus)
    return Sum(routes, replicas, gpus, len(places))


def together(bounds: Iterable[Bounds]) -> Bounds:
    """The sum of numbers from and to."""
    found = tuple(bounds)
    most = [bound.most for bound in found if bound.most is not None]
    return Bounds(sum(bound.least for bound in found), sum(most) if len(most) == len(found) else None)


def told(whole: Sum) -> Iterator[str]:
    """A sum in words, on a line or two."""
    counted = ((whole.replicas, "replica"), (whole.gpus, "GPU"))
    spreads = (f"{bounds} {noun}{'' if bounds == ONE else 's'}" for bounds, noun in counted if bounds != NOTHING)
    counts = (plural(count, noun) for count, noun in ((whole.routes, "route"), (whole.models, "model")) if count)
    yield from filter(None, (", ".join(spreads), ", ".join(counts)))
