"""Bodies that are passed on while they arrive, in both directions, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kservec_router.messages import Reply
from kservec_router.requests import RequestBody

from .calling import calling
from .peers import OK, always, body_of, head_of, within

HEAD = b"HTTP/1.1 200 OK\r\n"


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
