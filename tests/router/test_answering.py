"""Answers on a connection: one after the other, no faster than the client takes them, and none for who has left."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .graphs import graph_to, node
from .peers import (
    OK,
    Act,
    Process,
    always,
    connected,
    exchange,
    free_port,
    post,
    running,
    serving,
    statuses,
    within,
)

P = post(close=False)
LONG = b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT, END = b"9\r\ndata: 1\n\n\r\n", b"0\r\n\r\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, int]]:
    """One router, and the port that its service is to listen on."""
    port = free_port()
    with running(tmp_path_factory.mktemp("router"), graph_to(f"http://127.0.0.1:{port}/")) as process:
        yield process, port


def test_requests_wait_while_a_client_does_not_take_the_answers(shared: tuple[Process, int]) -> None:
    """A thousand requests at once by one who does not read lead to few calls; they go on when the client reads."""
    process, port = shared

    async def run() -> tuple[int, int]:
        async with serving(always(LONG), port) as peer, connected(process.port, 1024) as (reader, writer):
            writer.transport.pause_reading()
            writer.write(P * 1000)
            await asyncio.sleep(0.5)
            unread = len(peer.requests)
            writer.transport.resume_reading()
            received = 0
            while received < 100 * len(LONG):
                received += len(await reader.read(1 << 20))
            return unread, len(peer.requests)

    before = process.memory_mb()
    unread, read = asyncio.run(within(20, run()))
    assert unread < 100 <= read
    assert process.memory_mb() - before < 30


# What a client sends to a service that answers in 0.1 seconds, and the statuses of what it gets.
IN_ORDER: dict[str, tuple[tuple[Act, ...], list[int]]] = {
    "a request that asks whether to go on": ((post(b"{}", b"Expect: 100-continue"),), [100, 200]),
    "in chunks": (
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n",
            0.05,
            b"2\r\n{}\r\n0\r\n\r\n",
            0.2,
            post(),
        ),
        [100, 200, 200],
    ),
    "behind another": ((P + post(b"{}", b"Expect: 100-continue"),), [200, 200]),
    "a bad one behind another": ((P + b"no HTTP\r\n\r\n",), [200]),
    "one after the last": ((post() + P,), [200]),
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_nothing_stands_within_another_answer(name: str, shared: tuple[Process, int]) -> None:
    """What there is to say about a request is said behind the answers to those before it, or not at all."""
    process, port = shared
    acts, wanted = IN_ORDER[name]

    async def run() -> bytes:
        async with serving(always(0.1, OK), port):
            return await exchange(process.port, *acts, seconds=1)

    assert statuses(asyncio.run(within(5, run()))) == wanted


@pytest.mark.parametrize("reply", [OK, LONG, EVENTS + EVENT + END])
def test_the_answer_to_head_has_no_body(reply: bytes, shared: tuple[Process, int]) -> None:
    """Short, long or a stream: only the head comes, and the next answer is whole."""
    process, port = shared

    async def run() -> bytes:
        async with serving(lambda number: (reply,) if number == 0 else (OK,), port):
            return await exchange(process.port, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", 0.2, post())

    received = asyncio.run(within(5, run()))
    assert statuses(received) == [200, 200]
    assert received.count(b"\r\n\r\n") == 2
    assert received.endswith(b'\r\n\r\n{"ok":1}')


def graphs_of(url: str) -> dict[str, dict[str, Any]]:
    """Graphs whose requests hang in different places when the service does."""
    one = {"serviceUrl": url}
    return {
        "Sequence": graph_to(url, url),
        "Splitter": graph_to(url, url, kind="Splitter"),
        "Ensemble": graph_to(url, url, url, kind="Ensemble"),
        "Switch": {"nodes": {"root": node("Switch", {**one, "condition": "a"})}},
        "a node within": {
            "nodes": {"root": node("Ensemble", {"nodeName": "inner"}, one), "inner": node("Sequence", one, one)}
        },
        "hedged": graph_to(url),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(graphs_of("")))
def test_who_leaves_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    """In whichever node: all calls are broken off, nothing is in flight, and the request counts as 499."""

    async def run() -> tuple[int, int, str]:
        async with serving(always("hang")) as peer:
            with running(
                tmp_path, graphs_of(peer.url)[name], "--steps", "*/0=hedge:0.05" * (name == "hedged")
            ) as process:
                async with connected(process.port) as (_, writer):
                    writer.write(post(b'{"a":1}', close=False))
                    await asyncio.sleep(0.3)
                    calls = len(peer.requests)
                await asyncio.sleep(0.2)
                return calls, peer.connections, (await asyncio.to_thread(process.get, "/metrics"))[1]

    calls, connections, metrics = asyncio.run(within(10, run()))
    assert calls == connections == {"Ensemble": 3, "a node within": 2, "hedged": 2}.get(name, 1)
    in_flight = [line for line in metrics.splitlines() if "_in_flight" in line and not line.startswith("#")]
    assert [line for line in in_flight if not line.endswith(" 0")] == []
    assert 'kservec_router_requests_total{status="499"} 1\n' in metrics
    assert 'requests_total{status="200"}' not in metrics


CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
FLOOD: tuple[Act, ...] = (EVENTS, *[b"10000\r\n" + b"x" * 65536 + b"\r\n"] * 200, "hang")
LEAVES: dict[str, tuple[bytes, tuple[Act, ...]]] = {
    "in the middle of an answer": (P, FLOOD),
    "in the middle of one on the long way": (CHUNKED, FLOOD),
    "while its requests wait for each other": (P * 3, (0.5, OK)),
    "while they wait on the long way": (CHUNKED * 3, (0.5, OK)),
    "after a bad one on the long way": (CHUNKED * 2 + b"no HTTP\r\n\r\n", ("hang",)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAVES)
def test_who_leaves_is_no_failure_of_the_router(name: str, tmp_path: Path) -> None:
    """Nothing is written to a connection that is gone: what is said of it is the request's line, and nothing else."""
    request, acts = LEAVES[name]

    async def run() -> list[str]:
        async with serving(always(*acts)) as peer:
            with running(tmp_path, graph_to(peer.url)) as process:
                async with connected(process.port, 1024) as (_, writer):
                    writer.transport.pause_reading()
                    writer.write(request)
                    await asyncio.sleep(0.3)
                await asyncio.sleep(0.1)
                for _ in range(2):
                    process.popen.send_signal(signal.SIGTERM)
                    await asyncio.sleep(0.1)
                assert await asyncio.to_thread(process.popen.wait, 10) == 0
                return process.log.read_text().splitlines()  # with what was found out at the very end

    lines = asyncio.run(within(10, run()))
    assert [line for line in lines if not line.startswith("{")] == []
    assert [line for line in lines if '"level":"error"' in line] == []


@pytest.mark.slow
def test_a_connection_closes_with_its_last_answer_when_the_router_stops(tmp_path: Path) -> None:
    """A stream that began before the router was told to stop is whole, and then nobody waits for its client."""

    async def run() -> tuple[bytes, int]:
        async with serving(always(EVENTS, EVENT, 1.0, EVENT, END)) as peer:
            with running(tmp_path, graph_to(peer.url), "--shutdown-seconds", "20") as process:
                asking = asyncio.create_task(exchange(process.port, P, seconds=60))
                await asyncio.sleep(0.3)
                process.popen.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.1)
                process.popen.send_signal(signal.SIGTERM)
                return await asking, await asyncio.to_thread(process.popen.wait, 5)

    received, code = asyncio.run(within(8, run()))
    assert received.endswith(EVENT + END)
    assert code == 0
