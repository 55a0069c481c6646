"""Staging: which services are compiled for what comes next, while the others stay as they are.

Decides from the texts of selections and from documents alone, so that it is known before anything is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import lookup
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json
    from kservec.spec.selection import Selection


class Staged(NamedTuple):
    """What selections choose: the services, and of how many.

    `idle`: the texts of the selections that choose none, each with what it was most likely meant to be, if anything.
    """

    moved: frozenset[ObjectRef]
    idle: Mapping[str, str]
    total: int


def staged(services: Iterable[tuple[ObjectRef, Json]], selections: Sequence[Selection]) -> Staged:
    """The services that any of the selections chooses, of those with these documents."""
    known = [(ref, labels_of(document)) for ref, document in services]
    chosen = {s.text: [ref for ref, labels in known if s.chooses(name_of(ref), labels)] for s in selections}
    idle = {s.text: meant(s, known) for s in selections if not chosen[s.text]}
    return Staged(frozenset(ref for refs in chosen.values() for ref in refs), idle, len(known))


def name_of(ref: ObjectRef) -> tuple[str, str, str]:
    """What selections go by besides labels: namespace, kind and name."""
    return ref.namespace, ref.kind, ref.name


def meant(selection: Selection, known: Sequence[tuple[ObjectRef, Mapping[str, str]]]) -> str:
    """What a selection that chooses none of the known services was meant to be; empty if nothing is near."""
    text, names = selection.text, [name_of(ref) for ref, _ in known]
    if selection.requirements:
        return closest(text, {f"{key}={value}" for _, labels in known for key, value in labels.items()}) or ""
    if "/" in text:
        parts = text.split("/")
        alike = ("/".join(p if "*" in p else own for p, own in zip(parts, name, strict=True)) for name in names)
        return closest(text, set(alike)) or ""
    namespace = closest(text, {namespace for namespace, _, _ in names})
    return namespace or next(("/".join(name) for name in sorted(names) if name[2] == text), "")


def labels_of(document: Json) -> Mapping[str, str]:
    """The labels of an object."""
    labels = lookup(document, ("metadata", "labels"))
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else {}
