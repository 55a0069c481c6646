"""What an upgrade does to an environment: which line of the catalog or platform leads to which changes. Pure.

A comparison says what changes in each object; here the same changes are put together by what they come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.forecast import INTERRUPTING
from kservec.compare.objects import Action
from kservec.compare.phrases import short_path
from kservec.compare.values import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kservec.compare.forecast import Effect
    from kservec.compare.objects import Changed
    from kservec.compare.report import Comparison
    from kservec.compare.values import Difference
    from kservec.compare.workloads import Bounds
    from kservec.core.diagnostics import Diagnostic, ObjectRef, Span
    from kservec.core.paths import Json
    from kservec.core.staging import Staged

MOST_TRACED = 200
"""More fields than these are told apart by their paths alone: each takes compiling a service."""


class Place(NamedTuple):
    """Where a value comes from: a layer, and the line that it was written in, if it was."""

    layer: str
    span: Span | None = None


class Cause(NamedTuple):
    """A change of a line, or of a rule, and what it leads to.

    `field`, `before` and `after` are those of the first object; `values` counts how many pairs of values there are.
    """

    place: Place
    field: str
    before: Json
    after: Json
    values: int
    changes: tuple[Changed, ...]
    effects: tuple[Effect, ...]

    @property
    def services(self) -> tuple[str, ...]:
        """The owners of what changes, sorted."""
        return tuple(sorted({change.owner for change in self.changes if change.owner}))

    @property
    def interrupted(self) -> tuple[Effect, ...]:
        """The workloads that have new pods because of it."""
        return tuple(effect for effect in self.effects if effect.verb in INTERRUPTING)


class Preview(NamedTuple):
    """What an upgrade would do to an environment.

    `to`: what comes next, in words. `comparison`: what changes. `causes`: the same by what it comes from. `by_hand`:
    what is an error then and none now; of these services nothing else is told. `warnings`: those that are new.
    `staged`: the services that it is for.
    """

    to: str
    comparison: Comparison
    causes: tuple[Cause, ...] = ()
    by_hand: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    staged: Staged | None = None

    @property
    def differs(self) -> bool:
        """Whether anything changes, or has to be changed."""
        return self.comparison.differs or bool(self.by_hand)

    @property
    def interrupted(self) -> tuple[Effect, ...]:
        """The workloads that have new pods."""
        return tuple(effect for effect in self.comparison.effects if effect.verb in INTERRUPTING)

    @property
    def refused(self) -> tuple[str, ...]:
        """The services and other objects that need a change, sorted."""
        return tuple(sorted({str(d.subject) for d in self.by_hand if d.subject is not None}))


class Part(NamedTuple):
    """One field of one object that changes."""

    change: Changed
    difference: Difference
    effect: Effect | None


def causes_of(comparison: Comparison, trace: Callable[[Changed, Difference], Place]) -> tuple[Cause, ...]:
    """What the changes come from, those that restart most first.

    Args:
        comparison: what changes.
        trace: where a value of a changed object comes from.
    """
    effects = {effect.ref: effect for effect in comparison.effects}
    alike: dict[tuple[str, str, str], list[Part]] = {}
    for part in parts_of(comparison.changes, effects):
        sides = (text_of(part.difference.before), text_of(part.difference.after))
        alike.setdefault((short_path(part.difference), *sides), []).append(part)
    found: dict[tuple[Place, str], list[list[Part]]] = {}
    for i, ((field, _, _), parts) in enumerate(alike.items()):
        place = trace(parts[0].change, parts[0].difference) if i < MOST_TRACED else Place("")
        key = (place, "" if place.span is not None else field)
        found.setdefault(key, []).append(parts)
    causes = [cause(place, groups) for (place, _), groups in found.items()]
    whole = [whole_objects(changes, effects) for changes in kinds_of(comparison.changes)]
    return tuple(sorted((*causes, *whole), key=weight))


def weight(cause: Cause) -> tuple[object, ...]:
    """Sort key: what restarts most first, then what changes most."""
    return (-len(cause.interrupted), -len(cause.changes), cause.field, str(cause.place), str(cause.after))


def parts_of(changes: Iterable[Changed], effects: dict[ObjectRef, Effect]) -> Iterator[Part]:
    """The fields of changed objects: those that new pods follow from, of others all."""
    for change in changes:
        effect = effects.get(change.ref)
        for difference in effect.reasons if effect is not None and effect.reasons else change.differences:
            yield Part(change, difference, effect)


def cause(place: Place, groups: Sequence[Sequence[Part]]) -> Cause:
    """The cause of some fields that come from one place."""
    parts = [part for group in groups for part in group]
    first = parts[0].difference
    effects = {part.effect.ref: part.effect for part in parts if part.effect is not None}
    changes = {part.change.ref: part.change for part in parts}
    return Cause(
        place=place,
        field=short_path(first),
        before=first.before,
        after=first.after,
        values=len(groups),
        changes=tuple(changes[ref] for ref in sorted(changes)),
        effects=tuple(effects[ref] for ref in sorted(effects)),
    )


def kinds_of(changes: Iterable[Changed]) -> list[list[Changed]]:
    """The objects that come or go, by their kinds."""
    found: dict[tuple[Action, str, str], list[Changed]] = {}
    for change in changes:
        if change.action is not Action.CHANGED:
            found.setdefault((change.action, change.ref.api_version, change.ref.kind), []).append(change)
    return list(found.values())


def whole_objects(changes: Sequence[Changed], effects: dict[ObjectRef, Effect]) -> Cause:
    """What objects of a kind that come or go lead to."""
    ref, action = changes[0].ref, changes[0].action
    known = tuple(effects[change.ref] for change in changes if change.ref in effects)
    field = f"{ref.kind} of {ref.api_version} {action.value}"
    return Cause(Place("kserve"), field, None, None, 1, tuple(changes), known)


def gpus_of(effects: Iterable[Effect]) -> int:
    """The GPUs of some workloads, at least."""
    return sum(effect.gpus.least for effect in effects)


def pods_of(effects: Iterable[Effect]) -> Bounds | None:
    """The pods of some workloads; None for none."""
    bounds = [effect.pods for effect in effects]
    if not bounds:
        return None
    most = [each.most for each in bounds]
    whole = None if None in most else sum(number for number in most if number is not None)
    return bounds[0]._replace(least=sum(each.least for each in bounds), most=whole)
