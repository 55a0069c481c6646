"""The service's own labels and annotations that no object gets: KServe passes on a few, by how their keys begin.

Decides which of the others are worth a word. What is passed on, `workload_labels` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.listing import listed
from kservec.core.llm.workload_labels import APPROVED_ANNOTATIONS, APPROVED_LABELS, LEADER_WORKER_ANNOTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.unit import Unit

NOT_PASSED_ON: Final = Code(
    "llm/metadata-not-passed-on",
    Severity.NOTE,
    "labels or annotations of an LLMInferenceService that no object gets",
    "Of the metadata of an LLMInferenceService KServe passes on what is for Kueue, Multus, Prometheus and "
    "LeaderWorkerSets; all else stays on the service, which is not in the cluster. Labels and annotations for pods and "
    "for the workload Service are written in spec.labels and spec.annotations, for prefill and for the scheduler in "
    "fields of their own.",
)
OF_KSERVE: Final = "kserve.io"
FOR_TOOLS: Final = (
    "argocd.argoproj.io/", "config.kubernetes.io/", "helm.toolkit.fluxcd.io/", "kubectl.kubernetes.io/",
    "kustomize.toolkit.fluxcd.io/", "meta.helm.sh/", "helm.sh/",
)  # fmt: skip
"""Prefixes of keys that tools read on the applied object."""


def not_passed_on(unit: Unit, *, has_workers: bool) -> Iterator[Diagnostic]:
    """A note about labels, and one about annotations, that stay on the service."""
    annotations = LEADER_WORKER_ANNOTATIONS if has_workers else APPROVED_ANNOTATIONS
    for field, keys, passed_on in (
        ("labels", unit.labels, APPROVED_LABELS),
        ("annotations", unit.annotations, annotations),
    ):
        stay = staying(keys, passed_on) if keys else []
        if stay:
            span = unit.source.document.key_span(("metadata", field, stay[0]))
            message = f"no object gets the {field} {listed(stay)} of {unit.ref}"
            hint = f"write in spec.{field} what pods need"
            yield Diagnostic(code=NOT_PASSED_ON, message=message, span=span, help=hint, subject=unit.ref)


def staying(keys: Mapping[str, str], passed_on: tuple[str, ...]) -> list[str]:
    """The keys that are not passed on, and that neither KServe nor a tool reads on the service itself."""
    return [
        key
        for key in keys
        if not key.startswith(passed_on)
        and not key.startswith(FOR_TOOLS)
        and not key.partition("/")[0].endswith(OF_KSERVE)
    ]
