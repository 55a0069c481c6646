"""Calls over real sockets: what is made of services that close, reset, trickle, or answer what is no HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kservec_router.client import Client, ClientLimits
from kservec_router.messages import Origin, Outgoing, Reply
from kservec_router.requests import RequestBody
from kservec_router.targets import parse_target
from kservec_router.wire import WireLimits

from .peers import OK, Act, Peer, Script, always, body_of, free_port, head_of, serving, within

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

LIMITS = ClientLimits(connect_attempts=1, wire=WireLimits(body_bytes=1 << 20, stall_seconds=0.3))


Caller = Callable[..., Awaitable[Reply]]


@asynccontextmanager
async def calling(
    script: Script, limits: ClientLimits = LIMITS
) -> AsyncIterator[tuple[Peer, Callable[..., Awaitable[Reply]]]]:
    """A peer, and a function that calls it."""
    async with serving(script) as peer:
        client = Client(limits)
        client.allow([Origin("127.0.0.1", peer.port, False)])

        async def call(body: Any = b"{}", seconds: float = 0, may_stream: bool = False, **more: Any) -> Reply:
            return await client.send(Outgoing(parse_target(peer.url), b"x-a: b\r\n", body, seconds, may_stream, **more))

        try:
            yield peer, call
        finally:
            client.close()


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
        call = asyncio.create_task(client.send(Outgoing(parse_target(f"http://127.0.0.1:{port}"), b"", b"", 0, False)))
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
            return await client.send(Outgoing(parse_target(peer.url), b"", b"", 0, False))

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
            origin, target = Origin("127.0.0.1", peer.port, False), parse_target(peer.url)
            client.allow([origin])
            task = asyncio.ensure_future(client.send(Outgoing(target, b"", b"", 0, False)))
            await asyncio.sleep(0.02)
            client.allow([])
            reply = await task
            await asyncio.sleep(0.02)
            client.close()
            return len(client.open_connections()), reply

    open_count, reply = asyncio.run(run())
    assert (open_count, reply.status) == (0, 200)


async def collect(reply: Reply) -> bytes:
    """The whole body of a reply that is passed on while it arrives."""
    assert not isinstance(reply.body, bytes)
    body = b""
    while piece := await reply.body.read():
        body += piece
    return body


EVENTS = HEAD + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_a_stream_is_passed_on_while_it_arrives() -> None:
    """The reply is there before its body ends, and the connection can be used again afterwards."""

    async def run() -> tuple[bytes, bytes, int]:
        script = always(EVENTS, b"5\r\ndata1\r\n", 0.1, b"5\r\ndata2\r\n0\r\n\r\n")
        async with calling(script) as (peer, call):
            reply = await within(0.08, call(may_stream=True))
            assert not isinstance(reply.body, bytes)
            first = await within(0.05, reply.body.read())
            rest = await collect(reply)
            await collect(await call(may_stream=True))
            return first, rest, peer.connections

    assert asyncio.run(run()) == (b"data1", b"data2", 1)


def test_a_short_reply_of_known_length_is_not_streamed() -> None:
    """It is held until it is whole, so that a cut one can still become a failure."""

    async def run() -> Reply:
        async with calling(always(HEAD + b"Content-Length: 9\r\n\r\n{", 0.05, "close")) as (_, call):
            return await call(may_stream=True)

    assert asyncio.run(run()).status == 500


def test_a_time_limit_for_the_whole_reply_holds_back_all_but_event_streams() -> None:
    """With such a limit a chunked reply is awaited as a whole; events are passed on."""

    async def run(head: bytes) -> Reply:
        script = always(head, b"2\r\n{}\r\n", 0.3, b"0\r\n\r\n")
        async with calling(script) as (_, call):
            return await call(may_stream=True, seconds=0.15, is_whole_limited=True)

    assert asyncio.run(run(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")).status == 504
    assert asyncio.run(run(EVENTS)).status == 200


@pytest.mark.parametrize("ending", ["close", "reset", "hang"])
def test_a_stream_that_breaks_off_is_an_error(ending: str) -> None:
    """Whoever reads it is told, also when the service just stops sending."""

    async def run() -> None:
        async with calling(always(EVENTS, b"5\r\ndata1\r\n", 0.05, ending)) as (_, call):
            await collect(await call(may_stream=True))

    with pytest.raises(ConnectionError):
        asyncio.run(within(3, run()))


def test_a_stream_that_nobody_reads_is_not_taken_in() -> None:
    """A service cannot fill the memory: reading stops, and goes on when somebody reads."""
    size = 8_000_000

    async def run() -> tuple[int, int]:
        pieces = [b"x" * 100_000] * (size // 100_000)
        async with calling(always(HEAD + b"Content-Length: %d\r\n\r\n" % size, *pieces)) as (_, call):
            reply = await call(may_stream=True)
            assert not isinstance(reply.body, bytes)
            await asyncio.sleep(0.2)
            return len(await reply.body.read()), len(await collect(reply))

    first, rest = asyncio.run(within(5, run()))
    assert first < 2_000_000
    assert first + rest == size


def pieces_of(*pieces: bytes, seconds: float = 0.0) -> Callable[[], Awaitable[Any]]:
    """An ASGI receive function that gives pieces of a body."""
    left = list(pieces)

    async def receive() -> Any:
        await asyncio.sleep(seconds)
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    return receive


@pytest.mark.parametrize(("length", "framing"), [(9, b"content-length: 9"), (None, b"transfer-encoding: chunked")])
def test_a_request_is_passed_on_while_it_arrives(length: int | None, framing: bytes) -> None:
    """Its pieces go out as they come, framed by the length if the client said it, else in chunks."""

    async def run() -> tuple[Reply, bytes]:
        async with calling(always(OK)) as (peer, call):
            reply = await call(RequestBody(pieces_of(b"def", b"ghi"), b"abc", length))
            return reply, peer.requests[0]

    reply, request = asyncio.run(run())
    assert reply.status == 200
    assert framing in head_of(request)
    assert body_of(request) == b"abcdefghi"


def test_a_client_that_leaves_within_its_request_ends_the_call() -> None:
    """The service sees a broken request, never a shorter one."""

    async def run() -> tuple[Reply, int, int]:
        receive = pieces_of(b"def", seconds=0.02)

        async def leaves() -> Any:
            message = await receive()
            return {**message, "more_body": True}

        async with calling(always(OK)) as (peer, call):
            reply = await call(RequestBody(leaves, b"abc", None))
            await asyncio.sleep(0.02)
            return reply, len(peer.requests), peer.broken

    reply, requests, broken = asyncio.run(run())
    assert (reply.status, requests, broken) == (500, 0, 1)
