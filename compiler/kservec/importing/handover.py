"""The hand-over: what changes when the objects that KServe made become those of the rendered tree.

Server-side apply leaves fields of others as they are: what is there afterwards is the tree's object laid over the live
one. Which of that restarts pods is forecast as for any other change of a tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.phrases import short_path
from kservec.compare.values import differences
from kservec.compare.workloads import canonical_pods, workload_of
from kservec.core.pods.strategic import merge

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json


class Taken(NamedTuple):
    """One object of the tree: whether the cluster has it, what would change, and what of that restarts its pods."""

    ref: ObjectRef
    is_new: bool
    changes: tuple[str, ...] = ()
    restarts: tuple[str, ...] = ()


class HandOver(NamedTuple):
    """The objects of the tree as they would be taken over, and those of KServe's that the tree does not have.

    `undecided` are those that belong to services which do not compile yet.
    """

    taken: tuple[Taken, ...]
    left: tuple[ObjectRef, ...]
    undecided: tuple[ObjectRef, ...] = ()


def hand_over(
    tree: Mapping[ObjectRef, Json], live: Mapping[ObjectRef, Json], undecided: Collection[ObjectRef] = ()
) -> HandOver:
    """What happens to each object.

    Args:
        tree: the rendered objects.
        live: the objects that KServe made.
        undecided: those among them that belong to services which do not compile.
    """
    there = {identity(ref): value for ref, value in live.items()}
    taken = tuple(take(ref, value, there.get(identity(ref))) for ref, value in sorted(tree.items()))
    kept = set(map(identity, tree))
    left = sorted(ref for ref in live if identity(ref) not in kept and ref not in undecided)
    return HandOver(taken, tuple(left), tuple(sorted(undecided)))


def identity(ref: ObjectRef) -> tuple[str, str, str, str]:
    """What makes two objects the same one: its version does not count."""
    return ref.group, ref.kind, ref.namespace, ref.name


def take(ref: ObjectRef, value: Json, live: Json | None) -> Taken:
    """What happens to one object."""
    if live is None:
        return Taken(ref, is_new=True)
    applied = merge(live, value)
    changes = tuple(difference.path for difference in differences(live, applied))
    workload = workload_of(ref)
    if workload is None:
        return Taken(ref, is_new=False, changes=changes)
    reasons = differences(canonical_pods(workload, live), canonical_pods(workload, applied))
    return Taken(ref, is_new=False, changes=changes, restarts=tuple(map(short_path, reasons)))
