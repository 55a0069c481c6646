"""Parallelism: over how many processes and nodes each copy of a model is spread.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validateWorkloadParallelism. That the number of
nodes never changes can only be told by one who knows the object as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.presets import is_data_parallel, is_pipeline_parallel

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject, Workload

COUNTS: Final = ("pipeline", "data", "dataLocal")

WORKER = Code(
    "llm/parallelism-worker",
    Severity.ERROR,
    "pods of several nodes with nothing to share out",
    "A `worker` spreads each copy of the model over several nodes. How, says `parallelism`: by data (with data and "
    "dataLocal), or by pipeline.",
)
BOTH = Code(
    "llm/parallelism-both",
    Severity.ERROR,
    "both data and pipeline parallelism",
    "The nodes of a workload either each serve requests of their own (data, dataLocal) or each hold some of the "
    "model's layers (pipeline).",
)
DATA = Code(
    "llm/parallelism-data",
    Severity.ERROR,
    "data without dataLocal, or dataLocal without data",
    "`data` counts the ranks of all nodes together, `dataLocal` those of one node; the number of nodes is their "
    "quotient.",
)
COUNT = Code(
    "llm/parallelism-count",
    Severity.ERROR,
    "parallelism over nothing",
    "pipeline, data and dataLocal are 1 or more.",
)


def check_parallelism(subject: Subject) -> Iterator[Diagnostic]:
    """The parallelism of each workload."""
    for workload in subject.workloads:
        yield from check_worker(subject, workload)
        if workload.spec.get("parallelism") is not None:
            yield from check_kinds(subject, workload)
            yield from check_counts(subject, workload)


def check_worker(subject: Subject, workload: Workload) -> Iterator[Diagnostic]:
    """A worker needs data or pipeline parallelism."""
    given = workload.parallelism
    if workload.is_multi_node and not is_data_parallel(given) and not is_pipeline_parallel(given):
        message = f"{workload.name} has a worker, but neither data nor pipeline parallelism"
        help_text = "set parallelism.data and dataLocal, or parallelism.pipeline, or remove `worker`"
        yield subject.finding(WORKER, message, (*workload.path, "worker"), help_text)


def check_kinds(subject: Subject, workload: Workload) -> Iterator[Diagnostic]:
    """One kind of parallelism, and that whole."""
    path, given = (*workload.path, "parallelism"), workload.parallelism
    if is_pipeline_parallel(given) and is_data_parallel(given):
        message = f"{workload.name} has both pipeline and data parallelism"
        yield subject.finding(BOTH, message, (*path, "pipeline"), "keep pipeline, or data and dataLocal")
    if (given.get("data") is None) != (given.get("dataLocal") is None):
        has, lacks = ("data", "dataLocal") if given.get("dataLocal") is None else ("dataLocal", "data")
        message = f"{workload.name} has parallelism.{has}, but no {lacks}"
        yield subject.finding(DATA, message, (*path, has), f"set {lacks}")


def check_counts(subject: Subject, workload: Workload) -> Iterator[Diagnostic]:
    """Counts are positive."""
    for field in COUNTS:
        count = workload.parallelism.get(field)
        if count is not None and count <= 0:
            message = f"parallelism.{field} is {count}"
            yield subject.finding(COUNT, message, (*workload.path, "parallelism", field), "use 1 or more")
