"""The survey: the report about rendered objects, from what was found in them when they were compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.capacity.report import Counted, report_of
from kservec.core.pods.templates import TEMPLATES
from kservec.core.records import evolve
from kservec.policy.judging import demands_of
from kservec.policy.pools import CAPACITY, CAPACITY_ALONE, needs_of
from kservec.policy.quotas import LIMIT_RANGE, QUOTA_AT_MAX, QUOTA_EXCEEDED, QUOTA_UNSTATED
from kservec.policy.verdicts import heard_of, scene_of, verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.capacity.report import Report
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.text.document import Document
    from kservec.gitops.rendered import Rendered
    from kservec.policy.units import Judge

QUOTAS = (QUOTA_EXCEEDED, QUOTA_AT_MAX, QUOTA_UNSTATED, LIMIT_RANGE)
SLUGS = frozenset(code.slug for code in (*CAPACITY, *QUOTAS))
"""The codes of what does not fit onto nodes, into GPUs or into quotas."""
ALONE = evolve(
    CAPACITY_ALONE, severities={slug: s for slug, s in CAPACITY_ALONE.severities.items() if slug not in SLUGS}
)
"""What holds without a project when somebody asks."""


def survey(
    judge: Judge, objects: Sequence[Rendered], documents: Mapping[ObjectRef, Document], *, surges: bool = False
) -> Report:
    """The report about the objects of an environment.

    Args:
        judge: what the cluster says of itself, and what is demanded of objects.
        objects: the rendered objects, as they will be written.
        documents: the documents of objects that are rendered as they are.
        surges: whether workloads are counted as while they are rolled out, all at once.
    """
    heard = heard_of(judge, objects, documents)
    scenes = [scene_of(judge, r, j, documents.get(r.ref)) for r, j in heard if (r.ref.group, r.ref.kind) in TEMPLATES]
    found = verdicts(judge, objects, lambda waiver: waiver.span, documents, surges=surges).diagnostics
    findings = sorted((d for d in found if d.code.slug in SLUGS), key=lambda d: (-d.code.severity, d.sort_key))
    counted = Counted(scenes, needs_of(judge, heard, surges=surges), demands_of(j for _, j in heard))
    return report_of(counted, judge, findings)
