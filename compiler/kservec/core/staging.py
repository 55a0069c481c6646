"""Staging: which services are compiled for what comes next, while the others stay as they are.

Decides from the texts of selections and from documents alone, so that it is known before anything is compiled.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json
    from kservec.spec.selection import Selection


class Staged(NamedTuple):
    """What selections choose: the services, how many each of them chooses, and how many services there are."""

    moved: frozenset[ObjectRef] = frozenset()
    counts: tuple[int, ...] = ()
    total: int = 0


def staged(services: Iterable[tuple[ObjectRef, Json]], selections: Sequence[Selection]) -> Staged:
    """The services that any of the selections chooses, of those with these documents."""
    counts: Counter[int] = Counter()
    moved: set[ObjectRef] = set()
    total = 0
    for ref, document in services:
        total += 1
        chosen = choosing(ref, labels_of(document), selections)
        counts.update(chosen)
        if chosen:
            moved.add(ref)
    return Staged(frozenset(moved), tuple(counts[i] for i in range(len(selections))), total)


def choosing(ref: ObjectRef, labels: Mapping[str, str], selections: Sequence[Selection]) -> list[int]:
    """The positions of the selections that choose a service."""
    service = (ref.namespace, ref.kind, ref.name)
    return [i for i, selection in enumerate(selections) if selection.chooses(service, labels)]


def labels_of(document: Json) -> Mapping[str, str]:
    """The labels of an object."""
    labels = lookup(document, ("metadata", "labels"))
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else {}
