"""Parallelism: how many nodes, and how many GPUs for the head and for each worker."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.platform import PlatformConfig
from kservec.core.pods.gpu_types import gpu_types
from kservec.core.pods.gpus import requested, type_of
from kservec.core.serving.parallelism import Sizes, cluster, nodes_for, stage_a_node

TYPES = gpu_types(PlatformConfig(), None)


def container(**resources: Any) -> dict[str, Any]:
    """A container with limits and requests."""
    return {"name": "c", "resources": resources}


@pytest.mark.parametrize(
    ("tensor", "pipeline", "head", "worker", "expected"),
    [
        (1, 2, 0, 0, (2, 1, 1)),
        (2, 2, 0, 2, (2, 2, 2)),
        (1, 4, 0, 3, (2, 3, 1)),
        (4, 1, 4, 2, (1, 0, 4)),
        (2, 2, 2, 0, (3, 1, 2)),
        (1, 1, 0, 1, (1, 0, 1)),
        (2, 3, 2, 2, (3, 2, 2)),
        (1, 1, 0, 0, (1, 1, 1)),
        (4, 2, 0, 0, (8, 1, 1)),
        (2, 2, 8, 0, (1, 1, 8)),
        (2, 2, 4, 1, (1, 0, 4)),
        (2, 2, 0, 8, (1, 0, 4)),
        (2, 2, 3, 2, (2, 2, 3)),
        (3, 3, 0, 4, (3, 4, 1)),
    ],
)
def test_a_cluster_gathers_the_gpus(
    tensor: int, pipeline: int, head: int, worker: int, expected: tuple[int, int, int]
) -> None:
    """Nodes, GPUs of a worker and of the head follow from the sizes and from what the containers ask for."""
    plan = cluster(Sizes(pipeline=pipeline, tensor=tensor), head=head, worker=worker)
    assert (plan.nodes, plan.worker_gpus, plan.head_gpus) == expected
    assert plan.missing == 0
    assert plan.workers == plan.nodes - 1


def test_a_head_of_its_own_size_can_leave_too_few() -> None:
    """Where the head asks for less than the workers leave to it, GPUs are missing."""
    plan = cluster(Sizes(pipeline=2, tensor=2), head=1, worker=2)
    assert (plan.nodes, plan.head_gpus, plan.worker_gpus, plan.missing) == (2, 1, 2, 1)


@pytest.mark.parametrize("sizes", [Sizes(pipeline=p, tensor=t) for p in range(1, 5) for t in range(1, 5)])
def test_what_is_left_out_is_never_missing(sizes: Sizes) -> None:
    """A cluster has GPUs enough whenever the head leaves its own number open, whatever the workers ask for."""
    assert [cluster(sizes, head=0, worker=w).missing for w in range(10)] == [0] * 10


@pytest.mark.parametrize(("pipeline", "tensor"), [(1, 1), (3, 4), (2, 8)])
def test_one_stage_a_node(pipeline: int, tensor: int) -> None:
    """Where the processes of a node share its GPUs, stages are nodes and shards are GPUs."""
    plan = stage_a_node(Sizes(pipeline=pipeline, tensor=tensor))
    assert (plan.nodes, plan.head_gpus, plan.worker_gpus, plan.missing) == (pipeline, tensor, tensor, 0)


@pytest.mark.parametrize(("total", "each", "nodes"), [(4, 2, 2), (5, 2, 3), (1, 8, 1), (9, 4, 3)])
def test_nodes_are_rounded_up(total: int, each: int, nodes: int) -> None:
    """The last node may have GPUs to spare."""
    assert nodes_for(total, each) == nodes


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (container(), 0),
        ({"name": "c"}, 0),
        (container(requests={"nvidia.com/gpu": 2}), 2),
        (container(requests={"amd.com/gpu": "4"}), 4),
        (container(limits={"nvidia.com/gpu": 8}), 0),
        (container(requests={"vendor.example.com/npu": 8}), 0),
        (container(requests={"habana.ai/gaudi": 3, "nvidia.com/gpu": 0}), 0),
        (container(requests={"nvidia.com/gpu": "1500m"}), 2),
    ],
)
def test_requests_alone_count(given: dict[str, Any], count: int) -> None:
    """The GPUs of a container are those of the first known type among its requests, rounded up."""
    assert requested(given, TYPES) == count


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (container(), "nvidia.com/gpu"),
        (container(limits={"amd.com/gpu": 1}), "amd.com/gpu"),
        (container(requests={"intel.com/gpu": 1}), "intel.com/gpu"),
        (container(limits={"nvidia.com/gpu": 0, "habana.ai/gaudi": 2}), "habana.ai/gaudi"),
        (container(limits={"habana.ai/gaudi": 2}, requests={"amd.com/gpu": 1}), "amd.com/gpu"),
        (container(limits={"vendor.example.com/npu": 1}), "nvidia.com/gpu"),
    ],
)
def test_the_type_is_the_first_in_use(given: dict[str, Any], kind: str) -> None:
    """A container gets GPUs of the type that it has some of, by default NVIDIA's."""
    assert type_of(given, TYPES) == kind


def test_annotated_types_come_last() -> None:
    """Types that an annotation lists count after KServe's own."""
    types = gpu_types(PlatformConfig(), '["vendor.example.com/npu"]')
    assert type_of(container(limits={"vendor.example.com/npu": 1}), types) == "vendor.example.com/npu"
    both = container(limits={"vendor.example.com/npu": 1, "amd.com/gpu": 1})
    assert type_of(both, types) == "amd.com/gpu"
