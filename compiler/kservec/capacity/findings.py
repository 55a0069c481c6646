"""Findings: what of the rendered workloads does not fit onto the node pools, and how sure that is.

Decides what is certain (a pod that no empty node takes, a sum that is more than there is) and what only a trial says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.capacity.needs import Member, need_of, standing_of, summed
from kservec.capacity.placing import AMOUNTS, UNLIMITED, group_shortage, obstacle
from kservec.capacity.trial import homes_of, tried
from kservec.core.diagnostics import Code, ObjectRef, Severity
from kservec.core.nodes import shown_units
from kservec.core.schemas.faults import Fault
from kservec.policy.demands import Defaults, Replicas, demand_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kservec.capacity.needs import Need
    from kservec.capacity.trial import Left, Trial
    from kservec.core.nodes import NodePool
    from kservec.core.tree import Path
    from kservec.policy.scene import Scene

NO_NODE = Code(
    "policy/no-node-fits",
    Severity.ERROR,
    "pods that no node of the node pools can take",
    "The node pools of the Cluster document are all the nodes that there are or will be. The finding says for each "
    "pool what keeps the pods away from an empty node of it: labels, taints, a resource that it lacks or has too "
    "little of, a group of leader and workers that is larger than the pool. Change what the pods ask for, or declare "
    "the pool.",
)
EXCEEDED = Code(
    "policy/capacity-exceeded",
    Severity.ERROR,
    "workloads that need more than the node pools have",
    "With their fewest replicas the workloads that can run on certain pools only need more of a resource than all "
    "nodes of these have together: some pods would wait for ever. Add nodes, or ask for less.",
)
AT_MAX = Code(
    "policy/capacity-at-max",
    Severity.WARNING,
    "autoscalers that can ask for more than the node pools have",
    "With all workloads at their most replicas there is no room for all pods: the autoscaler of whichever comes last "
    "has no effect. Add nodes, or lower maxReplicas.",
)
PACKING = Code(
    "policy/capacity-packing",
    Severity.WARNING,
    "pods that a trial finds no node for, though there is enough of everything in all",
    "Sums suffice, but not every pod finds a node: what is free lies in pieces that are too small. The trial places "
    "the largest pods first, each on the first node that takes it (first fit decreasing); a scheduler may do better, "
    "or worse. Ask for amounts that divide a node, or add nodes.",
)
POOL = "NodePool"
SHOWN = 3


class Shortage(NamedTuple):
    """Workloads that find no room on some pools: the finding, and the pools, the first of which is where it is."""

    fault: Fault
    pools: tuple[NodePool, ...]


def check_placement(scene: Scene) -> Iterator[Fault]:
    """Pods of one object that no node of any pool can take."""
    standing = standing_of(scene) if scene.site.node_pools else None
    demand = demand_of(scene.ref, scene.body) if standing is not None else None
    if standing is None or demand is None or is_pinned(scene):
        return
    need = need_of(scene.owner, demand, standing, Defaults({}, {}))
    refusals = refusals_of(need, scene.site.node_pools) if need.replicas.most else []
    if refusals:
        by_reason: dict[str, list[str]] = {}
        for pool, reason, _ in refusals:
            by_reason.setdefault(reason, []).append(pool.name)
        told = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
        whose = "not every node that is meant can take" if need.is_everywhere else "no node pool can take"
        hint = "change what the pods ask for, or declare the nodes that they are meant for under nodePools"
        yield Fault(NO_NODE, nearest(refusals), f"{whose} its pods: {told}", help=hint)


def refusals_of(need: Need, pools: Sequence[NodePool]) -> list[tuple[NodePool, str, Path]]:
    """The pools that do not take a workload if none does; of what runs on every node those with too small nodes."""
    if need.is_everywhere:
        found = [(pool, obstacle(member, pool)) for pool in pools if pool.most for member in need.members]
        return [
            (pool, met.reason, place_of(need.members[0], met.path))
            for pool, met in found
            if met is not None and met.is_amount
        ]
    return [] if homes_of(need, pools) else [(pool, *refusal(need, pool)) for pool in pools]


def is_pinned(scene: Scene) -> bool:
    """Whether pods name their node, or get devices by claims, of which nothing is known here."""
    return any(pod.spec.get("nodeName") or pod.spec.get("resourceClaims") for pod in scene.pods)


def refusal(need: Need, pool: NodePool) -> tuple[str, Path]:
    """What keeps a replica away from a pool, and which part of the object leads to it."""
    if not pool.most:
        return "has no nodes", need.members[0].path
    for member in need.members:
        found = obstacle(member, pool)
        if found is not None:
            return found.reason, place_of(member, found.path)
    return group_shortage(need, pool), place_of(need.members[0], AMOUNTS)


def place_of(member: Member, path: Path) -> Path:
    """Where in an object a part of the spec of its pods is; for resources that of the container with most of them."""
    containers = member.spec.get("containers") or ()
    if path != AMOUNTS or not containers:
        return (*member.path, *path)
    asking = max(containers, key=lambda c: len((c.get("resources") or {}).get("limits") or ()))
    return (*member.path, "containers", asking.get("name", 0), "resources")


def nearest(reasons: Sequence[tuple[NodePool, str, Path]]) -> Path:
    """The part of the object to point at: what keeps it away from the pool that it otherwise fits best.

    Amounts are looked at last, so a pool whose obstacle is an amount lets the pods in otherwise.
    """
    paths = [path for _, _, path in reasons]
    return next((path for path in paths if path[-1] == "resources"), paths[0])


def rolled_out(need: Need) -> Need:
    """A workload with the replicas that it has while it is rolled out."""
    (fewest, most), surges = need.replicas, need.surges
    return need._replace(replicas=Replicas(fewest + surges.fewest, most + surges.most))


def shortages(needs: Sequence[Need], pools: Sequence[NodePool]) -> Iterator[Shortage]:
    """What does not fit of all workloads together, with their fewest replicas and, if these fit, with their most."""
    at_min = tried(needs, pools, fewest)
    yield from told(at_min, needs, pools, at_max=False)
    if not at_min.left:
        yield from told(tried(needs, pools, most), needs, pools, at_max=True)


def fewest(need: Need) -> int:
    """The fewest replicas of a workload."""
    return need.replicas.fewest


def most(need: Need) -> int:
    """The most replicas of a workload."""
    return need.replicas.most


def told(trial: Trial, needs: Sequence[Need], pools: Sequence[NodePool], *, at_max: bool) -> Iterator[Shortage]:
    """What a trial left over, by the pools that might have taken it."""
    groups: dict[tuple[str, ...], list[Left]] = {}
    for left in trial.left:
        groups.setdefault(tuple(sorted(pool.name for pool in left.pools)), []).append(left)
    for names, lefts in sorted(groups.items()):
        homes = tuple(pool for pool in pools if pool.name in names)
        bound = [need for need in needs if is_bound(need, pools, names)]
        over = excess(bound, homes, most if at_max else fewest)
        fault = packing(lefts, homes, at_max=at_max) if over is None else exceeded(over, bound, homes, at_max=at_max)
        yield Shortage(fault, homes)


def is_bound(need: Need, pools: Sequence[NodePool], names: Sequence[str]) -> bool:
    """Whether a workload can run on some of the named pools, and on no other."""
    homes = homes_of(need, pools)
    return bool(homes) and all(pool.name in names for pool in homes)


class Excess(NamedTuple):
    """A resource of which more is needed than there is."""

    resource: str
    needed: int
    has: int


def excess(needs: Sequence[Need], pools: Sequence[NodePool], count: Callable[[Need], int]) -> Excess | None:
    """A resource of which workloads need more than all nodes of pools have, GPUs first; None if there is none."""
    total = summed((need.amounts, count(need)) for need in needs)
    for name, amount in sorted(total.items(), key=lambda item: ("/" not in item[0], item[0])):
        has = sum(pool.room.get(name, 0) * pool.most for pool in pools)
        if amount > has and name not in UNLIMITED:
            return Excess(name, amount, has)
    return None


def exceeded(over: Excess, bound: Sequence[Need], pools: Sequence[NodePool], *, at_max: bool) -> Fault:
    """The finding that a sum is more than there is, with the workloads that need most of it."""
    name, count, level = (over.resource, most, "most") if at_max else (over.resource, fewest, "fewest")
    message = (
        f"{named(pools)} {shown_units(name, over.has)} of {name}, and what can only run there needs "
        f"{shown_units(name, over.needed)} with its {level} replicas"
    )
    asking = [need for need in bound if need.amounts.get(name) and count(need)]
    ranked = sorted(asking, key=lambda need: (-need.amounts[name] * count(need), need.ref))
    largest = (f"{n.ref.name} ({count(n)} x {shown_units(name, n.amounts[name])})" for n in ranked[:SHOWN])
    return Fault(
        AT_MAX if at_max else EXCEEDED, (), message, help=f"add nodes, or lower the largest: {', '.join(largest)}"
    )


def packing(lefts: Sequence[Left], pools: Sequence[NodePool], *, at_max: bool) -> Fault:
    """The finding that a trial found no node for pods, though sums suffice."""
    names = ", ".join(f"{left.replicas} of {left.need.ref.name}" for left in lefts[:SHOWN])
    rest = f" and of {len(lefts) - SHOWN} more" if len(lefts) > SHOWN else ""
    message = (
        f"{named(pools)} enough in all, but in a trial no node is left for {names}{rest}, with their "
        f"{'most' if at_max else 'fewest'} replicas"
    )
    alone = any(member.is_alone for left in lefts for member in left.need.members)
    hint = "pods that want a node of their own need as many nodes" if alone else "ask for amounts that divide a node"
    return Fault(AT_MAX if at_max else PACKING, (), message, help=f"{hint}, or add nodes")


def named(pools: Sequence[NodePool]) -> str:
    """Pools as the subject of a sentence."""
    if len(pools) == 1:
        return f"node pool {pools[0].name} has"
    return f"node pools {', '.join(pool.name for pool in pools[:-1])} and {pools[-1].name} together have"


def pool_ref(pool: NodePool) -> ObjectRef:
    """What waivers and findings call a pool."""
    return ObjectRef("kservec.dev/v1alpha1", POOL, "", pool.name)
