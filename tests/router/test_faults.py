"""Services as processes that are killed, stopped, or answer nonsense while the router is under load."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from .graphs import node
from .peers import Process, connected, exchange, free_port, post, running, service_process, statuses, within

P = post(close=False)
FLAGS = ("--access-log", "false", "--connect-attempts", "1")
CLIENTS = 8
MEGABYTES = 60

Fault = Callable[[Callable[[str], AbstractContextManager[Popen[bytes]]], Popen[bytes]], None]


def killed(start: Callable[[str], AbstractContextManager[Popen[bytes]]], popen: Popen[bytes]) -> None:
    """It dies without a word, and nobody listens for a while."""
    del start
    popen.kill()
    popen.wait()
    time.sleep(0.4)


def stopped(start: Callable[[str], AbstractContextManager[Popen[bytes]]], popen: Popen[bytes]) -> None:
    """It hangs: the kernel still takes connections and requests, and nothing comes back; then it dies."""
    del start
    popen.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    popen.send_signal(signal.SIGCONT)
    popen.kill()
    popen.wait()


def odd(mode: str, start: Callable[[str], AbstractContextManager[Popen[bytes]]], popen: Popen[bytes]) -> None:
    """It is replaced by one that answers like that."""
    popen.kill()
    popen.wait()
    with start(mode):
        time.sleep(2.5 if mode == "trickle" else 0.4)


FAULTS: dict[str, tuple[Fault, set[int]]] = {
    "die": (killed, {500}),
    "hang": (stopped, {500, 504}),
    "trickle": (partial(odd, "trickle"), {500, 504}),
    "reset": (partial(odd, "reset"), {500}),
    "garbage": (partial(odd, "garbage"), {500}),
    "cut": (partial(odd, "cut"), {500}),
}


async def until_told(port: int, told: asyncio.Event) -> Counter[int]:
    """Send requests one after the other over kept connections; count the answers, of which each has one."""
    seen: Counter[int] = Counter()

    async def client() -> None:
        async with connected(port) as (reader, writer):
            while not told.is_set():
                writer.write(P)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
                seen[int(head.split(b" ")[1])] += 1

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return seen


async def under_load(process: Process, work: Callable[[], None]) -> Counter[int]:
    """What clients saw while *work* was done."""
    told = asyncio.Event()
    load = asyncio.create_task(until_told(process.port, told))
    await asyncio.sleep(0.2)
    await asyncio.to_thread(work)
    await asyncio.sleep(0.2)
    told.set()
    return await load


def in_flight(process: Process) -> set[str]:
    """The values of all gauges of what is under way."""
    lines = process.get("/metrics")[1].splitlines()
    return {line.rpartition(" ")[2] for line in lines if "_in_flight" in line and not line.startswith("#")}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_every_request_is_answered_while_a_service_fails(name: str, tmp_path: Path) -> None:
    """Each gets one answer, failures have their status, and when the service is well again all is as before."""
    fault, failures = FAULTS[name]
    port = free_port()
    start = partial(service_process, port)
    graph: dict[str, Any] = {
        "nodes": {"root": node("Sequence", {"serviceUrl": f"http://127.0.0.1:{port}/"})},
        "routerTimeouts": {"serviceClient": 1},
    }

    with running(tmp_path, graph, *FLAGS) as process:
        with start("well") as popen:
            seen = asyncio.run(within(30, under_load(process, partial(fault, start, popen))))
        with start("well"):
            after = asyncio.run(within(10, under_load(process, lambda: None)))
        assert process.memory_mb() < MEGABYTES
        assert in_flight(process) == {"0"}
        assert [event for event in process.events() if event["level"] == "error"] == []
    assert seen.keys() == {200, *failures}
    assert after.keys() == {200}


@pytest.mark.slow
def test_one_failing_service_leaves_the_others_alone(tmp_path: Path) -> None:
    """A Splitter over a service that is well and one that hangs: the first is as quick as ever, the second a 504."""
    well, hung = free_port(), free_port()
    steps = [{"serviceUrl": f"http://127.0.0.1:{port}/", "weight": 50} for port in (well, hung)]
    graph = {"nodes": {"root": node("Splitter", *steps)}, "routerTimeouts": {"serviceClient": 1}}

    async def timed(port: int) -> tuple[int, float]:
        begin = time.perf_counter()
        (status,) = statuses(await exchange(port, post()))
        return status, time.perf_counter() - begin

    async def run(port: int) -> list[tuple[int, float]]:
        return await asyncio.gather(*(timed(port) for _ in range(40)))

    with running(tmp_path, graph, *FLAGS) as process, service_process(well), service_process(hung) as popen:
        popen.send_signal(signal.SIGSTOP)
        seen = asyncio.run(within(20, run(process.port)))
    assert {status for status, _ in seen} == {200, 504}
    assert max(seconds for status, seconds in seen if status == 200) < 0.9
    assert all(0.9 < seconds < 2.5 for status, seconds in seen if status == 504)


@pytest.mark.slow
def test_a_hard_failure_is_answered_while_another_service_hangs(tmp_path: Path) -> None:
    """An Ensemble with a hung service and a refused Hard one answers at once, and gives the hung call up."""
    hung = free_port()
    steps = [{"serviceUrl": f"http://127.0.0.1:{port}/", "dependency": "Hard"} for port in (free_port(), hung)]
    graph = {"nodes": {"root": node("Ensemble", *steps)}}
    with running(tmp_path, graph, *FLAGS) as process, service_process(hung) as popen:
        popen.send_signal(signal.SIGSTOP)
        begin = time.perf_counter()
        received = asyncio.run(within(5, exchange(process.port, post())))
        assert time.perf_counter() - begin < 1
        assert statuses(received) == [500]
        assert "connection refused" in json.loads(received.partition(b"\r\n\r\n")[2])["cause"]
        assert in_flight(process) == {"0"}
