"""The survey: the report about rendered objects, from what was found in them when they were compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.capacity.report import report_of
from kservec.core.pods.templates import TEMPLATES
from kservec.policy.verdicts import CAPACITY, heard_of, needs_of, scene_of, verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.capacity.report import Report
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.text.document import Document
    from kservec.gitops.rendered import Rendered
    from kservec.policy.units import Judge

SLUGS = frozenset(code.slug for code in CAPACITY)


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
    return report_of(scenes, needs_of(judge, heard, surges=surges), judge.site.node_pools, findings)
