"""Reading a client's request: all of its body, or the beginning of one that is passed on while it arrives."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from kservec_router.messages import Reply, failure

LINGER_SECONDS = 1.0  # closing while bytes are unread would cut off the answer

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class RequestBody:
    """A request's body that is passed on while it arrives."""

    __slots__ = ("_first", "_more", "_receive", "length", "received")

    def __init__(self, receive: Receive, first: bytes, length: int | None) -> None:
        self._receive, self._first, self._more = receive, first, True
        self.length = length
        self.received = len(first)

    async def read(self) -> bytes:
        """The next piece; empty at the end.

        Raises:
            ConnectionError: The client left.
        """
        piece, self._first = self._first, b""
        while not piece and self._more:
            piece, self._more = await _next_piece(self._receive)
            self.received += len(piece)
        return piece

    def close(self) -> None:
        """Read no more."""
        self._more, self._first = False, b""


async def _next_piece(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ConnectionError("the client left")
    return message.get("body", b""), message.get("more_body", False)


async def read_body(
    receive: Receive, length: int | None, limit: int, stream_from: int | None
) -> bytes | RequestBody | Reply:
    """The body of a request of *length* bytes (None: not known); a reply with 413 when it is too long to hold.

    Bodies longer than *stream_from* bytes are not waited for, unless it is None.

    Raises:
        ConnectionError: The client left.
    """
    body, more = await _next_piece(receive)
    if not more:
        return body if len(body) <= limit else _too_long(limit)
    if stream_from is None and length is not None and length > limit:
        return _too_long(limit)
    pieces, size = [body], len(body)
    while more:
        if stream_from is not None and size > stream_from:
            return RequestBody(receive, b"".join(pieces), length)
        if size > limit:
            return _too_long(limit)
        piece, more = await _next_piece(receive)
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces) if size <= limit else _too_long(limit)


async def skip_rest(receive: Receive) -> None:
    """Take in and forget what a client still sends, for a moment, so that it can come to read its answer."""
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(LINGER_SECONDS):
            while (await _next_piece(receive))[1]:
                pass


def _too_long(limit: int) -> Reply:
    return failure(413, f"the request is longer than {limit} bytes")
