"""The survey: the report about rendered objects, from what was found in them when they were compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.capacity.report import Counted, Finding, report_of
from kservec.core.diagnostics import Severity
from kservec.core.pods.templates import TEMPLATES
from kservec.core.records import evolve
from kservec.policy.judging import demands_of
from kservec.policy.pools import CAPACITY, CAPACITY_ALONE, needs_of
from kservec.policy.quotas import LIMIT_RANGE, QUOTA_AT_MAX, QUOTA_EXCEEDED, QUOTA_UNSTATED
from kservec.policy.verdicts import heard_of, scene_of, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.capacity.report import Report
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.policy import Policy
    from kservec.core.text.document import Document
    from kservec.gitops.rendered import Rendered
    from kservec.policy.units import Judge
    from kservec.policy.verdicts import Verdicts

QUOTAS = (QUOTA_EXCEEDED, QUOTA_AT_MAX, QUOTA_UNSTATED, LIMIT_RANGE)
SLUGS = frozenset(code.slug for code in (*CAPACITY, *QUOTAS))
"""The codes of what does not fit onto nodes, into GPUs or into quotas."""
ALONE = evolve(
    CAPACITY_ALONE, severities={slug: s for slug, s in CAPACITY_ALONE.severities.items() if slug not in SLUGS}
)
"""What holds without a project when somebody asks."""


def asking(policy: Policy) -> Policy:
    """A policy that looks at capacity even where its rules are off: those find notes then, which count for nothing."""
    off = {slug: Severity.NOTE for slug, severity in policy.severities.items() if severity is None and slug in SLUGS}
    return evolve(policy, severities={**policy.severities, **off})


def survey(
    judge: Judge, objects: Sequence[Rendered], documents: Mapping[ObjectRef, Document], *, surges: bool = False
) -> Report:
    """The report about the objects of an environment.

    Args:
        judge: what the cluster says of itself, and what is demanded of objects, by a policy that is `asking`.
        objects: the rendered objects, as they will be written.
        documents: the documents of objects that are rendered as they are.
        surges: whether workloads are counted as while they are rolled out, all at once.
    """
    heard = heard_of(judge, objects, documents)
    scenes = [scene_of(judge, r, j, documents.get(r.ref)) for r, j in heard if (r.ref.group, r.ref.kind) in TEMPLATES]
    found = findings_in(verdicts(judge, objects, lambda waiver: waiver.span, documents, surges=surges))
    findings = sorted(found, key=lambda f: (-f.severity, f.diagnostic.sort_key))
    counted = Counted(scenes, needs_of(judge, heard, surges=surges), demands_of(j for _, j in heard))
    return report_of(counted, judge, findings)


def findings_in(found: Verdicts) -> Iterator[Finding]:
    """What does not fit: an excuse makes it count for nothing, and still it does not fit."""
    for diagnostic in found.diagnostics:
        if diagnostic.code.slug in SLUGS:
            yield Finding(diagnostic, "the rule is off" if diagnostic.code.severity is Severity.NOTE else "")
    for excuse in found.excuses:
        for diagnostic in excuse.found:
            if diagnostic.code.slug in SLUGS:
                yield Finding(diagnostic, f"waived: {excuse.waiver.reason}")
