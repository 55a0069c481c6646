"""Parallelism: over how many nodes a predictor is spread, and how many GPUs each of them has.

Numbers in, numbers out. Must not know pods, variables or which resource counts as a GPU.
"""

from __future__ import annotations

from typing import NamedTuple

GPUS_UNSAID = 1
"""GPUs of a node whose container asks for none."""


class Sizes(NamedTuple):
    """Into how many stages (`pipeline`) and how many shards a stage (`tensor`) a model is cut; each at least 1."""

    pipeline: int = 1
    tensor: int = 1

    @property
    def gpus(self) -> int:
        """The GPUs that the whole model takes."""
        return self.pipeline * self.tensor


class Parallelism(NamedTuple):
    """The plan: nodes, the head among them, and GPUs of the head and of each worker."""

    sizes: Sizes
    nodes: int
    head_gpus: int
    worker_gpus: int

    @property
    def workers(self) -> int:
        """Nodes beside the head."""
        return self.nodes - 1

    @property
    def missing(self) -> int:
        """GPUs that the model takes and the nodes do not have; 0 if they suffice."""
        return max(0, self.sizes.gpus - self.head_gpus - self.worker_gpus * self.workers)


def stage_a_node(sizes: Sizes) -> Parallelism:
    """One stage a node, one shard a GPU: the plan where the processes of a node share its GPUs.

    KServe: components/predictor.go, computeMpNodeAndGPUs
    """
    return Parallelism(sizes, nodes=sizes.pipeline, head_gpus=sizes.tensor, worker_gpus=sizes.tensor)


def cluster(sizes: Sizes, *, head: int, worker: int) -> Parallelism:
    """As many nodes as it takes to gather the model's GPUs. It may miss some: see `Parallelism.missing`.

    Args:
        sizes: how the model is cut.
        head: GPUs that the head's container asks for, 0 for none.
        worker: GPUs that a worker's container asks for, 0 for none.

    KServe: components/predictor.go, computeRayNodeAndGPUs
    """
    total = sizes.gpus
    if worker > 0:
        nodes = nodes_for(total, worker)
        if nodes == 1 or head >= total:
            return Parallelism(sizes, nodes=1, head_gpus=total, worker_gpus=0)
        rest = total - worker * (nodes - 1)
        return Parallelism(sizes, nodes=nodes, head_gpus=head or rest, worker_gpus=worker)
    if head > 0:
        return Parallelism(sizes, nodes=1 + max(0, total - head), head_gpus=head, worker_gpus=GPUS_UNSAID)
    return Parallelism(sizes, nodes=total, head_gpus=GPUS_UNSAID, worker_gpus=GPUS_UNSAID)


def nodes_for(total: int, each: int) -> int:
    """Nodes of `each` GPUs that have `total` together."""
    return -(-total // each)
