"""The hand-over: what changes when the objects that KServe made become those of the rendered tree.

Server-side apply leaves fields of others as they are, so that only what the tree has, and the cluster has not, changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import index_of, is_keyed, item_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json, Path

TEMPLATES: Mapping[str, tuple[Path, ...]] = {
    "Deployment": (("spec", "template"),),
    "Service.serving.knative.dev": (("spec", "template"),),
    "LeaderWorkerSet": (
        ("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ),
}
"""Kinds that run pods, and where their templates are."""


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
    changes = tuple(changed_paths(value, live, ()))
    kind = f"{ref.kind}.{ref.group}" if ref.kind == "Service" and ref.group else ref.kind
    roots = TEMPLATES.get(kind, ())
    return Taken(
        ref,
        is_new=False,
        changes=tuple(map(shown, changes)),
        restarts=tuple(shown(path) for path in changes if any(path[: len(root)] == root for root in roots)),
    )


def changed_paths(value: Json, live: Json, path: Path) -> Iterator[Path]:
    """Where applying a value would change what is there; what only is there stays."""
    if isinstance(value, dict) and isinstance(live, dict):
        for key, part in value.items():
            if key in live:
                yield from changed_paths(part, live[key], (*path, key))
            elif part not in ({}, [], None):
                yield (*path, key)
    elif isinstance(value, list) and isinstance(live, list):
        yield from changed_items(value, live, path)
    elif value != live:
        yield path


def changed_items(items: list[Json], live: list[Json], path: Path) -> Iterator[Path]:
    """Where applying a list would change the one that is there: by names where items have names."""
    field = path[-1] if path and isinstance(path[-1], str) else ""
    if not (items and is_keyed(items, field) and is_keyed(live, field)):
        if len(items) != len(live):
            yield path
            return
        for i, (item, other) in enumerate(zip(items, live, strict=True)):
            yield from changed_paths(item, other, (*path, i))
        return
    for item in items:
        key = item_key(item, field)
        assert key is not None
        at = index_of(live, field, key)
        if at < 0:
            yield (*path, key)
        else:
            yield from changed_paths(item, live[at], (*path, key))


def shown(path: Path) -> str:
    """A path in words."""
    return ".".join(map(str, path))
