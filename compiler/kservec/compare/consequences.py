"""What a reviewer must not miss: claims that go, fields that no update may change, services that change their mode.

Pure; all of it is read from the objects that differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.objects import Action
from kservec.compare.values import same
from kservec.compare.workloads import workload_of
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.schemas.faults import field_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.compare.objects import Changed
    from kservec.core.paths import Path

CLAIM_REMOVED = Code(
    "change/claim-removed",
    Severity.WARNING,
    "a claim goes, and what is stored with it",
    "A PersistentVolumeClaim or PersistentVolume is not rendered any more. Once pruned, its data may be gone for good, "
    "by the reclaim policy of the volume.",
)
IMMUTABLE = Code(
    "change/immutable-field",
    Severity.WARNING,
    "a field changes that no update may change",
    "The API server refuses the update, and the sync stays red until the object is deleted and made anew. For a "
    "Deployment `kubectl delete --cascade=orphan` keeps the pods meanwhile; Argo CD does it with the sync option "
    "Replace=true,Force=true.",
)
MODE_CHANGED = Code(
    "update/mode-changed",
    Severity.WARNING,
    "a service changes its deployment mode",
    "The workload of the service goes and one of another kind comes, whether its annotation changed or the platform's "
    "default did. KServe refuses an update of the annotation. Hosts of Knative and of routes differ, so plan it as a "
    "move: make a second service, shift the traffic, remove the first one.",
)

CLAIMS = ("PersistentVolume", "PersistentVolumeClaim")
IMMUTABLE_FIELDS: Mapping[tuple[str, str], tuple[Path, ...]] = {
    ("", "PersistentVolumeClaim"): (
        ("spec", "accessModes"), ("spec", "storageClassName"), ("spec", "volumeName"), ("spec", "volumeMode"),
    ),
    ("", "Service"): (("spec", "clusterIP"),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
    ("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
}  # fmt: skip
"""Fields of kinds without pods that an API server refuses to change."""
KNATIVE, STANDARD = "serving.knative.dev", "apps"
MODES = {KNATIVE: "Knative", STANDARD: "Standard"}


def consequences(changes: Sequence[Changed]) -> Iterator[Diagnostic]:
    """All warnings about changed objects."""
    for change in changes:
        if change.action is Action.REMOVED and change.ref.kind in CLAIMS:
            message = f"{change.ref} goes, and with it what it stores unless its volume is retained"
            hint = "keep a copy, or annotate it against pruning, if the data counts"
            yield Diagnostic(code=CLAIM_REMOVED, message=message, span=None, help=hint, subject=change.ref)
        elif change.action is Action.CHANGED:
            yield from fixed_fields(change)
    yield from flipped(changes)


def fixed_fields(change: Changed) -> Iterator[Diagnostic]:
    """Warnings about fields of an object that an API server refuses to change."""
    workload = workload_of(change.ref)
    fields = IMMUTABLE_FIELDS.get((change.ref.group, change.ref.kind), workload.immutable if workload else ())
    for path in fields:
        if not same(lookup(change.before, path), lookup(change.after, path)):
            message = f"{field_path(path)} of {change.ref} changes, which an API server refuses"
            hint = "delete the object before the sync, or have the sync replace it"
            yield Diagnostic(code=IMMUTABLE, message=message, span=None, help=hint, subject=change.ref)


def flipped(changes: Sequence[Changed]) -> Iterator[Diagnostic]:
    """Warnings about the owners whose workloads are of the other mode now."""
    gone: dict[str, Changed] = {}
    for change in changes:
        if change.owner and change.action is Action.REMOVED and is_moded(change):
            gone.setdefault(change.owner, change)
    told: set[str] = set()
    for change in changes:
        old = gone.get(change.owner)
        if old is None or change.action is not Action.ADDED or not is_moded(change) or change.owner in told:
            continue
        if old.ref.group != change.ref.group:
            told.add(change.owner)
            modes = f"from {MODES[old.ref.group]} to {MODES[change.ref.group]}"
            message = f"{change.owner} changes {modes}: {old.ref} goes and {change.ref} comes"
            hint = "if that is not meant, annotate the service with serving.kserve.io/deploymentMode"
            yield Diagnostic(code=MODE_CHANGED, message=message, span=None, help=hint, subject=change.ref)


def is_moded(change: Changed) -> bool:
    """Whether an object is the workload of a mode."""
    return change.ref.group in MODES and workload_of(change.ref) is not None
