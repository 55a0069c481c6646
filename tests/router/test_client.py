"""Calls over real sockets: what is made of services that close, reset, trickle, or answer what is no HTTP."""

from __future__ import annotations

import asyncio

import pytest

from kservec_router.client import Client, ClientLimits
from kservec_router.messages import Origin, Reply

from .calling import LIMITS, calling, outgoing_to
from .peers import OK, Act, always, free_port, serving, within

POISON = b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"poison":1}'
HEAD = b"HTTP/1.1 200 OK\r\n"

# What a service sends, the status that comes of it, and a part of the body or cause.
ODD: dict[str, tuple[tuple[Act, ...], int, bytes]] = {
    "plain": ((OK,), 200, b'{"ok":1}'),
    "byte by byte": (tuple(OK[i : i + 1] for i in range(len(OK))), 200, b'{"ok":1}'),
    "two replies at once": ((OK + POISON,), 200, b'{"ok":1}'),
    "a second reply later": ((OK, 0.03, POISON), 200, b'{"ok":1}'),
    "garbage after the reply": ((OK + b"xxxx",), 200, b'{"ok":1}'),
    "100, then the reply": ((b"HTTP/1.1 100 Continue\r\n\r\n" + OK,), 200, b'{"ok":1}'),
    "103 with headers, then the reply": (
        (b"HTTP/1.1 103 Early Hints\r\nContent-Type: text/x\r\n\r\n", 0.02, OK),
        200,
        b'{"ok":1}',
    ),
    "101": ((b"HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nfoo",), 500, b"switched protocols"),
    "chunked with a trailer": (
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\n{\"o\r\n5\r\nk\":1}\r\n0\r\nX-T: 1\r\n\r\n",),
        200,
        b'{"ok":1}',
    ),
    "a trailer without end": (
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX: ", *[b"a" * 50_000] * 3, "hang"),
        500,
        b"head of the reply",
    ),
    "chunked and cut": ((HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\n{\"o\r\n", "close"), 500, b"closed"),
    "a chunk of 2**70 bytes": (
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n400000000000000000\r\n",),
        500,
        b"malformed",
    ),
    "both ways of framing": (
        (HEAD + b"Content-Length: 8\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"ok\":1}\r\n0\r\n\r\n",),
        500,
        b"malformed",
    ),
    "two lengths": ((HEAD + b"Content-Length: 8\r\nContent-Length: 9\r\n\r\n{\"ok\":1}",), 500, b"malformed"),
    "a negative length": ((HEAD + b"Content-Length: -1\r\n\r\n{\"ok\":1}",), 500, b"malformed"),
    "204 with a length": ((b"HTTP/1.1 204 No Content\r\nContent-Length: 8\r\n\r\n",), 204, b""),
    "no length, ended by closing": ((HEAD + b"Content-Type: a/b\r\n\r\n{\"ok\":1}", "close"), 200, b'{"ok":1}'),
    "closed within the head": ((HEAD + b"Content-Ty", "close"), 500, b"closed"),
    "closed without a byte": (("close",), 500, b"closed"),
    "reset without a byte": (("reset",), 500, b"closed"),
    "reset within the body": ((HEAD + b"Content-Length: 9\r\n\r\n{\"ok\":1}", "reset"), 500, b"closed"),
    "shorter than it says": ((HEAD + b"Content-Length: 9\r\n\r\n{\"ok\":1}", "close"), 500, b"closed"),
    "HTTP/1.0, kept": (
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 8\r\n\r\n{\"ok\":1}",),
        200,
        b'{"ok":1}',
    ),
    "no head at all": ((b'{"ok":1}', "close"), 500, b"malformed"),
    "status 99": ((b"HTTP/1.1 99 X\r\nContent-Length: 0\r\n\r\n",), 500, b"malformed"),
    "status 600": ((b"HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n",), 502, b"status 600"),
    "status 1000": ((b"HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n",), 500, b"malformed"),
    "a NUL in a header": ((OK.replace(b"application/json", b"app\0json"),), 500, b"malformed"),
    "a space before a colon": ((HEAD + b"Content-Length : 8\r\n\r\n{\"ok\":1}",), 500, b"malformed"),
    "a header of 2 MB": ((HEAD + b"X: " + b"a" * 2_000_000 + b"\r\n\r\n",), 500, b"head of the reply"),
    "a head without end": ((HEAD + b"X: ", *[b"a" * 50_000] * 4, "hang"), 500, b"head of the reply"),
    "15,000 headers": ((HEAD + b"X: 1\r\n" * 15_000 + b"Content-Length: 0\r\n\r\n",), 500, b"head of the reply"),
    "more than is held": ((HEAD + b"Content-Length: 3000000\r\n\r\n" + b"x" * 3_000_000,), 500, b"reply is longer"),
    "a redirect": ((b"HTTP/1.1 307 X\r\nLocation: http://b/\r\nContent-Length: 0\r\n\r\n",), 502, b"redirect"),
    "a refusal before the body was read": (
        (b"HTTP/1.1 413 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "close"),
        413,
        b"",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_an_odd_reply_harms_nobody_else(name: str) -> None:
    """The reply is taken, or a failure says what was wrong; the next call gets its own reply."""
    acts, status, part = ODD[name]

    async def run() -> tuple[Reply, Reply]:
        async with calling(lambda number: acts if number == 0 else (OK,)) as (_, call):
            first = await call()
            await asyncio.sleep(0.06)
            return first, await call()

    first, second = asyncio.run(within(5, run()))
    assert isinstance(first.body, bytes)
    assert (first.status, part in first.body) == (status, True), first
    assert (first.cause is None) is (status in (200, 204, 413))
    assert (second.status, second.body) == (200, b'{"ok":1}')


def test_what_follows_a_body_is_no_header() -> None:
    """Trailers are dropped: whoever reads them as headers can be told anything."""
    reply = HEAD + b'X-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"ok":1}\r\n0\r\nX-B: 2\r\n\r\n'

    async def run() -> Reply:
        async with calling(always(reply)) as (_, call):
            return await call()

    assert asyncio.run(within(5, run())).headers == ((b"x-a", b"1"), (b"transfer-encoding", b"chunked"))


def test_a_long_stream_of_short_chunks_is_no_long_head() -> None:
    """What frames the pieces of a body does not count as head, however many there are."""
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

    async def run() -> Reply:
        async with calling(always(head + b"1\r\nx\r\n" * 40_000, b"1\r\nx\r\n" * 40_000 + b"0\r\n\r\n")) as (_, call):
            return await call()

    assert asyncio.run(within(10, run())).body == b"x" * 80_000


def test_a_request_is_written_as_it_is_given() -> None:
    """Request line, host, length, the lines and the body arrive, and nothing else."""

    async def run() -> bytes:
        async with calling(always(OK)) as (peer, call):
            await call(b"[1]")
            return peer.requests[0].replace(b"%d" % peer.port, b"PORT")

    assert asyncio.run(run()) == b"POST / HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\ncontent-length: 3\r\nx-a: b\r\n\r\n[1]"


def test_connections_are_kept_and_used_again() -> None:
    """Ten calls, one after the other, need one connection."""

    async def run() -> int:
        async with calling(always(OK)) as (peer, call):
            for _ in range(10):
                await call()
            return peer.connections

    assert asyncio.run(run()) == 1


def test_a_connection_that_was_closed_meanwhile_is_no_failure() -> None:
    """A service that closes each kept connection when the next request arrives gets that request once more."""

    async def run() -> tuple[Reply, int, int]:
        async with calling(lambda number: ("close",) if number == 1 else (OK,)) as (peer, call):
            await call()
            return await call(b"[2]"), len(peer.requests), peer.connections

    reply, requests, connections = asyncio.run(run())
    assert (reply.status, requests, connections) == (200, 3, 2)


def test_a_call_on_a_new_connection_is_not_repeated() -> None:
    """When a service dies on the first request of a connection, it is not asked again."""

    async def run() -> tuple[Reply, int]:
        async with calling(always("close")) as (peer, call):
            return await call(), len(peer.requests)

    reply, requests = asyncio.run(run())
    assert (reply.status, requests) == (500, 1)


def test_nobody_listening_is_tried_again_for_a_moment() -> None:
    """A service that begins to listen between two attempts gets the call."""
    port = free_port()

    async def run() -> Reply:
        client = Client(ClientLimits(connect_attempts=3, backoff_seconds=0.1))
        client.allow([Origin("127.0.0.1", port, False)])
        call = outgoing_to(f"http://127.0.0.1:{port}")
        client.send(call)
        await asyncio.sleep(0.05)
        async with serving(always(OK), port):
            reply = await call
            client.close()
        return reply

    assert asyncio.run(within(3, run())).status == 200


def test_a_host_that_is_not_in_the_graph_is_not_called() -> None:
    """Without a pool for its origin a call fails, whatever its URL."""

    async def run() -> Reply:
        async with serving(always(OK)) as peer:
            client = Client(LIMITS)
            call = outgoing_to(peer.url)
            client.send(call)
            return await call

    reply = asyncio.run(run())
    assert (reply.status, reply.cause and "not in the graph" in reply.cause) == (500, True)


@pytest.mark.parametrize("acts", [("hang",), (HEAD, "hang"), (HEAD + b"Content-Length: 9\r\n\r\n{", "hang"), (0.4, OK)])
def test_a_call_ends_at_its_time_limit(acts: tuple[Act, ...]) -> None:
    """Before the head, within it, within the body: after 0.1 seconds there is a 504, and the connection is closed."""

    async def run() -> tuple[Reply, int]:
        async with calling(lambda number: acts if number == 0 else (OK,)) as (peer, call):
            reply = await within(0.35, call(seconds=0.1))
            await call()
            return reply, peer.connections

    reply, connections = asyncio.run(run())
    assert (reply.status, connections) == (504, 2)


def test_a_call_that_is_given_up_closes_its_connection() -> None:
    """Cancelling a call ends the exchange; the service sees the connection close."""

    async def run() -> int:
        async with calling(always(0.05, OK)) as (peer, call):
            task = asyncio.ensure_future(call())
            await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.sleep(0.02)
            await call()
            return peer.connections

    assert asyncio.run(run()) == 2


def test_calls_wait_for_a_connection_when_there_are_enough() -> None:
    """With two connections at most, six calls at a time all get replies over two connections."""

    async def run() -> tuple[list[int], int]:
        limits = LIMITS._replace(connections=2)
        async with calling(always(0.02, OK), limits) as (peer, call):
            replies = await asyncio.gather(*(call() for _ in range(6)))
            return [reply.status for reply in replies], peer.connections

    assert asyncio.run(run()) == ([200] * 6, 2)


def test_calls_are_refused_when_too_many_wait() -> None:
    """With one connection and one place to wait, the third call at a time is a 503 with Retry-After."""

    async def run() -> list[Reply]:
        async with calling(always(0.05, OK), LIMITS._replace(connections=1, waiting=1)) as (_, call):
            return list(await asyncio.gather(*(call() for _ in range(3))))

    replies = asyncio.run(run())
    assert sorted(reply.status for reply in replies) == [200, 200, 503]
    refused = next(reply for reply in replies if reply.status == 503)
    assert refused.header(b"retry-after") == b"1"


def test_a_call_that_waits_can_be_given_up_or_run_out_of_time() -> None:
    """Neither loses the connection that it waited for."""

    async def run() -> tuple[int, int]:
        async with calling(always(0.1, OK), LIMITS._replace(connections=1)) as (_, call):
            first = asyncio.ensure_future(call())
            await asyncio.sleep(0.01)
            waits = asyncio.ensure_future(call())
            late = asyncio.ensure_future(call(seconds=0.03))
            await asyncio.sleep(0.01)
            waits.cancel()
            await first
            return (await late).status, (await call()).status

    assert asyncio.run(within(3, run())) == (504, 200)


def test_connections_that_nobody_uses_are_closed() -> None:
    """After the idle time a kept connection is not used any more, so that the service need not close it first."""

    async def run() -> int:
        async with calling(always(OK), LIMITS._replace(idle_seconds=0.05)) as (peer, call):
            await call()
            await asyncio.sleep(0.1)
            await call()
            return peer.connections

    assert asyncio.run(run()) == 2


def test_a_host_that_leaves_the_graph_loses_its_connections() -> None:
    """Kept connections are closed at once, those in use when their exchange is over."""

    async def run() -> tuple[int, Reply]:
        async with serving(always(0.05, OK)) as peer:
            client = Client(LIMITS)
            client.allow([Origin("127.0.0.1", peer.port, False)])
            call = outgoing_to(peer.url)
            client.send(call)
            await asyncio.sleep(0.02)
            client.allow([])
            reply = await call
            await asyncio.sleep(0.02)
            client.close()
            return len(client.open_connections()), reply

    open_count, reply = asyncio.run(run())
    assert (open_count, reply.status) == (0, 200)
