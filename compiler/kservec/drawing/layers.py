"""Layers: in which column a node stands, and above or below which others.

Columns go from the left to the right, each node right of all that lead to it. An edge that goes on over several columns
has a slot in each, so that it does not run behind boxes.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.topology.values import Topology

Slot: TypeAlias = "str | tuple[int, int]"
"""What has a place in a column: a node by its key, or an edge on its way by its number and the column."""

SWEEPS = 6
"""How often the order of the columns is made better, to and fro; more hardly ever helps."""


class Link(NamedTuple):
    """A part of an edge between two columns that follow each other: its ends, and the number of the edge."""

    left: Slot
    right: Slot
    edge: int


class Layers(NamedTuple):
    """The slots of each column from the top, and the links between them."""

    stacks: tuple[tuple[Slot, ...], ...]
    links: tuple[Link, ...]


def layers_of(topology: Topology) -> Layers:
    """The columns of a topology."""
    column = columns(topology)
    stacks: list[list[Slot]] = [[] for _ in range(1 + max(column.values(), default=0))]
    for node in topology.nodes:
        stacks[column[node.key]].append(node.key)
    links: list[Link] = []
    for number, edge in enumerate(topology.edges):
        last: Slot = edge.source
        for i in range(column[edge.source] + 1, column[edge.target]):
            stacks[i].append((number, i))
            links.append(Link(last, (number, i), number))
            last = (number, i)
        if column[edge.source] < column[edge.target]:
            links.append(Link(last, edge.target, number))
    return Layers(tuple(map(tuple, untangled(stacks, links))), tuple(links))


def columns(topology: Topology) -> dict[str, int]:
    """The column of each node, right of all that lead to it; ways back do not count.

    What the first node leads to stands as far left as it can, and what else leads to anything as far right.
    """
    following: dict[str, list[str]] = {node.key: [] for node in topology.nodes}
    for edge in topology.edges:
        following[edge.source].append(edge.target)
    order = forward_order(following)
    rank = {key: i for i, key in enumerate(order)}
    onward = {key: [t for t in dict.fromkeys(following[key]) if rank[t] > rank[key]] for key in order}
    column = dict.fromkeys(order, 0)
    reached = {node.key for node in topology.nodes[:1]}
    for key in order:
        reached.update(onward[key] if key in reached else ())
        for target in onward[key]:
            column[target] = max(column[target], column[key] + 1)
    for key in reversed(order):
        if key not in reached and onward[key]:
            column[key] = min(column[target] for target in onward[key]) - 1
    return column


def forward_order(following: Mapping[str, Sequence[str]]) -> list[str]:
    """The nodes in an order in which edges lead onward, but for those that close a circle to where it was entered."""
    done: dict[str, None] = {}
    for start in following:
        way = {start: iter(following[start])} if start not in done else {}
        while way:
            key = next(reversed(way))
            target = next((t for t in way[key] if t not in done and t not in way), None)
            if target is None:
                del way[key]
                done[key] = None
            else:
                way[target] = iter(following[target])
    return list(reversed(done))


def untangled(stacks: list[list[Slot]], links: Sequence[Link]) -> list[list[Slot]]:
    """The columns in an order in which few links cross: the best of some sweeps to the right and to the left."""
    before: dict[Slot, list[tuple[Slot, int]]] = {}
    after: dict[Slot, list[tuple[Slot, int]]] = {}
    for link in links:
        before.setdefault(link.right, []).append((link.left, link.edge))
        after.setdefault(link.left, []).append((link.right, link.edge))
    best = stacks = swept(stacks, before)
    fewest = crossings(stacks, links)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        stacks = swept(stacks[::-1], after)[::-1] if sweep % 2 == 0 else swept(stacks, before)
        count = crossings(stacks, links)
        if count < fewest:
            best, fewest = stacks, count
    return best


def swept(stacks: Sequence[list[Slot]], towards: Mapping[Slot, Sequence[tuple[Slot, int]]]) -> list[list[Slot]]:
    """Each column in the order of what its slots are linked with in the one before; of equals the first stays first.

    Of two links with one slot, that of the earlier edge is higher.
    """
    at: dict[Slot, float] = {}
    made: list[list[Slot]] = []
    for stack in stacks:
        number = {slot: i for i, slot in enumerate(stack)}

        def wish(slot: Slot, number: Mapping[Slot, int] = number) -> float:
            found = [at[other] + edge * 1e-6 for other, edge in towards.get(slot, ()) if other in at]
            return sum(found) / len(found) if found else float(number[slot])

        placed = sorted(stack, key=wish)
        at.update((slot, float(i)) for i, slot in enumerate(placed))
        made.append(placed)
    return made


def crossings(stacks: Sequence[Sequence[Slot]], links: Sequence[Link]) -> int:
    """How many links cross."""
    at = {slot: i for stack in stacks for i, slot in enumerate(stack)}
    column = {slot: i for i, stack in enumerate(stacks) for slot in stack}
    between: dict[int, list[tuple[int, int]]] = {}
    for link in links:
        between.setdefault(column[link.left], []).append((at[link.left], at[link.right]))
    return sum(inversions([right for _, right in sorted(pairs)]) for pairs in between.values())


def inversions(numbers: Sequence[int]) -> int:
    """How many pairs of numbers stand in the wrong order."""
    seen: list[int] = []
    count = 0
    for number in numbers:
        count += len(seen) - bisect_right(seen, number)
        insort(seen, number)
    return count
