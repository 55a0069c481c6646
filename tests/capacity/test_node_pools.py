"""Node pools of Cluster documents: what pods may use, and which of several documents counts."""

from __future__ import annotations

import pytest

from kservec.api import Target, front_of
from kservec.core.nodes import NodePool
from kservec.io.reading import File

HEAD = "apiVersion: kservec.dev/v1alpha1\nkind: Cluster\nnodePools:\n"
FULL = """\
  - name: h100
    min: 1
    max: 4
    allocatable: {cpu: "15.5", memory: 60Gi, rdma/hca: 4}
    systemPods: {cpu: 500m, pods: 10, nvidia.com/gpu: 1}
    gpus: {kind: H100, count: 8, memory: 80Gi}
    migProfiles: [{profile: 1g.10gb, count: 7}]
    taints: [{key: gpu, effect: NoSchedule}]
"""


def pools(*documents: str) -> tuple[NodePool, ...]:
    """The pools of Cluster documents, the weakest first."""
    files = [File(f"{i}.yaml", f"{HEAD}{text}".encode()) for i, text in enumerate(documents)]
    front, compilation = front_of([], target=Target(platform=files))
    assert compilation.ok
    return front.env.cluster.node_pools


def test_what_pods_may_use_of_a_node() -> None:
    """What is allocatable without the system's pods; GPUs and their partitions are resources like others."""
    (made,) = pools(FULL)
    assert made.room == {
        "cpu": 15000, "memory": 60 << 30, "rdma/hca": 4, "pods": 100,
        "nvidia.com/gpu": 7, "nvidia.com/mig-1g.10gb": 7,
    }  # fmt: skip
    assert (made.fewest, made.most, made.nodes) == (1, 4, "1..4")
    assert [(d.resource, d.memory) for d in made.devices] == [
        ("nvidia.com/gpu", 80 << 30), ("nvidia.com/mig-1g.10gb", None),
    ]  # fmt: skip
    assert [str(taint) for taint in made.taints] == ["gpu:NoSchedule"]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("gpus: {count: 8, memory: 0}", "gpus.memory is 0, less than any GPU has"),
        ("gpus: {count: 8, memory: 80}", "gpus.memory is 80, less than any GPU has"),
        ("gpus: {count: 8, memory: 80Ti}", "gpus.memory is 80Ti, more than any GPU has"),
        (
            "gpus: {count: 8}, systemPods: {nvidia.com/gpu: 9}",
            'systemPods["nvidia.com/gpu"] is more nvidia.com/gpu than a node has',
        ),
        ("gpus: {count: 8, memory: 80m}", "gpus.memory is 80m, less than any GPU has"),
        ("gpus: {count: 8, memory: -80Gi}", "gpus.memory is -80Gi, less than nothing"),
        ("gpus: {count: 8, memory: 80GB}", "gpus.memory is no quantity: '80GB'"),
        ("gpus: {count: 8, memory: 9e99}", "gpus.memory is more than any node has"),
        ("gpus: {count: 0.5}", "gpus.count must be a whole number"),
        ('gpus: {count: "8"}', "gpus.count must be a whole number"),
        ('systemPods: {amd.com/gpu: "0.5"}', 'systemPods["amd.com/gpu"] is 0.5, and comes in whole numbers'),
        ("systemPods: {pods: true}", "systemPods.pods: not a quantity"),
        ("systemPods: {pods: null}", "systemPods.pods: not a quantity"),
        ("gpus: {count: 8, memory: [80Gi]}", "gpus.memory: not a quantity"),
        ("labels: {a: b c}", "labels.a is nothing that a node can have: a=b c"),
        ("taints: [{effect: NoExecute, key: a b}]", "taints[0].key is nothing that a node can have: a b="),
        ("systemPods: {pods: 500m}", "systemPods.pods is 500m, and comes in whole numbers"),
        (
            "migProfiles: [{profile: 1g.10gb, count: 7}], gpus: {count: 7, resource: nvidia.com/mig-1g.10gb}",
            "gpus.resource is said under migProfiles",
        ),
        ("migProfiles: [{profile: 1g.10gb, count: 7, memory: 9}]", "migProfiles[0].memory is 9, less than any GPU has"),
    ],
)
def test_amounts_that_cannot_be(field: str, message: str) -> None:
    """Each is refused at its place, so that nothing is compared with it."""
    text = f"{HEAD}  - {{name: a, count: 1, allocatable: {{cpu: 4, memory: 8Gi}}, {field}}}\n"
    _, compilation = front_of([], target=Target(platform=[File("c.yaml", text.encode())]))
    (found,) = compilation.diagnostics
    assert found.message == f"nodePools[0].{message}"
    assert found.span is not None
    assert text.splitlines()[found.span.line - 1][: found.span.column - 1].endswith(": ")


def test_a_later_document_replaces_a_pool_and_adds_others() -> None:
    """So environments may differ in the numbers of their nodes."""
    later = "  - {name: h100, count: 2, allocatable: {cpu: 4, memory: 8Gi}}\n"
    more = "  - {name: cpu, count: 3, allocatable: {cpu: 4, memory: 8Gi}}\n"
    assert [(p.name, p.nodes) for p in pools(FULL, later + more)] == [("h100", "2"), ("cpu", "3")]
