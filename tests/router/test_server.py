"""The router as a process between raw clients and raw services."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
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
    body_of,
    connected,
    exchange,
    free_port,
    head_of,
    post,
    read_request,
    running,
    serving,
    statuses,
    wait_until_ready,
    within,
)

P = post(close=False)
SLOW_LIMITS = {"routerTimeouts": {"serverRead": 1, "serverWrite": 1, "serverIdle": 1}}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, int]]:
    """A router with time limits of a second, and the port that its service is to listen on."""
    port = free_port()
    graph = graph_to(f"http://127.0.0.1:{port}/", **SLOW_LIMITS)
    with running(tmp_path_factory.mktemp("router"), graph) as process:
        yield process, port


@pytest.mark.slow
@pytest.mark.parametrize(
    ("acts", "wanted"),
    [
        ((b"POST / HTTP/1.1\r\nHost: a\r\nX: ",), [408]),
        ((P[:-1],), [408]),
        ((b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",), [408]),
        ((), []),
        ((P,), [200]),
    ],
    ids=["in the head", "in the body", "in chunks", "from the start", "after a reply"],
)
def test_clients_that_stop_are_let_go(acts: tuple[Act, ...], wanted: list[int], strict: tuple[Process, int]) -> None:
    """After a second of silence the connection is closed, with 408 when a request had begun."""
    process, port = strict

    async def run() -> tuple[bytes, float, int]:
        async with serving(always(OK), port) as peer:
            begin = time.perf_counter()
            received = await exchange(process.port, *acts)
            return received, time.perf_counter() - begin, len(peer.requests)

    received, seconds, requests = asyncio.run(run())
    assert statuses(received) == wanted
    assert 0.8 < seconds < 2
    assert requests == (wanted == [200])


def test_a_service_that_hangs_is_a_504_at_the_limit(strict: tuple[Process, int]) -> None:
    """ServerWrite ends in an answer, not in a closed socket."""
    process, port = strict

    async def run() -> tuple[bytes, float]:
        async with serving(always("hang"), port):
            begin = time.perf_counter()
            return await exchange(process.port, post()), time.perf_counter() - begin

    received, seconds = asyncio.run(run())
    assert statuses(received) == [504]
    assert json.loads(body_of(received))["error"] == "Failed to process request"
    assert 0.8 < seconds < 1.7


def test_a_client_that_does_not_read_is_let_go(strict: tuple[Process, int]) -> None:
    """A long reply that nobody takes does not stay in memory for ever."""
    process, port = strict
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 30000000\r\n\r\n"

    async def run() -> bool:
        script = always(head, *[b"x" * 100_000] * 300)
        async with serving(script, port) as peer, connected(process.port, 1024) as (_, writer):
            writer.transport.pause_reading()
            writer.write(P)
            for _ in range(40):
                await asyncio.sleep(0.1)
                if peer.broken:
                    break
            return peer.broken > 0

    before = process.memory_mb()
    assert asyncio.run(within(8, run()))
    assert process.memory_mb() - before < 20


EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(number: int) -> bytes:
    """A server-sent event, as a chunk."""
    data = b"data: %d\n\n" % number
    return b"%x\r\n%b\r\n" % (len(data), data)


@pytest.mark.parametrize("kind", ["Sequence", "Splitter"])
def test_events_reach_the_client_as_they_come(kind: str, tmp_path: Path) -> None:
    """Each event is passed on at once, the type is kept, and the connection can be used for the next request."""

    async def run() -> tuple[list[float], bytes]:
        script = always(EVENTS, *[part for n in range(4) for part in (event(n), 0.1)], b"0\r\n\r\n")
        async with serving(script) as peer:
            with running(tmp_path, graph_to(peer.url, kind=kind)) as process:
                async with connected(process.port) as (reader, writer):
                    writer.write(P)
                    begin, times = time.perf_counter(), []
                    received = await reader.readuntil(b"\r\n\r\n")
                    for _ in range(4):
                        received += await reader.readuntil(b"\n\n\r\n")
                        times.append(time.perf_counter() - begin)
                    await reader.readuntil(b"0\r\n\r\n")
                    writer.write(P)
                    received += await reader.readuntil(b"\r\n\r\n")
                return times, received

    times, received = asyncio.run(within(10, run()))
    assert times[0] < 0.15
    assert times[3] - times[0] > 0.25
    assert received.count(b"content-type: text/event-stream") == 2
    assert b"data: 3\n\n" in received


def test_a_stream_that_breaks_off_is_broken_for_the_client_too(tmp_path: Path) -> None:
    """The client can tell that something is missing: the last chunk never comes."""

    async def run() -> bytes:
        async with serving(always(EVENTS, event(1), 0.05, "reset")) as peer:
            with running(tmp_path, graph_to(peer.url)) as process:
                return await exchange(process.port, post())

    received = asyncio.run(within(10, run()))
    assert b"data: 1" in received
    assert b"0\r\n\r\n" not in received


def test_a_long_request_is_passed_on_while_it_arrives(tmp_path: Path) -> None:
    """The service sees the first megabytes before the client has sent the last; no limit is in the way."""
    size = 3_000_000

    async def run() -> tuple[bytes, int]:
        async with serving(always(OK)) as peer:
            flags = ("--body-limit", "2Mi", "--stream-from", "512Ki")
            with running(tmp_path, graph_to(peer.url), *flags) as process:
                async with connected(process.port) as (reader, writer):
                    writer.write(post(b"x" * size)[: -size // 3])
                    await asyncio.sleep(0.3)
                    early = peer.connections
                    writer.write(b"x" * (size // 3))
                    received = await reader.read()
                assert len(body_of(peer.requests[0])) == size
                assert b"content-length: 3000000" in head_of(peer.requests[0])
                return received, early

    received, early = asyncio.run(within(10, run()))
    assert statuses(received) == [200]
    assert early == 1


def test_a_long_request_that_is_needed_as_a_whole_is_refused(tmp_path: Path) -> None:
    """With two steps, a body over the limit is a 413, by its length or by its chunks, and nobody is called."""

    async def run() -> tuple[list[int], list[int], int]:
        async with serving(always(OK)) as peer:
            with running(tmp_path, graph_to(peer.url, peer.url), "--body-limit", "1Mi") as process:
                by_length = await exchange(process.port, post(b"x" * 1_100_000))
                chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
                head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                by_chunks = await exchange(process.port, head, *[chunk] * 20, b"0\r\n\r\n")
                return statuses(by_length), statuses(by_chunks), len(peer.requests)

    assert asyncio.run(within(10, run())) == ([413], [413], 0)


def test_sigterm_drains(tmp_path: Path) -> None:
    """Not ready at once, serving during the drain, what is under way is finished, and the exit status is 0."""

    async def run() -> tuple[int, list[int], list[int], int]:
        async with serving(lambda number: (0.8, OK) if number == 0 else (OK,)) as peer:
            with running(tmp_path, graph_to(peer.url), "--drain-seconds", "0.5") as process:
                slow = asyncio.create_task(exchange(process.port, post()))
                await asyncio.sleep(0.2)
                process.popen.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.1)
                ready = (await asyncio.to_thread(process.get, "/readyz"))[0]
                during = statuses(await exchange(process.port, P))
                slowly = statuses(await slow)
                code = await asyncio.to_thread(process.popen.wait, 5)
                return ready, during, slowly, code

    assert asyncio.run(within(15, run())) == (503, [200], [200], 0)


def test_a_second_signal_ends_the_drain(tmp_path: Path) -> None:
    """Whoever is in a hurry says so again."""
    with running(tmp_path, graph_to("http://127.0.0.1:9/"), "--drain-seconds", "60") as process:
        process.popen.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        assert process.get("/readyz")[0] == 503
        process.popen.send_signal(signal.SIGTERM)
        assert process.popen.wait(5) == 0


def test_a_changed_graph_is_taken_over(tmp_path: Path) -> None:
    """A new graph in the file is used, a wrong one is refused with its reasons, and SIGHUP asks to look at once."""

    async def answer(process: Process) -> Any:
        return json.loads(body_of(await exchange(process.port, post())))

    async def run() -> None:
        def saying(text: bytes) -> Any:
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text)
            return always(head + text)

        async with serving(saying(b'"a"')) as a, serving(saying(b'"b"')) as b:
            with running(tmp_path, graph_to(a.url), "--reload-seconds", "0.2") as process:
                file = tmp_path / "graph.json"
                assert await answer(process) == "a"
                file.write_text(json.dumps(graph_to(b.url)))
                await asyncio.sleep(0.5)
                assert await answer(process) == "b"
                file.write_text('{"nodes":{}}')
                await asyncio.sleep(0.5)
                assert await answer(process) == "b"
                (tmp_path / "new").write_text(json.dumps(graph_to(a.url)))
                (tmp_path / "new").rename(file)
                process.popen.send_signal(signal.SIGHUP)
                await asyncio.sleep(0.1)
                assert await answer(process) == "a"
                metrics = process.get("/metrics")[1]
                assert 'reloads_total{outcome="used"} 2' in metrics
                assert 'reloads_total{outcome="refused"} 1' in metrics
                refused = next(one for one in process.events() if one.get("level") == "error")
                assert refused["problems"] == ['there is no node "root"']

    asyncio.run(within(15, run()))


def test_the_access_log_has_a_line_per_request(tmp_path: Path) -> None:
    """Each request, refused ones too, is a line of JSON with status, sizes and time."""

    async def run() -> list[dict[str, Any]]:
        async with serving(always(OK)) as peer:
            with running(tmp_path, graph_to(peer.url)) as process:
                await exchange(process.port, post(b"[1]"))
                await asyncio.sleep(0.7)
                return [one for one in process.events() if "status" in one]

    (line,) = asyncio.run(within(10, run()))
    assert (line["method"], line["path"], line["status"]) == ("POST", "/", 200)
    assert (line["received"], line["sent"], line["client"]) == (3, 8, "127.0.0.1")
    assert re.fullmatch("[0-9a-f]{32}", line["trace"])


def test_a_graph_that_is_wrong_ends_the_process(tmp_path: Path) -> None:
    """The reasons are on standard error, and the exit status is 1."""
    with (
        pytest.raises(AssertionError, match="there is no node"),
        running(tmp_path, {"nodes": {"other": node("Sequence")}}) as process,
    ):
        wait_until_ready(process)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["die", "hang", "trickle", "reset", "garbage"])
def test_memory_stays_flat_while_services_fail(mode: str, tmp_path: Path) -> None:
    """Many failing requests at an Ensemble leave nothing behind; when services recover, so do the answers."""
    acts: dict[str, tuple[Act, ...]] = {
        "die": ("close",),
        "hang": ("hang",),
        "trickle": (b"HTTP/1.1 200 OK\r\n", 0.05, b"X: 1\r\n", 0.05, b"X: 2\r\n", "hang"),
        "reset": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "reset"),
        "garbage": (b"\x00\xff garbage\r\n\r\n", "close"),
    }
    failing = True

    async def run() -> tuple[set[int], float, list[int]]:
        async with serving(lambda _: acts[mode] if failing else (OK,)) as peer:
            graph = graph_to(peer.url, peer.url, peer.url, kind="Ensemble", routerTimeouts={"serviceClient": 1})
            for one in graph["nodes"]["root"]["steps"]:
                one["dependency"] = "Hard"
            with running(tmp_path, graph, "--access-log", "false") as process:
                count = 60 if mode in ("hang", "trickle") else 1000
                await hammer(process.port, 20)
                before = process.memory_mb()
                seen = await hammer(process.port, count)
                grown = process.memory_mb() - before
                assert process.memory_mb() < 60
                nonlocal failing
                failing = False
                return seen, grown, statuses(await exchange(process.port, post()))

    seen, grown, after = asyncio.run(within(60, run()))
    assert seen == {504 if mode in ("hang", "trickle") else 500}
    assert grown < 12
    assert after == [200]


async def hammer(port: int, count: int, at_a_time: int = 20) -> set[int]:
    """Send requests, several at a time over kept connections; return the statuses."""
    left, seen = count, set()

    async def one_by_one() -> None:
        nonlocal left
        async with connected(port) as (reader, writer):
            while left > 0:
                left -= 1
                writer.write(P)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                await reader.readexactly(length)
                seen.add(int(head.split(b" ")[1]))

    await asyncio.gather(*(one_by_one() for _ in range(min(at_a_time, count))))
    return seen


def test_requests_are_read_as_they_are_written() -> None:
    """The tests' own reading of requests: lengths, chunks, and what is cut."""

    async def run(data: bytes) -> bytes:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await read_request(reader)

    assert body_of(asyncio.run(run(P))) == b"{}"
    chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    assert body_of(asyncio.run(run(chunked))) == b"abc"
    with pytest.raises(asyncio.IncompleteReadError):
        asyncio.run(run(P[:-1]))
