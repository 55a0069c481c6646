"""Groups of nodes: who leads, what each is told, and how long others are waited for."""

from __future__ import annotations

import socket
import time

import pytest

from .programs import Done, Place, write_program

UNAVAILABLE = 69
LWS = {"LWS_LEADER_ADDRESS": "localhost", "LWS_GROUP_SIZE": "2"}
DATA = ["acme/chat", "-dp=4", "-dpl=2", "--data-parallel-address=localhost"]
RAY = """
echo "$@" >> "$STANDIN_RECORD.ray"
case "$*" in *--block*) exit "${RAY_STATUS:-0}" ;; esac
"""
RAY_MODULE = """
import os
def init(**settings): assert settings["address"].startswith("127.0.0.1:")
def nodes():
    path = os.environ["STANDIN_RECORD"] + ".asked"
    open(path, "a").write("x")
    return [{"Alive": n < len(open(path).read())} for n in range(3)]
"""

pytestmark = pytest.mark.slow
"""Nodes are waited for, seconds long."""


@pytest.fixture
def listening() -> int:
    """A port of this machine at which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def with_ray(place: Place) -> Place:
    """A place with a stand-in for Ray, the program and the package; each question finds one more node."""
    write_program(place.programs / "ray", RAY)
    package = place.folder / "packages" / "ray"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(RAY_MODULE)
    return place


def ray_words(place: Place) -> list[str]:
    """What Ray was told."""
    return place.record.with_suffix(".ray").read_text().splitlines()


def waited_in_vain(done: Done, message: str) -> None:
    """Whether a run gave up, in time, and without starting vLLM."""
    assert (done.status, done.records) == (UNAVAILABLE, []), done.said
    assert message in done.said
    assert "LEADER_TIMEOUT_SECONDS" in done.said


def test_a_leader_without_an_address_is_waited_for_with_a_deadline(place: Place) -> None:
    """The message says who did not come, and for how long it was waited."""
    started = time.monotonic()
    done = place.run(
        "acme/chat", "-dp=2", "-dpl=1", "--data-parallel-address=leader.invalid", LEADER_TIMEOUT_SECONDS="2"
    )
    waited_in_vain(done, "the leader leader.invalid has no address after")
    assert 2 <= time.monotonic() - started < 15


def test_the_deadline_of_kserve_counts_where_there_is_no_other(place: Place) -> None:
    """KServe's presets count attempts, one a second."""
    done = place.run(*DATA[:3], "--data-parallel-address=leader.invalid", DP_ADDRESS_RESOLVE_ATTEMPTS="1")
    waited_in_vain(done, "the leader leader.invalid has no address")


def test_a_worker_waits_until_the_leader_answers(place: Place, listening: int) -> None:
    """It starts once somebody listens, and gives up where nobody does."""
    argv = [*DATA, "--headless", "--data-parallel-start-rank=2"]
    assert place.run(*argv, f"--data-parallel-rpc-port={listening}").status == 0
    with socket.create_server(("127.0.0.1", 0)) as server:
        silent = server.getsockname()[1]
    done = place.run(*argv, f"--data-parallel-rpc-port={silent}", LEADER_TIMEOUT_SECONDS="1")
    waited_in_vain(done, f"the leader localhost does not answer at 127.0.0.1, port {silent} after")


def test_data_parallel_nodes_get_an_address_and_a_rank(place: Place, listening: int) -> None:
    """Sockets of vLLM take no names; the first rank of a worker follows from its index."""
    port = f"--data-parallel-rpc-port={listening}"
    leader = place.run(*DATA, port).words
    assert leader == ["serve", "acme/chat", "-dp=4", "-dpl=2", port, "--data-parallel-address=127.0.0.1"]
    worker = place.run(*DATA, port, "--headless", LWS_WORKER_INDEX="1").words
    assert worker[-2:] == ["--data-parallel-start-rank=2", "--data-parallel-address=127.0.0.1"]
    told = place.run(*DATA, port, "--headless", "--data-parallel-start-rank=3", LWS_WORKER_INDEX="1").words
    assert "--data-parallel-start-rank=2" not in told


def test_nodes_of_a_leader_worker_set_share_a_model(place: Place, listening: int) -> None:
    """With vLLM's own processes: numbers, the leader's address, and no API on workers."""
    argv = ["acme/chat", "--tensor-parallel-size=16", f"--master-port={listening}"]
    leader = place.run(*argv[:2], **LWS).words
    assert leader[3:] == ["--nnodes=2", "--node-rank=0", "--master-port=29501", "--master-addr=127.0.0.1"]
    silent = place.run(*argv[:2], **LWS, LWS_WORKER_INDEX="1", LEADER_TIMEOUT_SECONDS="1")
    waited_in_vain(silent, "the leader localhost does not answer at 127.0.0.1, port 29501")
    own = place.run(*argv, "--nnodes=2", "--node-rank=1", "--master-addr=localhost").words
    assert own[3:] == [
        f"--master-port={listening}",
        "--nnodes=2",
        "--node-rank=1",
        "--headless",
        "--master-addr=127.0.0.1",
    ]


def test_the_head_of_an_inference_service_starts_ray_and_waits_for_all(place: Place) -> None:
    """First Ray's head, then vLLM over it, once as many nodes have joined as KServe says."""
    variables = {"RAY_NODE_COUNT": "3", "TENSOR_PARALLEL_SIZE": "8", "PIPELINE_PARALLEL_SIZE": "3", "RAY_PORT": "6380"}
    done = with_ray(place).run("acme/chat", POD_IP="10.0.0.7", PYTHONPATH=str(place.folder / "packages"), **variables)
    assert done.status == 0, done.said
    assert ray_words(place) == [
        "start --head --port=6380 --node-ip-address=10.0.0.7 --disable-usage-stats --include-dashboard=false"
    ]
    assert done.words == [
        "serve", "acme/chat", "--tensor-parallel-size=8", "--pipeline-parallel-size=3",
        "--distributed-executor-backend=ray",
    ]  # fmt: skip
    assert len(place.record.with_suffix(".asked").read_text()) == 3


def test_nodes_that_do_not_join_are_waited_for_with_a_deadline(place: Place) -> None:
    """A worker that cannot be scheduled is told of, instead of a head that hangs."""
    done = with_ray(place).run("acme/chat", "-pp=2", RAY_NODE_COUNT="2", LEADER_TIMEOUT_SECONDS="1")
    waited_in_vain(done, "not all 2 nodes have joined the Ray cluster after")


def test_a_worker_of_an_inference_service_joins_and_stays(place: Place, listening: int) -> None:
    """It needs neither a model nor vLLM, and its status is Ray's."""
    variables = {"HEAD_SVC": "127.0.0.1", "RAY_NODE_COUNT": "2", "RAY_PORT": str(listening), "RAY_STATUS": "5"}
    done = with_ray(place).run("--model=/nowhere", **variables)
    assert (done.status, done.records) == (5, []), done.said
    assert ray_words(place) == [f"start --address=127.0.0.1:{listening} --block --disable-usage-stats"]


def test_a_worker_looks_for_the_heads_service_in_its_namespace(place: Place) -> None:
    """The name is completed as far as it is sure, and by the pod's search list from there."""
    variables = {"HEAD_SVC": "chat-head-1", "POD_NAMESPACE": "ml", "LEADER_TIMEOUT_SECONDS": "1"}
    waited_in_vain(with_ray(place).run(**variables), "the leader chat-head-1.ml.svc has no address after")


def test_one_host_needs_no_cluster(place: Place) -> None:
    """The executor whose processes share a host starts neither Ray nor waits for anybody."""
    done = place.run("acme/chat", "-tp=2", "--distributed-executor-backend=mp", RAY_NODE_COUNT="2")
    assert done.words == ["serve", "acme/chat", "-tp=2", "--distributed-executor-backend=mp"]


def test_ray_over_a_leader_worker_set(place: Place, listening: int) -> None:
    """The same two parts, told apart by the index in the group."""
    argv = ["acme/chat", "-tp=8", "-pp=2", "--distributed-executor-backend=ray"]
    done = with_ray(place).run(*argv, PYTHONPATH=str(place.folder / "packages"), **LWS)
    assert done.words == ["serve", *argv]
    place.record.with_suffix(".ray").unlink()
    assert place.run(*argv, **LWS, LWS_WORKER_INDEX="1", RAY_PORT=str(listening)).records == []
    assert ray_words(place) == [f"start --address=127.0.0.1:{listening} --block --disable-usage-stats"]
