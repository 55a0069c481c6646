"""Who may reach a service: the values of the label that keeps it inside the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.names import CLUSTER_LOCAL, CLUSTER_LOCAL_LABEL, KNATIVE_VISIBILITY_LABEL
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

VISIBILITY = Code(
    "exposure/visibility",
    Severity.ERROR,
    "a visibility that does not exist",
    "The label keeps a service inside the cluster when its value is cluster-local. With any other value KServe makes "
    "routes from outside all the same, and Knative refuses the service.",
)
PUBLIC = ("exposed", "external", "public")
"""Values that KServe does not know either, but that ask for what happens: routes from outside."""
IN_STANDARD_MODE = (CLUSTER_LOCAL, *PUBLIC)


def check_visibility(subject: Subject) -> Iterable[Diagnostic]:
    """Knative: serving/pkg/apis/serving/metadata_validation.go, ValidateClusterVisibilityLabel.

    KServe checks nothing here, which publishes services by a slip of the pen.
    """
    service: tuple[Path, Json] = (("metadata",), subject.value["metadata"])
    if subject.mode is Mode.STANDARD:
        return _check(subject, CLUSTER_LOCAL_LABEL, IN_STANDARD_MODE, (service,))
    if subject.mode is Mode.KNATIVE:
        holders = (service, *((part.path, part.spec) for part in subject.parts))
        return _check(subject, KNATIVE_VISIBILITY_LABEL, (CLUSTER_LOCAL,), holders)
    return ()


def _check(
    subject: Subject, label: str, allowed: tuple[str, ...], holders: tuple[tuple[Path, Json], ...]
) -> Iterator[Diagnostic]:
    for path, holder in holders:
        value = (holder.get("labels") or {}).get(label)
        if value is not None and value not in allowed:
            message = f"{label} is {value!r}, which keeps no service inside the cluster"
            help_text = f"write {CLUSTER_LOCAL}, or remove the label"
            yield subject.finding(VISIBILITY, message, (*path, "labels", label), help_text)
