"""One HTTP/1.1 connection to a service: bytes out, one reply in, over and over.

Trusts nothing that the service sends: heads have a size limit, bodies too unless they are passed on, and bytes that
nobody asked for end the connection, so that they never become the next request's reply.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import NamedTuple, Protocol, cast

import httptools

from kservec_router.messages import Body, Headers, Outgoing, Reply, Source, failure

LONG_BODY = 262_144
_MOST_HEADERS = 256
_FRAMING = 16  # more than what chunks need around a piece of a body; the rest counts as if it were the head
_LONG_HEAD = "the head of the reply is longer than %d bytes"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_EVENT_STREAM = b"text/event-stream"


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


class Owner(Protocol):
    """Whose connections these are."""

    def free(self, connection: Connection) -> None:
        """Take a connection back, for another exchange."""

    def gone(self, connection: Connection) -> None:
        """Forget about a connection, which is closed."""

    def unheard(self, outgoing: Outgoing) -> bool:
        """Whether a call is taken over that failed on a kept connection without a byte of a reply."""


class Connection(asyncio.Protocol):
    """A connection and the one exchange under way on it.

    The exchange ends with a Reply that is set to its `Outgoing`, whatever happens. `is_used` tells whether there was an
    exchange before this one; `deadline` is monotonic time, 0 when there is none.
    """

    def __init__(self, limits: WireLimits, owner: Owner) -> None:
        self._limits, self._owner = limits, owner
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._outgoing: Outgoing | None = None
        self._stream: Stream | None = None
        self._upload: tuple[asyncio.Future[None], Source] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._url = ""
        self.deadline = 0.0
        self.idle_since = 0.0
        self.is_used = False
        self._begin()

    def _begin(self) -> None:
        self._headers: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._head: Headers | None = None
        self._reply: Reply | None = None
        self._problem: str | None = None
        self._head_size = self._body_size = 0
        self._keep = self._heard = self._uploading = False

    @property
    def is_open(self) -> bool:
        """Whether a request can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def exchange(self, outgoing: Outgoing) -> None:
        """Send a request, and see to it that it gets its reply."""
        self._begin()
        self._outgoing = outgoing
        self.deadline = outgoing.deadline
        outgoing.on_cancel = self.give_up
        transport, body, head = self._transport, outgoing.body, outgoing.target.head
        self._url = outgoing.target.url
        if transport is None:
            self.fail("the connection was closed")
        elif isinstance(body, bytes):
            transport.write(b"%bcontent-length: %d\r\n%b\r\n%b" % (head, len(body), outgoing.lines, body))
        else:
            framing = b"transfer-encoding: chunked" if body.length is None else b"content-length: %d" % body.length
            transport.write(b"%b%b\r\n%b\r\n" % (head, framing, outgoing.lines))
            self._uploading = True
            task = asyncio.ensure_future(self._send_body(body))
            task.add_done_callback(self._uploaded)
            self._upload = (task, body)

    async def _send_body(self, source: Source) -> None:
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

    def _uploaded(self, upload: asyncio.Future[None]) -> None:
        if not upload.cancelled() and (error := upload.exception()) is not None:
            self.fail(f"the request's body broke off: {error}")

    # What the parser calls.

    def on_message_begin(self) -> None:
        """A reply begins; a second one in the same read is one too many."""
        if self._reply is not None:
            self._keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. What comes when the head is whole are those behind the body, which are nobody's."""
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is whole. An interim one (1xx) counts for nothing."""
        status = self._parser.get_status_code()
        if status < 200 and status != 101:
            self._headers = []
        elif self._head is None:
            self._head = tuple(self._headers)
            if len(self._head) > _MOST_HEADERS:
                self._problem = _LONG_HEAD % self._limits.head_bytes

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self._head_size -= len(piece) + _FRAMING
        if self._stream is not None:
            self._stream.put(piece)
            return
        self._body_size += len(piece)
        if self._body_size <= self._limits.body_bytes:
            self._pieces.append(piece)
        else:
            self._problem = f"the reply is longer than {self._limits.body_bytes} bytes"

    def on_message_complete(self) -> None:
        """The reply is whole, unless it was an interim one."""
        if self._head is not None and self._reply is None:
            self._keep = self._parser.should_keep_alive()  # only now; afterwards the parser has forgotten
            self._reply = self._made_reply(b"".join(self._pieces))

    def _made_reply(self, body: Body) -> Reply:
        headers, status = self._head or (), self._parser.get_status_code()
        if 200 <= status < 300:
            return Reply(status, headers, body)
        if status < 200 or status > 599:
            return failure(502, f'Post "{self._url}": the service answered with status {status}')
        if status in _REDIRECTS and any(name == b"location" for name, _ in headers):
            return failure(502, f'Post "{self._url}": a redirect ({status}) is not followed')
        return Reply(status, headers, body)

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by name

    def data_received(self, data: bytes) -> None:
        """Feed the parser, then see whether that was the end of something."""
        outgoing = self._outgoing
        if outgoing is None and self._stream is None:
            self.abort()  # nobody asked
            return
        self._heard = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._problem = "the service switched protocols"
        except httptools.HttpParserError as error:
            self._keep = False
            if self._reply is None:  # what follows a whole reply does no harm to that
                self._problem = f"malformed reply: {error}"
        self._head_size += len(data)
        if self._problem is not None or self._head_size > self._limits.head_bytes:
            self.fail(self._problem or _LONG_HEAD % self._limits.head_bytes)
        elif self._reply is not None:
            self._finish()
        elif self._stream is not None:
            self.deadline = self._stall_deadline()
        elif self._head is not None and outgoing is not None and outgoing.may_stream:
            self._stream_if_long(outgoing, self._head)

    def _stream_if_long(self, outgoing: Outgoing, head: Headers) -> None:
        """Pass the body on if it is long or of unknown length; with a time limit for all of it, only event streams."""
        named = dict(head)
        is_held = outgoing.is_whole_limited and not named.get(b"content-type", b"").startswith(_EVENT_STREAM)
        length = int(named[b"content-length"]) if b"content-length" in named else None
        if self._uploading or is_held or (length is not None and length <= LONG_BODY):
            return
        stream = Stream(self, length, self._pieces)
        reply = self._made_reply(stream)
        if reply.cause is not None:
            self.abort()
        else:
            self._stream = stream
            self.deadline = self._stall_deadline()
        self._settle(reply)

    def _stall_deadline(self) -> float:
        return monotonic() + self._limits.stall_seconds if self._limits.stall_seconds else 0.0

    def _finish(self) -> None:
        """The reply is whole, and everything that was read with it has been looked at."""
        reply, stream = self._reply, self._stream
        self._stream, self.deadline = None, 0.0
        if self._keep and not self._uploading and self.is_open:
            self.is_used = True
            self._owner.free(self)
        else:
            self.abort()
        if stream is not None:
            stream.end()
        elif reply is not None:
            self._settle(reply)

    def _settle(self, reply: Reply) -> None:
        """End the exchange with a reply."""
        outgoing, self._outgoing = self._outgoing, None
        if self._upload is not None:
            self._end_upload()
        if outgoing is not None:
            outgoing.set(reply)

    def _end_upload(self) -> None:
        """Send no more: the body is over, or the reply did not wait for all of it."""
        if self._upload is not None:
            (task, source), self._upload = self._upload, None
            task.cancel()
            source.close()

    def give_up(self) -> None:
        """End the exchange, whose reply nobody wants any more, and the connection."""
        self._outgoing = None
        self._end_upload()
        self.abort()

    def fail(self, reason: str, status: int = 500) -> None:
        """End the exchange with a failure, and the connection."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.end(reason)
        self.abort()
        outgoing, is_stale = self._outgoing, status == 500 and self.is_used and not self._heard
        if is_stale and outgoing is not None and self._owner.unheard(outgoing):
            self._outgoing = None
        else:
            self._settle(failure(status, f'Post "{self._url}": {reason}'))

    def abort(self) -> None:
        """Close the connection at once."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
            self._owner.gone(self)

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone; a body without a length ends with it."""
        if self._transport is not None:
            self._transport = None
            self._owner.gone(self)
        self.resume_writing()
        if error is None and self._head is not None and self._ends_with_connection():
            self._keep = False
            self._reply = self._reply or self._made_reply(b"".join(self._pieces))
            self._finish()
        elif self._outgoing is not None or self._stream is not None:
            self.fail(f"the service closed the connection: {error or 'EOF'}")

    def _ends_with_connection(self) -> bool:
        """Whether nothing else says where the body ends."""
        return not {name for name, _ in self._head or ()} & {b"content-length", b"transfer-encoding"}

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
