"""The trial: pods are placed on nodes one after the other, the largest first, each on the first node that takes it.

Decides where pods would fit, not where a scheduler puts them: first fit decreasing is a rule of thumb that may miss a
placement which exists. What must run on every node is placed before all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.capacity.needs import summed
from kservec.capacity.placing import UNLIMITED, group_shortage, obstacle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kservec.capacity.needs import Member, Need
    from kservec.core.nodes import NodePool


class Left(NamedTuple):
    """Replicas of a workload that no node was found for, and the pools that might have taken them."""

    need: Need
    replicas: int
    pools: tuple[NodePool, ...]


class Trial(NamedTuple):
    """What came of a trial: what each pool's pods use together, how many of its nodes have some, and what is left.

    Pods that no empty node takes are not among what is left: they were not tried.
    """

    used: Mapping[str, Mapping[str, int]]
    nodes: Mapping[str, int]
    left: tuple[Left, ...]


class Node:
    """A node as it fills up. `holds` are the templates whose pods want no other of their kind beside them.

    `pods` are those that are placed on it, without what every node has.
    """

    __slots__ = ("free", "holds", "pods")

    def __init__(self, room: Mapping[str, int], everywhere: Sequence[Member]) -> None:
        self.free = dict(room)
        self.pods = -len(everywhere)
        self.holds: set[int] = set()
        for member in everywhere:
            self.put(member)

    def takes(self, member: Member, wanted: int = 1) -> int:
        """How many more pods there is room for, of so many that are wanted."""
        if member.is_alone:
            wanted = 0 if id(member) in self.holds else min(wanted, 1)
        for name, amount in member.amounts.items():
            if name not in UNLIMITED and amount * wanted > (free := self.free.get(name, 0)):
                wanted = max(0, free) // amount
        return wanted

    def put(self, member: Member, times: int = 1) -> None:
        """Place so many pods, or with -1 take one away again."""
        for name, amount in member.amounts.items():
            self.free[name] = self.free.get(name, 0) - amount * times
        self.pods += times
        if member.is_alone:
            (self.holds.add if times > 0 else self.holds.discard)(id(member))


class Filling:
    """The nodes of a pool as they fill up. A node is looked at when those before it take no more."""

    def __init__(self, pool: NodePool, everywhere: Sequence[Member]) -> None:
        self.pool = pool
        self.nodes: list[Node] = []
        self.everywhere = everywhere
        self.passed: dict[int, int] = {}

    def place_all(self, members: Sequence[Member], replicas: int) -> int:
        """Place so many replicas, or as many as there is room for, and say how many these are."""
        if [member.pods for member in members] == [1]:
            return self.place_pods(members[0], replicas)
        placed = 0
        while placed < replicas and self.place_group(members):
            placed += 1
        return placed

    def place_pods(self, member: Member, wanted: int) -> int:
        """Place so many pods of one template, each for itself."""
        placed = 0
        while placed < wanted and (node := self.node_for(member)) is not None:
            times = node.takes(member, wanted - placed)
            node.put(member, times)
            placed += times
        return placed

    def place_group(self, members: Sequence[Member]) -> bool:
        """Place the pods of a replica, all or none."""
        done: list[tuple[Node, Member]] = []
        for member in (each for each in members for _ in range(each.pods)):
            node = self.node_for(member)
            if node is None:
                for placed, gone in reversed(done):
                    placed.put(gone, -1)
                if done:
                    self.passed.clear()
                return False
            node.put(member)
            done.append((node, member))
        return True

    def node_for(self, member: Member) -> Node | None:
        """The first node that takes a pod; None if no node does.

        Nodes only fill up, so those that did not take a pod of the same template need not be asked again.
        """
        for i in range(self.passed.get(id(member), 0), self.pool.most):
            if i == len(self.nodes):
                self.nodes.append(Node(self.pool.room, self.everywhere))
            if self.nodes[i].takes(member):
                self.passed[id(member)] = i
                return self.nodes[i]
        self.passed[id(member)] = self.pool.most
        return None

    @property
    def used(self) -> dict[str, int]:
        """What all pods use together, with those of the nodes that were not needed."""
        idle = summed((member.amounts, self.pool.most - len(self.nodes)) for member in self.everywhere)
        busy = summed(
            ({name: self.pool.room.get(name, 0) - free for name, free in node.free.items()}, 1) for node in self.nodes
        )
        return summed([(idle, 1), (busy, 1)])


def tried(needs: Sequence[Need], pools: Sequence[NodePool], count: Callable[[Need], int]) -> Trial:
    """Place the pods of workloads.

    Args:
        needs: the workloads.
        pools: the nodes, as many as there may be.
        count: how many replicas of a workload there are.
    """
    everywhere = [member for need in needs if need.is_everywhere for member in need.members]
    fillings = {
        pool.name: Filling(pool, [member for member in everywhere if obstacle(member, pool) is None]) for pool in pools
    }
    left: list[Left] = []
    for need, homes in sorted(placeable(needs, pools), key=lambda pair: (-share(*pair), pair[0].ref)):
        replicas = count(need)
        for pool in homes:
            replicas -= fillings[pool.name].place_all(need.members, replicas)
        if replicas:
            left.append(Left(need, replicas, homes))
    return Trial(
        used={name: filling.used for name, filling in fillings.items()},
        nodes={name: sum(node.pods > 0 for node in filling.nodes) for name, filling in fillings.items()},
        left=tuple(left),
    )


def placeable(needs: Sequence[Need], pools: Sequence[NodePool]) -> Iterator[tuple[Need, tuple[NodePool, ...]]]:
    """The workloads that can run at all, each with the pools that it is tried on, in their order."""
    for need in needs:
        homes = () if need.is_everywhere else homes_of(need, pools)
        if homes:
            yield need, homes


def homes_of(need: Need, pools: Sequence[NodePool]) -> tuple[NodePool, ...]:
    """The pools that take a replica of a workload, those with no GPUs that it leaves idle first."""
    taking = [
        pool
        for pool in pools
        if pool.most and not any(obstacle(member, pool) for member in need.members) and not group_shortage(need, pool)
    ]
    asked = need.amounts
    return tuple(sorted(taking, key=lambda pool: sum(device.resource not in asked for device in pool.devices)))


def share(need: Need, homes: Sequence[NodePool]) -> float:
    """How large a replica is: the largest share that it takes of the node that it fills least."""
    amounts = need.amounts
    return min(
        max((amount / pool.room[name] for name, amount in amounts.items() if pool.room.get(name)), default=0.0)
        for pool in homes
    )
