"""Node pools as part of the policy: their checks and codes, and what all workloads together do to them.

Loaded where node pools are stated, or a service says something about its model. How pods are placed, and what models
need, is the business of the package `capacity`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.capacity.findings import (
    AT_MAX,
    EXCEEDED,
    NO_NODE,
    PACKING,
    check_placement,
    pool_ref,
    rolled_out,
    shortages,
)
from kservec.capacity.memory_findings import GPU_MEMORY, INVALID, check_gpu_memory, facts_in
from kservec.capacity.needs import need_of
from kservec.core.diagnostics import Diagnostic
from kservec.core.policy import MODEL_FACTS, RULES_OF_OBJECTS, Policy
from kservec.policy.judging import Located, demands_of
from kservec.policy.quotas import Bounds, defaults_of
from kservec.policy.remote_code import UNPINNED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.capacity.needs import Need
    from kservec.core.diagnostics import Code, ObjectRef
    from kservec.core.tree import Json
    from kservec.core.unit import Unit
    from kservec.gitops.rendered import Rendered
    from kservec.policy.judging import Judged
    from kservec.policy.scene import Check
    from kservec.policy.units import Judge

POOL_CHECKS: Final[tuple[tuple[Check, tuple[Code, ...]], ...]] = (
    (check_placement, (NO_NODE,)),
    (check_gpu_memory, (GPU_MEMORY,)),
)
"""The checks of single objects against node pools, and the codes that they find."""
CAPACITY: Final = (NO_NODE, EXCEEDED, AT_MAX, PACKING, GPU_MEMORY)
"""The codes of what does not fit onto node pools."""
CAPACITY_ALONE: Final = Policy(
    severities={
        slug: None
        for slug in (*(f"policy/{name}" for name in RULES_OF_OBJECTS), UNPINNED.slug)
        if slug not in {code.slug for code in CAPACITY}
    }
)
"""What holds without a project where node pools are stated."""


class ModelWord(NamedTuple):
    """What a service says about its model, None if it cannot be read; and what is wrong with it."""

    facts: Json
    findings: tuple[Diagnostic, ...]


def model_word(unit: Unit) -> ModelWord:
    """What a unit says about its model."""
    facts, wrong = facts_in(unit.spec.metadata.annotations or {})
    span = unit.source.span("metadata", "annotations", MODEL_FACTS)
    hint = "write fields of the model's config.json, and its number of parameters"
    found = (
        Diagnostic(code=INVALID, message=f"{MODEL_FACTS} {misfit}", span=span, help=hint, subject=unit.ref)
        for misfit in wrong
    )
    return ModelWord(facts, tuple(found))


def needs_of(judge: Judge, heard: Sequence[tuple[Rendered, Judged]], *, surges: bool = False) -> list[Need]:
    """The workloads as a scheduler sees them, with the replicas that autoscalers set, or with those of rollouts too."""
    known = {j.demand.ref: (r, j.standing) for r, j in heard if j.demand is not None}
    needs: list[Need] = []
    for demand in demands_of(j for _, j in heard):
        rendered, standing = known[demand.ref]
        if standing is not None:
            bounds = judge.bounds.get(demand.ref.namespace, Bounds())
            needs.append(need_of(rendered.owner, demand, standing, defaults_of(bounds.ranges)))
    return [rolled_out(need) for need in needs] if surges else needs


def shortages_among(
    judge: Judge, heard: Sequence[tuple[Rendered, Judged]], *, surges: bool
) -> Iterator[tuple[Located, tuple[ObjectRef, ...]]]:
    """What of all workloads does not fit onto the node pools, at the first of them, and how these are called."""
    for shortage in shortages(needs_of(judge, heard, surges=surges), judge.site.node_pools):
        first, *others = shortage.pools
        related = tuple((pool.span, "and this one") for pool in others if pool.span is not None)
        yield Located(shortage.fault, first.span, related), tuple(map(pool_ref, shortage.pools))
