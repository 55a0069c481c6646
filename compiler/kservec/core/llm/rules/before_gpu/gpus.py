"""Whether each pod has the GPUs that its share of the model needs.

vLLM starts a process for each rank, and each needs a GPU of its own: with too few it fails as soon as it starts, after
the model was downloaded and the GPUs were waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.rules.devices import DEVICE_CLASS
from kservec.core.names import GPU_RESOURCE_TYPES
from kservec.core.pods.gpu_types import gpu_types
from kservec.core.quantity import parse_quantity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import Server
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json

TENSOR: Final = ("--tensor-parallel-size", "-tp")
PIPELINE: Final = ("--pipeline-parallel-size", "-pp")
DATA: Final = ("--data-parallel-size", "-dp")
DATA_LOCAL: Final = ("--data-parallel-size-local", "-dpl")
ELSEWHERE: Final = ("--nnodes", "--data-parallel-rank", "-dpn", "--data-parallel-backend", "-dpb")
"""Flags with which other processes, perhaps of other pods, have some of the ranks."""
BACKEND: Final = ("--distributed-executor-backend",)
SLICES: Final = "nvidia.com/mig-"

TOO_FEW = Code(
    "llm/gpus-too-few",
    Severity.WARNING,
    "fewer GPUs than the model is spread over",
    "Each pod needs a GPU for every rank that it runs: tensor parallelism, times pipeline parallelism, times the "
    "data-parallel ranks of one pod (dataLocal). With fewer vLLM fails when it starts.",
)
IDLE = Code(
    "llm/gpus-idle",
    Severity.WARNING,
    "more GPUs than the model is spread over",
    "vLLM uses one GPU unless it is told otherwise. GPUs that a pod has beyond its ranks are paid for and never used.",
)


def check_gpus(subject: Subject, servers: Sequence[Server]) -> Iterator[Diagnostic]:
    """GPUs of each pod against its ranks; nothing is said where either cannot be told."""
    types = gpu_types(subject.platform, subject.annotations.get(GPU_RESOURCE_TYPES))
    for server in servers:
        has = 0 if DEVICE_CLASS in subject.annotations else gpus_of(server, types)
        needs = ranks_of(server) if has else 0
        if not needs or has == needs:
            continue
        path = (*server.path, "resources")
        what = f"vLLM uses {needs} of them" if needs < has else f"vLLM needs {needs} GPUs"
        detail = f"{what} ({how(server)})"
        if needs > has:
            message = f"{detail}, each pod of {server.workload.name} has {has}"
            yield subject.finding(TOO_FEW, message, path, "ask for more GPUs, or lower `parallelism`")
        else:
            message = f"each pod of {server.workload.name} has {has} GPUs, {detail}"
            yield subject.finding(IDLE, message, path, f"ask for {needs}, or raise parallelism.tensor")


def gpus_of(server: Server, types: Sequence[str]) -> int:
    """The GPUs of a pod's main container; 0 where there are none, or where they are claimed in another way."""
    resources = server.container.get("resources") or {}
    if resources.get("claims") or server.pod.get("resourceClaims"):
        return 0
    amounts: dict[str, Json] = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
    return sum(ceil(parse_quantity(n)) for name, n in amounts.items() if name in types or name.startswith(SLICES))


def ranks_of(server: Server) -> int:
    """The ranks that vLLM runs in one pod; 0 where they cannot be told."""
    if not server.is_known or server.has(*ELSEWHERE):
        return 0
    if "ray" in server.values(*BACKEND) or (server.workload.is_multi_node and server.has(*PIPELINE)):
        return 0
    tensor, pipeline, data = (1 if n is None else n for n in counts(server))
    return tensor * pipeline * data


def counts(server: Server) -> tuple[int | None, int | None, int | None]:
    """Tensor, pipeline and local data parallelism, as vLLM is told; None where it is not."""
    local = server.number(*DATA_LOCAL)
    return server.number(*TENSOR), server.number(*PIPELINE), server.number(*DATA) if local is None else local


def how(server: Server) -> str:
    """How a number of ranks comes about."""
    names = ("tensor", "pipeline", "data-parallel ranks")
    given = [f"{name} {n}" for name, n in zip(names, counts(server), strict=True) if n is not None]
    return " x ".join(given) or "it is told of no parallelism"
