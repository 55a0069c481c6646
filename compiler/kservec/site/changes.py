"""What changes against a commit, side by side: by unit, and for the whole environment."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from kservec.compare.phrases import (
    because,
    gpus_text,
    happens,
    headline,
    origin_note,
    rules_text,
    value_text,
    weight_text,
)
from kservec.compare.report import Report, risk
from kservec.compare.values import Change
from kservec.gitops.rendered import CLUSTER_FOLDER
from kservec.site.paging import sheets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kservec.compare.forecast import Effect
    from kservec.compare.objects import Changed
    from kservec.compare.report import Comparison
    from kservec.compare.scaling import Rescaled
    from kservec.compare.values import Difference
    from kservec.compare.weights import Traffic
    from kservec.core.diagnostics import ObjectRef
    from kservec.site.subject import Compared
    from kservec.site.writer import Page, Writer

MOST_OWNERS = 50
MOST_FIELDS = 200
"""Fields of one object that are shown; of an object that is written anew nobody reads more."""


class FieldRow(NamedTuple):
    """A field that differs, and its values as they may be shown."""

    path: str
    what: str
    before: str
    after: str


class ObjectRow(NamedTuple):
    """An object that differs, with its fields; `left_out` are so many more."""

    ref: ObjectRef
    action: str
    fields: tuple[FieldRow, ...]
    left_out: int


class EffectRow(NamedTuple):
    """What happens to the pods of a workload."""

    ref: ObjectRef
    what: str
    style: str
    pods: str
    gpus: str
    because: str


class TrafficRow(NamedTuple):
    """A backend of a route whose weight changes."""

    ref: ObjectRef
    rules: str
    backend: str
    before: str
    after: str


class ReplicaRow(NamedTuple):
    """A workload or an autoscaler whose bounds change."""

    ref: ObjectRef
    before: str
    after: str


class UnitChanges(NamedTuple):
    """What changes of one unit. `restarts`: pods of it are made anew, by the word for the worst of it."""

    objects: tuple[ObjectRow, ...] = ()
    effects: tuple[EffectRow, ...] = ()
    traffic: tuple[TrafficRow, ...] = ()
    replicas: tuple[ReplicaRow, ...] = ()

    @property
    def any(self) -> bool:
        """Whether anything changes."""
        return bool(self.objects)

    @property
    def worst(self) -> str:
        """What happens to its pods at worst; empty where nothing does."""
        return self.effects[0].what if self.effects else ""


NO_CHANGES = UnitChanges()


class OwnerRow(NamedTuple):
    """Whose changes they are, and the page that shows them; without one for what there is no more."""

    name: str
    page: str
    changes: UnitChanges


def possessor(ref: ObjectRef) -> str:
    """What the index of a tree calls a unit."""
    return f"{ref.namespace or CLUSTER_FOLDER}/{ref.kind}/{ref.name}"


def change_pages(compared: Compared, pages: Mapping[ObjectRef, str], writer: Writer) -> Iterator[Page]:
    """All that changes, by owner: what interrupts pods first."""
    comparison, known = compared.comparison, {possessor(ref): page for ref, page in pages.items()}
    owners = changes_by_owner(comparison)
    order = {owner: i for i, owner in enumerate(dict.fromkeys(effect.owner for effect in comparison.effects))}
    rows = [
        OwnerRow(owner, known.get(owner, ""), owners[owner])
        for owner in sorted(owners, key=lambda owner: (order.get(owner, len(order)), owner))
    ]
    report = Report(compared.shown, compared.commit, (comparison,))
    for sheet, part in sheets("changes", rows, MOST_OWNERS):
        yield writer.page(
            "changes", sheet.path, sheet=sheet, rows=part, total=len(rows), shown=compared.shown,
            commit=compared.commit, headline=headline(report), note=origin_note(comparison, report),
            warnings=comparison.findings,
        )  # fmt: skip


def changes_by_owner(comparison: Comparison) -> Mapping[str, UnitChanges]:
    """What changes of each owner, by its name in the index of the tree: `namespace/Kind/name`."""
    objects: dict[str, list[Changed]] = defaultdict(list)
    for change in sorted(comparison.changes, key=lambda change: risk(change, comparison.effects)):
        objects[change.owner].append(change)
    effects = by_owner(comparison.effects)
    traffic, replicas = by_owner(comparison.traffic), by_owner(comparison.scaling)
    return {
        owner: UnitChanges(
            tuple(map(object_row, changes)),
            tuple(map(effect_row, effects.get(owner, ()))),
            tuple(row for found in traffic.get(owner, ()) for row in traffic_rows(found)),
            tuple(map(replica_row, replicas.get(owner, ()))),
        )
        for owner, changes in sorted(objects.items())
    }


class Owned(Protocol):
    """What has an owner."""

    @property
    def owner(self) -> str:
        """The owner by its name in the index."""


Own = TypeVar("Own", bound=Owned)


def by_owner(found: Iterable[Own]) -> dict[str, list[Own]]:
    """What belongs to each owner."""
    owned: dict[str, list[Own]] = defaultdict(list)
    for each in found:
        owned[each.owner].append(each)
    return owned


def object_row(change: Changed) -> ObjectRow:
    """An object that differs."""
    found = change.differences
    return ObjectRow(
        change.ref, change.action.value, tuple(map(field_row, found[:MOST_FIELDS])), max(0, len(found) - MOST_FIELDS)
    )


def field_row(found: Difference) -> FieldRow:
    """A field that differs."""
    before = "" if found.change is Change.ADDED else value_text(found.before)
    after = "" if found.change is Change.REMOVED else value_text(found.after)
    return FieldRow(found.path, found.change.value, before, after)


def effect_row(effect: Effect) -> EffectRow:
    """What happens to the pods of a workload."""
    style = effect.verb.value.replace(" ", "-")
    return EffectRow(effect.ref, happens(effect), style, str(effect.pods), gpus_text(effect.gpus), because(effect))


def traffic_rows(found: Traffic) -> list[TrafficRow]:
    """The backends of a route whose weights change."""
    sides = zip(found.shifts, found.share(after=False), found.share(after=True), strict=True)
    return [
        TrafficRow(found.ref, rules_text(found), s.backend, weight_text(s.before, old), weight_text(s.after, new))
        for s, old, new in sides
    ]


def replica_row(found: Rescaled) -> ReplicaRow:
    """A workload or an autoscaler whose bounds change."""
    return ReplicaRow(found.ref, str(found.before), str(found.after))
