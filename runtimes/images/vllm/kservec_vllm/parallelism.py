"""Over how many GPUs the model is spread, and whether this node has them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

from .gpus import gpu_count
from .refusals import CONFIG, Refusal
from .settings import Settings
from .words import has, number, value

TENSOR: Final = ("--tensor-parallel-size", "-tp")
PIPELINE: Final = ("--pipeline-parallel-size", "-pp")
DATA: Final = ("--data-parallel-size", "-dp")
DATA_LOCAL: Final = ("--data-parallel-size-local", "-dpl")
START_RANK: Final = ("--data-parallel-start-rank", "-dpr")
RANK: Final = ("--data-parallel-rank", "-dpn")
NODES: Final = ("--nnodes", "-n")
BACKEND: Final = ("--distributed-executor-backend",)
DATA_BACKEND: Final = ("--data-parallel-backend", "-dpb")


def parallel_words(words: Sequence[str], settings: Settings) -> list[str]:
    """The words with tensor and pipeline parallelism, as told, else by the variables of KServe's workers."""
    found = list(words)
    for flags, size in ((TENSOR, settings.tensor), (PIPELINE, settings.pipeline)):
        if size > 1 and not has(found, *flags, "--config"):
            found = [*found, f"{flags[0]}={size}"]
    return found


def check_numbers(words: Sequence[str]) -> None:
    """Whether sizes are at least 1, and ranks lie within them.

    Raises:
        Refusal: they are not, or do not.
    """
    for flags in (TENSOR, PIPELINE, DATA, NODES):
        if number(words, *flags) == 0:
            raise Refusal(CONFIG, f"{flags[0]} is 0", "it is 1 at least; leave it out for 1")
    data, local = number(words, *DATA) or 1, number(words, *DATA_LOCAL)
    if local is not None and local > data:
        message = f"{DATA_LOCAL[0]} is {local}, more than all ranks ({DATA[0]} {data})"
        raise Refusal(CONFIG, message, "set parallelism.data to all ranks, and dataLocal to those of one pod")
    for flags in (START_RANK, RANK):
        rank = number(words, *flags)
        if rank is not None and rank >= data:
            message = f"{flags[0]} is {rank}, and there are only {data} ranks"
            raise Refusal(CONFIG, message, "set parallelism.data to a multiple of dataLocal, one for each pod")
    if has(words, "--headless") and (number(words, "--api-server-count", "-asc") or 0) > 0:
        raise Refusal(CONFIG, "--headless is given with --api-server-count", "leave --api-server-count to the leader")


def ranks_here(words: Sequence[str], nodes: int) -> int:
    """How many processes with a GPU each run on this node."""
    spread = (number(words, *TENSOR) or 1) * (number(words, *PIPELINE) or 1)
    local = number(words, *DATA_LOCAL)
    data = number(words, *DATA) if local is None else local
    if has(words, *RANK):
        data = 1
    return ceil(spread / nodes) * (1 if data is None else data)


def check_gpus(words: Sequence[str], settings: Settings, nodes: int) -> None:
    """Whether this node has a GPU for each of its ranks.

    Raises:
        Refusal: it has fewer.
    """
    has_gpus = gpu_count(settings)
    if has_gpus is None or has(words, "--config") or (nodes == 1 and "ray" in backends(words)):
        return
    if has_gpus == 0:
        resource = "amd.com/gpu" if settings.variant == "rocm" else "nvidia.com/gpu"
        message = f"there is no GPU in this container, and the image is built for {settings.variant}"
        raise Refusal(CONFIG, message, f"ask for {resource} in resources.limits, or use the image for CPUs")
    needs = ranks_here(words, nodes)
    if needs > has_gpus:
        message = f"vLLM is told to use {needs} GPUs on this node ({how(words, nodes)}), and there are {has_gpus}"
        raise Refusal(CONFIG, message, f"ask for {needs} GPUs in resources.limits, or lower `parallelism`")


def backends(words: Sequence[str]) -> set[str]:
    """What starts the ranks: with Ray they may be on any node of a cluster that is there already."""
    return {found for flags in (BACKEND, DATA_BACKEND) if (found := value(words, *flags)) is not None}


def how(words: Sequence[str], nodes: int) -> str:
    """How a number of ranks comes about."""
    sizes = (("tensor", number(words, *TENSOR)), ("pipeline", number(words, *PIPELINE)), ("data", local_data(words)))
    given = [f"{name} {size}" for name, size in sizes if size is not None]
    over = [f"over {nodes} nodes"] if nodes > 1 else []
    return ", ".join([" x ".join(given), *over]) if given else "one by default"


def local_data(words: Sequence[str]) -> int | None:
    """The data-parallel ranks of this node, as told."""
    local = number(words, *DATA_LOCAL)
    return number(words, *DATA) if local is None else local
