"""A comparison as a value: what every report of it is written from. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.consequences import consequences
from kservec.compare.forecast import INTERRUPTING, Verb, forecast, holds_size, scalers_of
from kservec.compare.objects import Action, Changed, changed_objects
from kservec.compare.scaling import released, rescaled
from kservec.compare.weights import traffic_changes
from kservec.compare.workloads import workload_of
from kservec.core.text.source import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec.compare.forecast import Effect
    from kservec.compare.objects import Side
    from kservec.compare.scaling import Rescaled
    from kservec.compare.weights import Traffic
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.paths import Json
    from kservec.gitops.rendered import Rendered

COMMITTED, REBUILT, ABSENT = "committed", "rebuilt", "absent"
"""Where the old tree comes from: it was committed, it was built from committed sources, there was none."""


class Comparison(NamedTuple):
    """What is different in one environment. `origin`: where the old tree comes from. `gone`: there is no new one."""

    name: str
    output: str
    origin: str
    changes: tuple[Changed, ...] = ()
    effects: tuple[Effect, ...] = ()
    traffic: tuple[Traffic, ...] = ()
    scaling: tuple[Rescaled, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    gone: bool = False
    files: int = 0

    @property
    def differs(self) -> bool:
        """Whether anything is different, be it only how a file is written."""
        return bool(self.changes or self.files)


class Report(NamedTuple):
    """All environments compared with a commit: what the user called it, and its id in short."""

    shown: str
    commit: str
    environments: tuple[Comparison, ...]

    @property
    def differs(self) -> bool:
        """Whether anything is different."""
        return any(environment.differs for environment in self.environments)

    def count(self, action: Action) -> int:
        """How many objects of all environments something happened to."""
        return sum(change.action is action for e in self.environments for change in e.changes)

    @property
    def interrupted(self) -> list[Effect]:
        """The workloads of all environments that have new pods though they stay."""
        return self.effects(*INTERRUPTING)

    def effects(self, *verbs: Verb) -> list[Effect]:
        """The effects of some kinds in all environments."""
        return [effect for e in self.environments for effect in e.effects if effect.verb in verbs]


def compared(
    comparison: Comparison, before: Side, after: Side, made: Iterable[Rendered], extra: Sequence[Diagnostic] = ()
) -> Comparison:
    """A comparison with all that follows from the files that differ.

    Args:
        comparison: the environment.
        before: the files that differ, as they were.
        after: the same as they will be.
        made: all objects of the new tree, for what the sizes of workloads follow from.
        extra: findings about the update of sources.
    """
    objects = tuple(made)
    differing, unreadable = changed_objects(before, after, comparison.output)
    changes = owned(differing, objects)
    owners = {change.owner for change in changes if workload_of(change.ref) is not None}
    now = dict(sizes(objects, owners))
    touched = {change.ref: change for change in changes if holds_size(change.ref)}
    then = {ref: body for ref, body in now.items() if ref not in touched}
    then |= {ref: change.before for ref, change in touched.items() if change.before is not None}
    new, old = scalers_of(now.items()), scalers_of(then.items())
    return comparison._replace(
        changes=changes,
        effects=forecast(changes, old, new),
        traffic=traffic_changes(changes),
        scaling=rescaled(changes),
        findings=(*extra, *released(changes, new), *consequences(changes), *unreadable),
        files=len({**before.files, **after.files}),
    )


def owned(changes: tuple[Changed, ...], made: Sequence[Rendered]) -> tuple[Changed, ...]:
    """Changes with their owners; an index of a tree that has all objects in one file does not know them."""
    if all(change.owner for change in changes):
        return changes
    owners = {rendered.ref: rendered.possessor for rendered in made}
    return tuple(change._replace(owner=change.owner or owners.get(change.ref, "")) for change in changes)


def sizes(made: Iterable[Rendered], owners: Iterable[str]) -> Iterator[tuple[ObjectRef, Json]]:
    """The autoscalers and claim templates of some owners."""
    wanted = frozenset(owners)
    for rendered in made:
        if holds_size(rendered.ref) and rendered.possessor in wanted:
            yield from ((rendered.ref, document.value) for document in parse(rendered.text.encode(), "")[0])


def risk(change: Changed, effects: Sequence[Effect]) -> tuple[object, ...]:
    """Sort key of an object: what interrupts pods first, then what goes, what changes, what comes."""
    verbs = [effect.verb for effect in effects if effect.ref == change.ref]
    worst = min((list(Verb).index(verb) for verb in verbs if verb is not Verb.STARTED), default=len(Verb))
    order = (Action.REMOVED, Action.CHANGED, Action.ADDED)
    return (worst, order.index(change.action), change.ref)
