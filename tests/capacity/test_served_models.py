"""Served models: which one a server serves, where its facts are from, and what it is told."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.policy.scenes import deployment, faults, scene

from kservec.api import plugs
from kservec.capacity.gpu_memory import Split
from kservec.capacity.memory_findings import check_gpu_memory
from kservec.capacity.served_models import facts_for, model_of, served_models, serving_of
from kservec.core.lock import Lock
from kservec.core.nodes import Device, NodePool, Taint
from kservec.core.records import evolve
from kservec.policy.servers import Server, servers_of

GIB = 1 << 30
GPU = "nvidia.com/gpu"
KNOWN = "Qwen/Qwen3-8B"
VLLM = ["vllm", "serve", KNOWN]


def pool(name: str = "a", memory: int | None = 80 * GIB) -> NodePool:
    """A pool of nodes with GPUs."""
    return NodePool(
        name=name, fewest=1, most=1, room={"cpu": 64000, "pods": 10, GPU: 8}, devices=(Device(GPU, 8, memory),)
    )


def server(*arguments: str, command: list[str] | None = None, pod: Any = None, **more: Any) -> Server:
    """A server that is told something."""
    body = deployment({"command": command or VLLM, "args": list(arguments), **more}, pod)
    return next(servers_of(scene(body)))


def downloads(uri: str) -> dict[str, Any]:
    """A pod that downloads a model before it starts."""
    return {"initContainers": [{"name": "storage-initializer", "args": [uri, "/mnt/models"]}]}


@pytest.mark.parametrize(
    ("command", "arguments", "pod", "model"),
    [
        (VLLM, [], None, KNOWN),
        (["vllm", "serve", "/mnt/models"], [], None, ""),
        (["vllm", "serve", "/mnt/models"], [], downloads("hf://Qwen/Qwen3-32B:main"), "Qwen/Qwen3-32B"),
        (["vllm", "serve", "/mnt/models"], [], downloads("s3://models/chat"), ""),
        (["python", "-m", "vllm.entrypoints.openai.api_server"], ["--model=Qwen/Qwen3-4B"], None, "Qwen/Qwen3-4B"),
        (["python", "-m", "vllm.entrypoints.openai.api_server"], ["--model=/mnt/models"], None, ""),
    ],
)
def test_the_model_of_a_server(command: list[str], arguments: list[str], pod: Any, model: str) -> None:
    """What is downloaded before it starts counts more than the path that it is told."""
    assert model_of(server(*arguments, command=command, pod=pod), plugs()) == model


def test_where_facts_are_from() -> None:
    """The service's own word counts most, then the lock file, then the table; else nothing is known."""
    uri = "hf://Qwen/Qwen3-8B"
    stage = scene(deployment({"command": ["vllm", "serve", "/mnt/models"]}, downloads(uri)))
    (only,) = servers_of(stage)
    locked = evolve(stage.site, lock=Lock(facts={uri: {"parameters": 7}}))
    scenes = {
        "the annotation of chat": evolve(stage, site=locked, model_facts={"parameters": 9}),
        "the lock file": evolve(stage, site=locked),
        "config.json of Qwen/Qwen3-8B at b968826d": stage,
    }
    for source, each in scenes.items():
        facts = facts_for(each, only, KNOWN)
        assert facts is not None
        assert facts.source == source
    assert facts_for(stage, only, "somebody/else") is None


def test_facts_of_the_lock_file_hold_for_the_commit_that_a_build_writes() -> None:
    """The lock names a model as the spec does; the rendered URI has its commit."""
    locked = Lock(facts={"hf://somebody/else": {"parameters": 7}})
    body = deployment({"command": ["vllm", "serve", "/mnt/models"]}, downloads(f"hf://somebody/else:{'0' * 40}"))
    stage = scene(body, lock=locked)
    facts = facts_for(stage, next(servers_of(stage)), "somebody/else")
    assert facts is not None
    assert facts.parameters == 7


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        ([], "split", Split(1, 1, 1)),
        (["--tensor-parallel-size=4", "--pipeline-parallel-size", "2"], "split", Split(4, 2, 1)),
        (["-tp", "2", "--data-parallel-size=8"], "split", Split(2, 1, 8)),
        (["--tensor-parallel-size=$TP"], "split", None),
        (["--distributed-executor-backend=ray"], "split", None),
        (["--max-model-len=32768"], "length", 32768),
        (["--max-model-len=32k"], "length", 32000),
        (["--max_model_len=32K"], "length", 32768),
        (["--max-model-len=auto"], "length", None),
        (["--max-num-seqs=64"], "sequences", 64),
        (["--gpu-memory-utilization=0.95"], "utilisation", Fraction(19, 20)),
        (["--gpu-memory-utilization=$SHARE"], "utilisation", None),
        (["--gpu-memory-utilization=7"], "utilisation", None),
        (["--gpu-memory-utilization=0"], "utilisation", None),
        (["--gpu-memory-utilization=-0.9"], "utilisation", None),
        (["--gpu-memory-utilization=nan"], "utilisation", None),
        (["--gpu-memory-utilization=1"], "utilisation", 1),
        ([], "utilisation", Fraction(9, 10)),
        (["--dtype=auto"], "dtype", ""),
        (["--dtype=float16"], "dtype", "float16"),
        (["--kv-cache-dtype=fp8"], "cache_dtype", "fp8"),
        (["--quantization=awq"], "quantization", "awq"),
        (["--cpu-offload-gb=10"], "offload", 10 * GIB),
        (["--cpu-offload-gb=$GIB"], "offload", None),
        (["--cpu-offload-gb=-10"], "offload", None),
        (["--cpu-offload-gb=1e999"], "offload", None),
        (["--cpu-offload-gb=nan"], "offload", None),
        ([f"--tensor-parallel-size={'9' * 5000}"], "split", None),
        ([f"--max-model-len={'9' * 5000}"], "length", None),
        (["--max-model-len=0"], "length", None),
        (["--max-model-len=-1"], "length", None),
    ],
)
def test_what_a_server_is_told(arguments: list[str], field: str, value: Any) -> None:
    """In vLLM's own spellings; what cannot be read is unknown."""
    assert getattr(serving_of(server(*arguments), None), field) == value


def test_a_length_that_cannot_be_read_is_not_that_of_the_model() -> None:
    """The server was told another one."""
    assert serving_of(server("--max-model-len=$LENGTH"), None).is_told_length


def test_of_a_server_with_hidden_arguments_nothing_is_known() -> None:
    """Variables from a Secret may hold any of them."""
    more = {"envFrom": [{"secretRef": {"name": "more"}}]}
    assert serving_of(server(**more), None).split is None


def test_with_more_ranks_than_gpus_nothing_is_known() -> None:
    """However small the share of each rank would be: vLLM does not start."""
    several = {
        ("--tensor-parallel-size=2000",): "it is told of 2,000 ranks, and has 2 GPUs",
        ("--tensor-parallel-size=2", "--pipeline-parallel-size=2"): "it is told of 4 ranks, and has 2 GPUs",
        ("--tensor-parallel-size=8", "--nnodes=2"): "it is told of 8 ranks, and has 4 GPUs",
        (
            "--data-parallel-size=900",
            "--data-parallel-size-local=1",
        ): "it is told of 900 ranks, and all pools have 8 GPUs",
        ("--tensor-parallel-size=4", "--nnodes=2"): "",
        ("--tensor-parallel-size=2",): "",
    }
    for arguments, doubt in several.items():
        stage = scene(deployment({"command": VLLM, "args": [*arguments], "resources": {"limits": {GPU: 2}}}))
        (found,) = served_models(stage, next(servers_of(stage)), (pool(),))
        assert found.estimate is not None
        assert found.estimate.fits is (None if doubt else True)
        assert found.estimate.weights.formula.endswith(f"is unknown: {doubt}") is bool(doubt)


def test_a_pool_with_fewer_gpus_than_the_pod_asks_for_tells_nothing() -> None:
    """The pod never runs there, however large its GPUs are."""
    stage = scene(deployment({"command": VLLM, "resources": {"limits": {GPU: 16}}}))
    (found,) = served_models(stage, next(servers_of(stage)), (pool(),))
    assert (found.pool, found.estimate and found.estimate.fits) == ("", None)


def test_of_another_engine_nothing_is_known() -> None:
    """KServe's own server may run a model without vLLM."""
    own = {"image": "kserve/huggingfaceserver:v0.21.0", "command": ["python"]}
    arguments = {"vllm": Split(), "huggingface": None}
    for engine, split in arguments.items():
        body = deployment({**own, "args": [f"--model_id={KNOWN}", f"--backend={engine}"]})
        assert serving_of(next(servers_of(scene(body))), None).split == split


def test_the_model_is_held_against_each_pool_with_its_gpus() -> None:
    """A pool that does not say how much memory its GPUs have leaves the question open."""
    stage = scene(deployment({"command": VLLM, "resources": {"limits": {GPU: 1}}}))
    found = list(served_models(stage, next(servers_of(stage)), (pool("a"), pool("b", None), pool("c", 8 * GIB))))
    assert [(s.pool, s.estimate and s.estimate.fits) for s in found] == [("a", True), ("b", None), ("c", False)]


def test_only_pools_that_let_the_pods_in_count() -> None:
    """A GPU that is large enough is of no use on nodes that are not for them."""
    pools = (pool("a", 8 * GIB), evolve(pool("b"), taints=(Taint("other", "", "NoSchedule"),)))
    body = deployment({"command": VLLM, "resources": {"limits": {GPU: 1}}})
    assert len(faults(check_gpu_memory, body, node_pools=pools)) == 1
    assert faults(check_gpu_memory, body, node_pools=pools[1:]) == []


def test_without_pools_or_gpus_there_is_no_verdict() -> None:
    """The memory of the GPU is unknown; without a GPU there is no estimate."""
    for resources, known in (({"limits": {GPU: 1}}, True), ({}, False)):
        stage = scene(deployment({"command": VLLM, "resources": resources}))
        (found,) = served_models(stage, next(servers_of(stage)), ())
        assert (found.estimate is not None) is known
        assert found.estimate is None or found.estimate.fits is None


BIG = ["vllm", "serve", "meta-llama/Llama-3.3-70B-Instruct"]


@pytest.mark.parametrize(
    ("command", "arguments", "pools", "last"),
    [
        (BIG, [], (pool(),), ["resources"]),
        (BIG, ["--tensor-parallel-size=2", "--max-model-len=131072"], (pool(),), [1]),
        (BIG, ["--tensor-parallel-size=2", "--max-model-len=8192"], (pool(),), []),
        (BIG, [], (pool(), pool("b", 192 * GIB)), []),
        (BIG, [], (pool("a", None),), []),
        (["vllm", "serve", "somebody/else"], [], (pool(),), []),
        (BIG, [], (), []),
    ],
)
def test_only_what_certainly_does_not_fit_is_found(
    command: list[str], arguments: list[str], pools: tuple[NodePool, ...], last: list[Any]
) -> None:
    """On no pool, by facts that are known; it points at the resources, or at the length of the context."""
    body = deployment({"command": command, "args": arguments, "resources": {"limits": {GPU: 2}}})
    assert [fault.path[-1] for fault in faults(check_gpu_memory, body, node_pools=pools)] == last
