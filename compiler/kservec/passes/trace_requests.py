"""trace_requests: the servers and the scheduler of an LLMInferenceService send traces, if the service is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.llm.part import PartRole
from kservec.core.llm.tracing import (
    DECODE_SERVICE,
    PREFILL_SERVICE,
    tracing_of,
    with_scheduler_tracing,
    with_server_tracing,
)
from kservec.core.records import evolve
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

SERVICES = {PartRole.MAIN: DECODE_SERVICE, PartRole.PREFILL: PREFILL_SERVICE}
"""In whose name servers send traces; the main one decodes, even if no other fills its cache."""


def trace_requests(unit: Unit, env: Env) -> Step:
    """Have the servers of all pods, and the scheduler, send traces. Tokenizers send none.

    Takes:   nothing
    Writes:  pods of the main part, the prefill part and the scheduler
    Reports: nothing
    KServe:  pkg/controller/v1alpha2/llmisvc/tracing.go, injectServerTracing and injectSchedulerTracing
    """
    del env
    if not unit.parts or tracing_of(unit) is None:
        return Step(unit)
    return Step(evolve(unit, parts=tuple(traced(part, unit) for part in unit.parts)))


def traced(part: Part, unit: Unit) -> Part:
    """A part that sends traces, if it is one that does."""
    if part.role is PartRole.SCHEDULER:
        return evolve(part, pod=with_scheduler_tracing(part.pod, unit))
    service = SERVICES.get(part.role)
    if service is None:
        return part
    worker = with_server_tracing(part.worker, unit, service) if part.worker is not None else None
    return evolve(part, pod=with_server_tracing(part.pod, unit, service), worker=worker)
