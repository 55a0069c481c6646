"""Clients that break off, send what is no HTTP, or more than they may; the router is a process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .graphs import graph_to
from .peers import (
    OK,
    Act,
    Peer,
    Process,
    always,
    connected,
    exchange,
    free_port,
    head_of,
    post,
    running,
    serving,
    statuses,
    within,
)

P = post(close=False)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, int]]:
    """One router for all odd clients, and the port that its service is to listen on."""
    port = free_port()
    graph = graph_to(f"http://127.0.0.1:{port}/")
    flags = ("--max-requests", "50", "--connect-attempts", "1")
    with running(tmp_path_factory.mktemp("router"), graph, *flags) as process:
        yield process, port


# What a client sends, the statuses of the replies, and whether the connection is closed after them.
ODD: dict[str, tuple[tuple[Act, ...], list[int], bool]] = {
    "plain": ((P,), [200], False),
    "byte by byte": (tuple(P[i : i + 1] for i in range(len(P))), [200], False),
    "chunked": (
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\nT: 1\r\n\r\n",),
        [200],
        False,
    ),
    "three at once": ((P * 3,), [200, 200, 200], False),
    "a long body and half a head at once": (
        (post(b"{" + b" " * 200_000 + b"}", close=False) + P[:20], 0.05, P[20:]),
        [200, 200],
        False,
    ),
    "health after the graph": ((P + b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n",), [200], True),
    "health before the graph": ((b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n" + P,), [200, 200], False),
    "HTTP/1.0": ((P.replace(b"1.1", b"1.0"),), [200], True),
    "close": ((post(),), [200], True),
    "no Host": ((P.replace(b"Host: a\r\n", b""),), [400], True),
    "two Hosts": ((P.replace(b"Host: a\r\n", b"Host: a\r\nHost: b\r\n"),), [400], True),
    "length and chunks": (
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",),
        [400],
        True,
    ),
    "two lengths": (
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",),
        [400],
        True,
    ),
    "another coding": (
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",),
        [400],
        True,
    ),
    "a NUL in a header": ((P.replace(b"Host: a", b"Host: a\0"),), [400], True),
    "a space before a colon": ((P.replace(b"Host: a", b"Host : a"),), [400], True),
    "a folded header": ((P.replace(b"Host: a\r\n", b"Host: a\r\nX: 1\r\n 2\r\n"),), [400], True),
    "no HTTP": ((b"hello\r\n\r\n",), [400], True),
    "HTTP/2": ((b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",), [400], True),
    "2 MB in one header": ((P.replace(b"Host: a\r\n", b"Host: a\r\nX: " + b"a" * 2_000_000 + b"\r\n"),), [431], True),
    "a head of 100 kB": ((P.replace(b"Host: a\r\n", b"Host: a\r\nX: " + b"a" * 100_000 + b"\r\n"),), [431], True),
    "1,000 headers": ((P.replace(b"Host: a\r\n", b"Host: a\r\n" + b"X: 1\r\n" * 1000),), [431], True),
    "an address in the request line": ((P.replace(b"POST /", b"POST http://evil/x"),), [200], False),
    "Expect": ((P.replace(b"Host: a", b"Host: a\r\nExpect: 100-continue"),), [100, 200], False),
    "a trailer without end": (
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX: ",
            *[b"a" * 50_000] * 3,
        ),
        [431],
        True,
    ),
    "many short chunks": (
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1\r\nx\r\n" * 40_000 + b"0\r\n\r\n",
        ),
        [200],
        False,
    ),
    "an upgrade": ((P.replace(b"Host: a", b"Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c"),), [200], False),
    "HEAD": ((b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",), [200], False),
    "an encoded path": ((P.replace(b"POST /", b"POST /a%20b/%C3%A9"),), [200], False),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_clients_get_clear_answers(name: str, shared: tuple[Process, int]) -> None:
    """Each gets the status it should, improper requests end the connection, and nobody else minds."""
    process, port = shared
    acts, wanted, closed = ODD[name]

    async def run() -> tuple[bytes, bytes, float]:
        async with serving(always(OK), port):
            begin = time.perf_counter()
            received = await exchange(process.port, *acts, seconds=1 if closed else 0.4)
            seconds = time.perf_counter() - begin
            return received, await exchange(process.port, post()), seconds

    received, after, seconds = asyncio.run(run())
    assert statuses(received) == wanted
    if closed:
        assert seconds < 0.9
    assert statuses(after) == [200]
    if wanted == [200] and name != "HEAD":
        assert received.endswith(b'{"ok":1}')


def test_what_follows_a_body_does_not_go_on(tmp_path: Path) -> None:
    """A trailer is no header, whatever the patterns say."""
    request = b"POST / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    trailer = b"2\r\n{}\r\n0\r\nX-B: 2\r\n\r\n"

    async def run() -> Peer:
        async with serving(always(OK)) as peer:
            with running(tmp_path, graph_to(peer.url), PROPAGATE_HEADERS="x-") as process:
                assert statuses(await exchange(process.port, request, 0.1, trailer)) == [200]
            return peer

    (got,) = asyncio.run(within(10, run())).requests
    assert b"x-a: 1" in head_of(got)
    assert b"x-b" not in head_of(got)


def test_too_many_connections_are_refused(tmp_path: Path) -> None:
    """The third of two gets a 503 with Retry-After and is closed; when one is gone, there is room again."""

    async def run() -> tuple[bytes, bytes, list[dict[str, Any]]]:
        async with serving(always(OK)) as peer:
            with running(tmp_path, graph_to(peer.url), "--max-clients", "2") as process:
                async with connected(process.port), connected(process.port):
                    refused = await exchange(process.port)
                await asyncio.sleep(0.1)
                taken = await exchange(process.port, post())
                await asyncio.sleep(0.7)
                return refused, taken, process.events()

    refused, taken, events = asyncio.run(within(10, run()))
    assert statuses(refused) == [503]
    assert b"retry-after: 1" in refused
    assert statuses(taken) == [200]
    assert [event["status"] for event in events if "status" in event] == [503, 200]


def test_a_client_that_leaves_gives_its_calls_up(shared: tuple[Process, int]) -> None:
    """When the client closes its connection, the call to the service is broken off."""
    process, port = shared

    async def run() -> Peer:
        async with serving(always("hang"), port) as peer:
            async with connected(process.port) as (_, writer):
                writer.write(P)
                await asyncio.sleep(0.2)
                assert len(peer.requests) == 1
            await asyncio.sleep(0.2)
            metrics = await asyncio.to_thread(process.get, "/metrics")
            assert "kservec_router_requests_in_flight 0" in metrics[1]
            assert 'kservec_router_requests_total{status="499"}' in metrics[1]
            return peer

    asyncio.run(within(5, run()))


def test_a_body_that_stops_in_the_middle_calls_nobody(shared: tuple[Process, int]) -> None:
    """A client that half-closes within its body gets no call made for it."""
    process, port = shared

    async def run() -> int:
        async with serving(always(OK), port) as peer:
            async with connected(process.port) as (reader, writer):
                writer.write(post(b"x" * 100)[:-50])
                writer.write_eof()
                await reader.read()
            return len(peer.requests)

    assert asyncio.run(within(5, run())) == 0


def test_nothing_that_clients_did_has_reached_the_error_log(shared: tuple[Process, int]) -> None:
    """No request, however odd, has made the router itself fail."""
    process, _ = shared
    assert process.popen.poll() is None
    assert [event for event in process.events() if event.get("level") == "error"] == []
    assert "Traceback" not in process.log.read_text()
