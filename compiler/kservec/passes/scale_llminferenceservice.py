"""scale_llminferenceservice: workloads of an LLMInferenceService get the autoscaler that their `scaling` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.llm.part import PartRole
from kservec.core.llm.pool_queries import query_findings
from kservec.core.records import evolve
from kservec.core.tree import lookup
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.registry import Env
    from kservec.core.unit import Unit


def scale_llminferenceservice(unit: Unit, env: Env) -> Step:
    """Make the autoscalers of the main workload and of the prefill one.

    Takes:   nothing
    Writes:  manifests of the autoscalers
    Reports: llm/kind-absent, llm/query-pool; what the autoscalers report
    KServe:  pkg/controller/v1alpha2/llmisvc/scaling.go, reconcileScaling
    """
    made = tuple(autoscalers(unit, env))
    return Step(evolve(unit, bundle=unit.bundle.add(*made)), tuple(query_findings(unit, env))) if made else Step(unit)


def autoscalers(unit: Unit, env: Env) -> Iterator[Manifest]:
    """The autoscalers of all parts."""
    for part in unit.parts:
        if part.role not in (PartRole.MAIN, PartRole.PREFILL) or unit.resolved is None:
            continue
        scaling = unit.resolved.get(*part.path, "scaling")
        for scaler in env.plugs.part_scalers if scaling else ():
            if lookup(scaling, scaler.field) is not None:
                workload = next(kind for kind in env.plugs.part_workloads if kind.selects(part))
                yield scaler.render(unit, part, workload, env)
