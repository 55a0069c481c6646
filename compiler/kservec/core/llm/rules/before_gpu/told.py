"""Parallelism and space for a cache that vLLM is never told of, and ranks that no pod has.

KServe's templates have no flags for some fields, and a command of one's own only has what is written in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.rules.before_gpu.gpus import DATA, PIPELINE, TENSOR

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import Server
    from kservec.core.llm.rules.subject import Subject

FLAGS: Final = {
    "tensor": TENSOR,
    "pipeline": PIPELINE,
    "data": DATA,
    "expert": ("--enable-expert-parallel", "-ep"),
}
"""Fields of `parallelism`, and the flags of vLLM that they become."""

NOT_TOLD = Code(
    "llm/parallelism-not-told",
    Severity.WARNING,
    "parallelism that vLLM is never told of",
    "The command that vLLM is started with has no flag for it. KServe's presets have one for data and expert only "
    "where there is a `worker`. A command of your own must have it written out.",
)
UNEVEN = Code(
    "llm/parallelism-uneven",
    Severity.WARNING,
    "data-parallel ranks that no pod has",
    "KServe makes data / dataLocal pods, rounded down. The ranks that are left over never come up, and those that are "
    "there wait for them.",
)
NOT_USED = Code(
    "llm/kv-cache-not-used",
    Severity.WARNING,
    "a server that is not told of the space for its cache",
    "The pods get the volumes that kvCacheOffloading describes, but the command of the server has no connector that "
    "makes use of them. KServe's presets have one; a command of your own must have it written out "
    "(--kv-transfer-config).",
)
OFFLOADING: Final = "kvCacheOffloading"
CONNECTOR: Final = "--kv-transfer-config"


def check_told(subject: Subject, servers: Sequence[Server]) -> Iterator[Diagnostic]:
    """Fields of `parallelism` against the flags of vLLM."""
    for server in servers:
        if server.is_known and server.leads:
            yield from untold(subject, server)
            yield from unused(subject, server)
    for workload in subject.workloads:
        data, local = workload.parallelism.get("data"), workload.parallelism.get("dataLocal")
        if workload.is_multi_node and data and local and data % local:
            message = f"{data} data-parallel ranks are not shared out evenly among pods with {local} each"
            path = (*workload.path, "parallelism", "data")
            yield subject.finding(UNEVEN, message, path, f"use a multiple of {local}")


def untold(subject: Subject, server: Server) -> Iterator[Diagnostic]:
    """Fields that vLLM is not told of. That a field is 1 or false is what vLLM does anyway."""
    for field, flags in FLAGS.items():
        value = server.workload.parallelism.get(field)
        if not value or (value == 1 and value is not True) or server.has(*flags):
            continue
        path = (*server.workload.path, "parallelism", field)
        message = f"parallelism.{field} has no effect: vLLM is started without {flags[0]}"
        yield subject.finding(NOT_TOLD, message, path, f"add {flags[0]} to the command, or leave the field out")


def unused(subject: Subject, server: Server) -> Iterator[Diagnostic]:
    """Space for the cache that vLLM is not told of. KServe puts the connector into quotes, where it may be escaped."""
    is_told = server.has(CONNECTOR) or "kv_connector" in server.text
    if server.workload.spec.get(OFFLOADING) is not None and not is_told:
        message = f"{OFFLOADING} has no effect: vLLM is started without {CONNECTOR}"
        path = (*server.workload.path, OFFLOADING)
        yield subject.finding(NOT_USED, message, path, f"add {CONNECTOR} to the command, or leave the field out")
