"""How many replicas a workload keeps, before and after; and who decides it from now on. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.forecast import SCALER_KINDS, scalers_of
from kservec.compare.objects import Action
from kservec.compare.workloads import REPLICAS, Bounds, own_replicas, revision_bounds, workload_of
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.compare.forecast import Scalers
    from kservec.compare.objects import Changed
    from kservec.core.diagnostics import ObjectRef

RELEASED = Code(
    "change/replicas-released",
    Severity.WARNING,
    "a workload loses its number of replicas",
    "`spec.replicas` was in the committed tree and is not any more, mostly because an autoscaler takes over. Whoever "
    "applied the number owns the field: taken out, it becomes 1 for a moment, and an autoscaler scales up from there. "
    "Sync with server-side apply after the autoscaler has become another owner of the field "
    "(kubectl apply edit-last-applied, or `kubectl scale` once), or at a quiet hour.",
)


class Rescaled(NamedTuple):
    """A workload or autoscaler whose bounds changed."""

    ref: ObjectRef
    owner: str
    before: Bounds
    after: Bounds


def rescaled(changes: Sequence[Changed]) -> tuple[Rescaled, ...]:
    """The bounds that changed, of objects that are there before and after."""
    return tuple(row for change in changes if change.action is Action.CHANGED for row in row_of(change))


def row_of(change: Changed) -> Iterator[Rescaled]:
    """The change of one object's bounds, if there is one."""
    before, after = bounds_of(change, after=False), bounds_of(change, after=True)
    if before is not None and after is not None and before != after:
        yield Rescaled(change.ref, change.owner, before, after)


def bounds_of(change: Changed, *, after: bool) -> Bounds | None:
    """The bounds that an object states itself."""
    ref, body = change.ref, change.after if after else change.before
    if (ref.group, ref.kind) in SCALER_KINDS:
        return next(iter(scalers_of([(ref, body)]).bounds.values()), None)
    if workload_of(ref) is None:
        return None
    return own_replicas(body) if lookup(body, REPLICAS) is not None else knative_bounds(change, after=after)


def knative_bounds(change: Changed, *, after: bool) -> Bounds | None:
    """The bounds of a Knative revision."""
    is_knative = change.ref.group == "serving.knative.dev"
    return revision_bounds(change.after if after else change.before) if is_knative else None


def released(changes: Sequence[Changed], after: Scalers) -> Iterator[Diagnostic]:
    """Warnings about workloads whose number of replicas goes."""
    for change in changes:
        if change.action is not Action.CHANGED or workload_of(change.ref) is None:
            continue
        count = lookup(change.before, REPLICAS)
        if count in (None, 1) or lookup(change.after, REPLICAS) is not None:
            continue
        bounds = after.bounds.get((change.ref.namespace, change.ref.name))
        who = f"an autoscaler takes over, with {bounds} replicas" if bounds else "nothing in the tree says how many"
        yield Diagnostic(
            code=RELEASED,
            message=f"{change.ref} had {count} replicas and now states none; {who}",
            span=None,
            help="it may run with 1 replica for a moment: keep the number until the autoscaler owns it, or sync at a "
            "quiet hour",
            subject=change.ref,
        )
