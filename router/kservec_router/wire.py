"""One HTTP/1.1 connection to a service: bytes out, one reply in, over and over.

Trusts nothing that the service sends: heads have a size limit, bodies too unless they are passed on, and bytes that
nobody asked for end the connection, so that they never become the next request's reply.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, NamedTuple, cast

import httptools

from kservec_router.drive import Outcome
from kservec_router.messages import Body, Headers, Outgoing, Reply, Source, failure

LONG_BODY = 262_144
_MOST_HEADERS = 256
_FRAMING = 16  # more than what chunks need around a piece of a body; the rest counts as if it were the head
EVENT_STREAM = b"text/event-stream"


class WireLimits(NamedTuple):
    """Limits of what a service may send, in bytes, and how long a body that is passed on may pause, in seconds."""

    head_bytes: int = 65_536
    body_bytes: int = 64 << 20
    stall_seconds: float = 60


class Stream:
    """The body of a reply that is passed on while it arrives; reading stops while much of it waits."""

    __slots__ = ("_broken", "_connection", "_over", "_pieces", "_size", "_waiter", "length")

    def __init__(self, connection: Connection, length: int | None, first: list[bytes]) -> None:
        self.length = length
        self._connection: Connection | None = connection
        self._pieces = first
        self._size = sum(map(len, first))
        self._over = False
        self._broken: str | None = None
        self._waiter: asyncio.Future[None] | None = None

    def put(self, piece: bytes) -> None:
        """Take in what arrived."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > LONG_BODY and self._connection is not None:
            self._connection.pause()
        self._wake()

    def end(self, broken: str | None = None) -> None:
        """Nothing more will arrive; *broken* says why when there should have been more."""
        self._over, self._broken, self._connection = True, broken, None
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self) -> bytes:
        """What has arrived; empty at the end.

        Raises:
            ConnectionError: The service broke off.
        """
        while not self._pieces:
            if self._broken is not None:
                raise ConnectionError(self._broken)
            if self._over:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        piece = b"".join(self._pieces)
        self._pieces, self._size = [], 0
        if self._connection is not None:
            self._connection.resume()
        return piece

    def close(self) -> None:
        """Say that nobody reads on: the connection is of no more use."""
        if self._connection is not None:
            self._connection.abort()


class Connection(asyncio.Protocol):
    """A connection and the one exchange under way on it.

    `outcome` is what that exchange will end with, always a Reply; None while the connection is idle.
    `heard` tells whether any byte of a reply came, `is_used` whether there was an exchange before this one;
    `deadline` is monotonic time, 0 when there is none.
    """

    def __init__(self, limits: WireLimits, on_free: Any, on_gone: Any) -> None:
        self._limits, self._on_free, self._on_gone = limits, on_free, on_gone
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._stream: Stream | None = None
        self._writable: asyncio.Future[None] | None = None
        self._uploading = False
        self.outcome: Outcome[Reply] | None = None
        self.deadline = 0.0
        self.idle_since = 0.0
        self.is_used = False
        self._begin("", False, False)

    def _begin(self, url: str, may_stream: bool, is_whole_limited: bool) -> None:
        self._url, self._may_stream, self._is_whole_limited = url, may_stream, is_whole_limited
        self._headers: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._head_size = self._body_size = self._status = 0
        self._head_done = self._keep = False
        self._reply: Reply | None = None
        self.heard = False

    @property
    def is_open(self) -> bool:
        """Whether a request can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def exchange(self, outgoing: Outgoing, deadline: float) -> Outcome[Reply]:
        """Send a request; the outcome is the reply, whatever happens."""
        transport = self._transport
        target, lines, body, _, may_stream, is_whole_limited = outgoing
        self._begin(target.url, may_stream, is_whole_limited)
        self.deadline = deadline
        outcome: Outcome[Reply] = Outcome()
        self.outcome = outcome
        if transport is None:
            self.fail("the connection was closed")
        elif isinstance(body, bytes):
            transport.write(b"%bcontent-length: %d\r\n%b\r\n%b" % (target.head, len(body), lines, body))
        else:
            self._uploading = True
            framing = b"transfer-encoding: chunked" if body.length is None else b"content-length: %d" % body.length
            transport.write(b"%b%b\r\n%b\r\n" % (target.head, framing, lines))
        return outcome

    async def upload(self, source: Source) -> None:
        """Send a body that arrives piece by piece, no faster than the service takes it."""
        is_chunked = source.length is None
        while piece := await source.read():
            if self._transport is None:
                return
            self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            if self._writable is not None:
                await self._writable
        if self._transport is not None and is_chunked:
            self._transport.write(b"0\r\n\r\n")
        self._uploading = False

    # What the parser calls.

    def on_message_begin(self) -> None:
        """A reply begins; a second one in the same read is one too many."""
        if self._reply is not None:
            self._keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind the body are nobody's."""
        if not self._head_done:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._status = self._parser.get_status_code()
        self._head_done = self._status >= 200

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self._head_size -= len(piece) + _FRAMING
        if self._stream is not None:
            self._stream.put(piece)
            return
        self._body_size += len(piece)
        if self._body_size <= self._limits.body_bytes:
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """The reply is whole, unless it was an interim one (1xx)."""
        if self._status < 200 and self._status != 101:
            self._headers, self._head_done = [], False
        elif self._reply is None:
            self._keep = self._parser.should_keep_alive()  # only now; afterwards the parser has forgotten
            self._reply = self._made_reply(b"".join(self._pieces))

    def _made_reply(self, body: Body) -> Reply:
        headers: Headers = tuple(self._headers)
        if 200 <= self._status < 300:
            return Reply(self._status, headers, body)
        if self._status < 200 or self._status > 599:
            return failure(502, f'Post "{self._url}": the service answered with status {self._status}')
        if self._status in (301, 302, 303, 307, 308) and any(name == b"location" for name, _ in headers):
            return failure(502, f'Post "{self._url}": a redirect ({self._status}) is not followed')
        return Reply(self._status, headers, body)

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by name

    def data_received(self, data: bytes) -> None:
        """Feed the parser, then see whether that was the end of something."""
        if self.outcome is None and self._stream is None:
            self.abort()  # nobody asked
            return
        self.heard = True
        problem = self._feed(data)
        if problem is not None:
            self.fail(problem)
        elif self._reply is not None:
            self._finish()
        elif self._stream is not None:
            self.deadline = self._stall_deadline()
        elif self._may_stream and self._head_done and self._is_worth_a_stream():
            self._start_stream()

    def _feed(self, data: bytes) -> str | None:
        """Parse what arrived; return what is wrong with it. After a whole reply, nothing is, but nothing follows."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return "the service switched protocols"
        except httptools.HttpParserError as error:
            self._keep = False
            return f"malformed reply: {error}" if self._reply is None else None
        self._head_size += len(data)
        if self._head_size > self._limits.head_bytes or len(self._headers) > _MOST_HEADERS:
            return f"the head of the reply is longer than {self._limits.head_bytes} bytes"
        if self._body_size > self._limits.body_bytes:
            return f"the reply is longer than {self._limits.body_bytes} bytes"
        return None

    def _is_worth_a_stream(self) -> bool:
        """Whether the body is long or of unknown length; with a time limit for all of it, only event streams are."""
        kind = length = b""
        for name, value in self._headers:
            if name == b"content-type":
                kind = value
            elif name == b"content-length":
                length = value
        if self._uploading or (self._is_whole_limited and not kind.startswith(EVENT_STREAM)):
            return False
        return not length or int(length) > LONG_BODY

    def _start_stream(self) -> None:
        length = next((int(value) for name, value in self._headers if name == b"content-length"), None)
        stream = Stream(self, length, self._pieces)
        reply = self._made_reply(stream)
        if reply.cause is not None:
            self._settle(reply)
            self.abort()
            return
        self._stream = stream
        self.deadline = self._stall_deadline()
        self._settle(reply)

    def _stall_deadline(self) -> float:
        return monotonic() + self._limits.stall_seconds if self._limits.stall_seconds else 0.0

    def _finish(self) -> None:
        """The reply is whole, and everything that was read with it has been looked at."""
        reply, stream = self._reply, self._stream
        self._stream = None
        if self._keep and not self._uploading and self.is_open:
            self.is_used = True
            self._on_free(self)
        else:
            self.abort()
        if stream is not None:
            stream.end()
        elif reply is not None:
            self._settle(reply)

    def _settle(self, reply: Reply) -> None:
        outcome, self.outcome = self.outcome, None
        if outcome is not None:
            outcome.set(reply)

    def fail(self, reason: str, status: int = 500) -> None:
        """End the exchange with a failure, and the connection."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.end(reason)
        self.abort()
        self._settle(failure(status, f'Post "{self._url}": {reason}'))

    def abort(self) -> None:
        """Close the connection at once."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
            self._on_gone(self)

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone; a body without a length ends with it."""
        if self._transport is not None:
            self._transport = None
            self._on_gone(self)
        self.resume_writing()
        if error is None and self._head_done and self._ends_with_connection():
            self._keep = False
            self._reply = self._reply or self._made_reply(b"".join(self._pieces))
            self._finish()
        elif self.outcome is not None or self._stream is not None:
            self.fail(f"the service closed the connection: {error or 'EOF'}")

    def _ends_with_connection(self) -> bool:
        """Whether nothing else says where the body ends."""
        return not {name for name, _ in self._headers} & {b"content-length", b"transfer-encoding"}

    def pause(self) -> None:
        """Stop reading."""
        if self.is_open and self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()
            self.deadline = 0.0  # it is the client who is slow

    def resume(self) -> None:
        """Read on."""
        if self.is_open and self._transport is not None and not self._transport.is_reading():
            self._transport.resume_reading()
            self.deadline = self._stall_deadline()

    def pause_writing(self) -> None:
        """The service takes no more for now."""
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """The service takes more, or will never again."""
        waiter, self._writable = self._writable, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
