"""Placing: whether a node of a pool can take a pod, and if not, what keeps it away.

Decides by what the scheduler filters by: node selector and required node affinity, taints, and the room of an empty
node. Affinity to other pods, topology spread and volumes are not looked at. Labels that the kubelet and clouds give
every node, and that a pool does not state, may have any value.
Kubernetes: pkg/scheduler/framework/plugins/{nodeaffinity,tainttoleration,noderesources}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.nodes import CPU, MEMORY, shown_units
from kservec.core.paths import lookup
from kservec.core.selectors import satisfies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.capacity.needs import Member, Need
    from kservec.core.nodes import NodePool, Taint
    from kservec.core.tree import Json, Path

AFFINITY: Final[Path] = ("affinity", "nodeAffinity")
TERMS: Final[Path] = (*AFFINITY, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
REPELLING: Final = ("NoSchedule", "NoExecute")
PRODUCT: Final = "nvidia.com/gpu.product"
"""The label that NVIDIA's feature discovery gives nodes."""
GIVEN: Final = ("kubernetes.io/", "node.kubernetes.io/", "topology.kubernetes.io/", "beta.kubernetes.io/")
"""Prefixes of labels that nodes have without anybody stating them."""
AMOUNTS: Final[Path] = ("containers",)
UNLIMITED: Final = ("ephemeral-storage",)
"""Resources that every node has some of, whether a pool says so or not."""


class Obstacle(NamedTuple):
    """What keeps pods away from the nodes of a pool, and which part of their spec leads to it."""

    reason: str
    path: Path

    @property
    def is_amount(self) -> bool:
        """Whether a node has too little, and nothing else keeps the pods away."""
        return self.path == AMOUNTS


def obstacle(member: Member, pool: NodePool) -> Obstacle | None:
    """What keeps a pod away from an empty node of a pool; None if nothing does."""
    return next((found for found in obstacles(member, pool)), None)


def obstacles(member: Member, pool: NodePool) -> Iterator[Obstacle]:
    """Everything that keeps a pod away from an empty node of a pool."""
    labels = labels_of(pool)
    for key, value in (member.spec.get("nodeSelector") or {}).items():
        if not may_have(labels, key, [value]):
            has = f"has {key}={labels[key]}" if key in labels else f"has no label {key}"
            yield Obstacle(f"{has}, and the node selector wants {key}={value}", ("nodeSelector",))
    terms = lookup(member.spec, TERMS)
    if terms and not any(meets(term, labels) for term in terms):
        yield Obstacle("no term of the node affinity is met", AFFINITY)
    for taint in pool.taints:
        if taint.effect in REPELLING and not is_tolerated(taint, member.spec.get("tolerations") or ()):
            yield Obstacle(f"the taint {taint} is not tolerated", ("tolerations",))
    yield from shortages(member, pool)


def shortages(member: Member, pool: NodePool) -> Iterator[Obstacle]:
    """Resources of which a pod needs more than a node has."""
    for name, amount in member.amounts.items():
        has = pool.room.get(name, 0)
        if amount > has and name not in UNLIMITED:
            needs = f"the pod needs {shown_units(name, amount)}"
            if has:
                unit = {CPU: "CPUs", MEMORY: "of memory"}.get(name, f"of {name}")
                yield Obstacle(f"a node has {shown_units(name, has)} {unit}, and {needs}", AMOUNTS)
            else:
                others = ", ".join(f"{device.number} of {device.resource}" for device in pool.devices)
                instead = f" (a node has {others})" if others and "/" in name else ""
                yield Obstacle(f"has no {name}{instead}, and {needs}", AMOUNTS)


def group_shortage(need: Need, pool: NodePool) -> str:
    """Of what a whole group needs more than all nodes of a pool have; empty if a sum suffices.

    The pods of a group talk to each other all the time, so they are looked for within one pool.
    """
    for name, amount in need.amounts.items():
        has = pool.room.get(name, 0) * pool.most
        if amount > has and name not in UNLIMITED:
            return (
                f"a group of {need.size} pods needs {shown_units(name, amount)} of {name}, and all nodes together "
                f"have {shown_units(name, has)}"
            )
    return ""


def labels_of(pool: NodePool) -> Mapping[str, str]:
    """The labels of the nodes: those that the pool states, and the kind of its whole GPUs."""
    kind = next((device.kind for device in pool.devices if device.kind and not device.is_partition), "")
    return {**({PRODUCT: kind} if kind else {}), **pool.labels}


def may_have(labels: Mapping[str, str], key: str, values: Sequence[str]) -> bool:
    """Whether a node may have one of some values for a label."""
    return labels[key] in values if key in labels else key.startswith(GIVEN)


def meets(term: Json, labels: Mapping[str, str]) -> bool:
    """Whether a node may meet a term: all its expressions. Names of nodes are not known, so any may be right."""
    return all(
        satisfies(labels, expression)
        for expression in term.get("matchExpressions") or ()
        if expression["key"] in labels or not expression["key"].startswith(GIVEN)
    )


def is_tolerated(taint: Taint, tolerations: Sequence[Json]) -> bool:
    """Whether pods tolerate a taint.

    Kubernetes: staging/src/k8s.io/api/core/v1/toleration.go, ToleratesTaint
    """
    return any(tolerates(toleration, taint) for toleration in tolerations)


def tolerates(toleration: Json, taint: Taint) -> bool:
    """Whether a toleration is about a taint; one without a key is about all."""
    effect, key = toleration.get("effect"), toleration.get("key")
    exists = bool(toleration.get("operator") == "Exists")
    if effect not in (None, "", taint.effect):
        return False
    if key in (None, ""):
        return exists
    return bool(key == taint.key and (exists or (toleration.get("value") or "") == taint.value))
