"""Connections from clients: uvicorn's HTTP/1.1 protocol with the limits it lacks, and a short way for the graph.

Limits: how long a head may be, how long head and body may take to arrive and a reply to be taken, one Host header, one
way of framing. The short way, for requests that are held as a whole: no ASGI scope, no messages, one write per reply.
Everything else, health and metrics and bodies that are passed on while they arrive, goes through the application.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from kservec_router.app import TASKS, is_admin
from kservec_router.drive import Drive
from kservec_router.messages import RETRY_AFTER, Reply, failure
from kservec_router.propagation import client_headers
from kservec_router.requests import LINGER_SECONDS
from kservec_router.router import Request, Router

_LONG_BODY = 1 << 20
_MOST_HEADERS = 256
_FRAMING = 16  # more than what chunks need around a piece of a body; the rest counts as if it were the head
_ADMIN = (b"/readyz", b"/healthz", b"/metrics")
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class RouterProtocol(HttpToolsProtocol):
    """A connection from a client."""

    router: Router

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._running: set[asyncio.Task[None]] = set()
        self._drive: Drive | None = None
        self._waiting: deque[Request] = deque()  # their turn comes when those before them are answered
        self._pieces: list[bytes] = []
        self._named: dict[bytes, bytes] = {}
        self._refusal = (400, "the request is not well-formed HTTP")
        self._read_deadline = self._write_deadline = self._idle_deadline = 0.0
        self._in_head = self._in_chunks = self._is_short = self._is_serving = False
        self._is_last = self._is_over = False  # the last request is being answered; it is answered
        self._has_ended = False  # a request ended in what is being read
        self._head_seen = self._spared = self._body_size = 0

    # Time.

    def _expect_request(self) -> None:
        limit = self.router.executor.plan.timeouts.read
        self._read_deadline = time.monotonic() + limit if limit else 0.0

    def check_time(self, now: float) -> None:
        """Give up on a client that is too slow; called ten times a second."""
        if self.transport.is_closing():
            return
        if 0 < self._write_deadline < now:
            self.transport.abort()
        elif 0 < self._idle_deadline < now:
            self.transport.close()
        elif 0 < self._read_deadline < now:
            self._read_deadline = 0.0
            if not self._is_over and (self._in_head or self._is_receiving()):
                self._refusal = (408, "the request took too long to arrive")
                self.send_400_response("")
            else:
                self.transport.close()

    def _is_receiving(self) -> bool:
        """Whether a request's body is still on its way."""
        return self._is_short or (self.cycle is not None and not self.cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a first request, unless there are connections enough."""
        super().connection_made(transport)
        self._expect_request()
        limit = self.router.settings.max_clients
        if 0 < limit < len(self.connections):
            self._refusal = (503, f"{limit} connections are open already")
            self.send_400_response("")

    def pause_writing(self) -> None:
        """The client does not take what it is sent."""
        super().pause_writing()
        limit = self.router.executor.plan.timeouts.write
        self._write_deadline = time.monotonic() + limit if limit else 0.0

    def resume_writing(self) -> None:
        """The client takes more."""
        super().resume_writing()
        self._write_deadline = 0.0

    # What the parser calls.

    def data_received(self, data: bytes) -> None:
        """Feed the parser; a head that does not end is refused."""
        if self._is_over:
            return
        self._idle_deadline = 0.0
        self._has_ended = False
        self._head_seen = self._head_seen + len(data) if self._in_head or self._in_chunks else len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.send_400_response("")
        except httptools.HttpParserUpgrade:
            return  # the request was taken as any other, and what follows it is not HTTP
        is_long = self._head_seen - self._spared > self.router.settings.head_limit
        if is_long and (self._in_head or self._in_chunks) and not self._is_over:
            self._refusal = (431, "the head of the request is too long")
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """A request begins."""
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self._in_head, self._in_chunks, self._is_short = True, False, False
        self._body_size = 0
        # Some of what was just read belongs to the requests before this one, if any ended in it.
        self._spared = self._head_seen if self._has_ended else 0
        self._expect_request()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind the body are nobody's."""
        if self._in_head:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is whole: refuse what could be read in two ways, else choose the way."""
        self._in_head = False
        headers, limit = self.headers, self.router.settings.head_limit
        self._named = named = dict(headers)
        if len(headers) > _MOST_HEADERS or (self._head_seen > limit and self._head_size() > limit):
            self._refuse(431, "the head of the request is too long")
        self._in_chunks = has_coding = b"transfer-encoding" in named
        if has_coding and b"content-length" in named:
            self._refuse(400, "both Content-Length and Transfer-Encoding are given")
        if b"host" in named:
            has_one_host = len(named) == len(headers) or [name for name, _ in headers].count(b"host") == 1
        else:
            has_one_host = self.parser.get_http_version() != "1.1"
        if not has_one_host:
            self._refuse(400, "there must be one Host header")
        self.expect_100_continue = b"expect" in named and named[b"expect"].lower() == b"100-continue"
        self._is_short = not has_coding and self._can_be_short(named.get(b"content-length", b"0"))
        if not self._is_short:
            self._take_long_way()
        elif self.expect_100_continue:
            self.transport.write(_CONTINUE)

    def _head_size(self) -> int:
        """How long the head is, of which more was read than the head."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _can_be_short(self, length: bytes) -> bool:
        """Whether the request is for the graph, will be held as a whole, and no other one is on the long way."""
        url = self.url
        if url[:1] != b"/" or b"%" in url or (self.cycle is not None and not self.cycle.response_complete):
            return False
        if url.startswith(_ADMIN) and is_admin(self.parser.get_method().decode("ascii"), self._path()):
            return False
        settings = self.router.settings
        return int(length) <= min(settings.stream_from, settings.body_limit)

    def _path(self) -> str:
        url = self.url
        return (url.partition(b"?")[0] if b"?" in url else url).decode("ascii", "replace")

    def _take_long_way(self) -> None:
        """Hand the request to uvicorn, unless others on the short way are to be answered first: then to nobody."""
        if self._is_serving:
            self._refuse(503, "")
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        cast("dict[str, Any]", self.scope)[TASKS] = self._running
        super().on_headers_complete()

    def _refuse(self, status: int, reason: str) -> None:
        """End parsing; uvicorn then has `send_400_response` answer."""
        self._refusal = (status, reason)
        raise httptools.HttpParserError(reason)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body. A long one may take its time, as long as it moves."""
        if self._is_short:
            self._pieces.append(body)
            return
        super().on_body(body)
        self._body_size += len(body)
        self._head_seen -= len(body) + _FRAMING
        if self._body_size > _LONG_BODY:
            self._expect_request()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._read_deadline, self._has_ended = 0.0, True
        if not self._is_short:
            self._in_chunks = False
            super().on_message_complete()
            return
        self._is_short = False
        parser = self.parser
        client = self.client[0] if self.client else None
        request = Request(parser.get_method(), self._path(), self.headers, self._named, client)
        request.body, self._pieces = b"".join(self._pieces), []
        request.takes_chunks = parser.get_http_version() == "1.1"
        request.keep = request.takes_chunks and parser.should_keep_alive()
        if self._is_serving:
            self._waiting.append(request)
            self.flow.pause_reading()
        else:
            self._serve(request)

    # The short way.

    def _serve(self, request: Request) -> None:
        self._is_serving = True
        self._drive = drive = Drive(self._answer(request))
        drive.step()

    async def _answer(self, request: Request) -> None:
        """Answer a request and go on to the next."""
        router = self.router
        try:
            reply = router.begin(request)
            if reply is None:
                try:
                    reply = await router.run(request)
                except Exception as error:  # noqa: BLE001 - the wall between requests
                    reply = router.mistake(error)
                request.reply = reply
            keep = request.keep and not (self._is_last or router.is_draining)
            body = reply.body
            if isinstance(body, bytes):
                request.sent = len(body)
                self._write_reply(request, reply, body, keep)
            else:
                keep = await self._write_stream(request, reply, keep)
        except (asyncio.CancelledError, ConnectionError):
            self.transport.abort()
            return
        except Exception:
            self.transport.abort()
            raise
        finally:
            router.end(request)
        self._finish(keep)

    def _write_reply(self, request: Request, reply: Reply, body: bytes, keep: bool) -> None:
        parts = self._head(reply, client_headers(reply, not keep))
        if request.method != b"HEAD" and reply.status not in (204, 304):
            parts.append(body)
        self.transport.write(b"".join(parts))

    def _head(self, reply: Reply, headers: list[tuple[bytes, bytes]]) -> list[bytes]:
        """The head of a reply, in parts."""
        parts = [STATUS_LINE[reply.status]]
        for name, value in self.server_state.default_headers + headers:
            parts += (name, b": ", value, b"\r\n")
        parts.append(b"\r\n")
        return parts

    async def _write_stream(self, request: Request, reply: Reply, keep: bool) -> bool:
        """Pass a body on while it arrives; return whether the connection can go on."""
        body = reply.body
        assert not isinstance(body, bytes)
        is_chunked = body.length is None and request.takes_chunks
        keep = keep and (is_chunked or body.length is not None)
        headers = client_headers(reply, not keep)
        if is_chunked:
            headers.append((b"transfer-encoding", b"chunked"))
        self.transport.write(b"".join(self._head(reply, headers)))
        try:
            while piece := await body.read():
                request.sent += len(piece)
                if request.method == b"HEAD":
                    continue
                self.transport.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
                await self.flow.drain()
        finally:
            body.close()
        if is_chunked and request.method != b"HEAD":
            self.transport.write(b"0\r\n\r\n")
        return keep

    def _finish(self, keep: bool) -> None:
        """A request is answered: go on to the next one, or wait for it, or close."""
        self._is_serving = False
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if not keep:
            self.transport.close()
        elif self._waiting:
            self._is_serving = True
            self.loop.call_soon(self._serve, self._waiting.popleft())
        else:
            self.flow.resume_reading()
            limit = self.router.executor.plan.timeouts.idle
            self._idle_deadline = time.monotonic() + limit if limit else 0.0

    # The end.

    def on_response_complete(self) -> None:
        """A request on the long way is answered."""
        super().on_response_complete()
        self._unset_keepalive_if_required()
        limit = self.router.executor.plan.timeouts.idle
        self._idle_deadline = time.monotonic() + limit if limit and not self._is_receiving() else 0.0

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Answer what is no request, once those before it are answered, and close."""
        if self._is_serving:
            self._is_last = True
            self._waiting.clear()
            return
        self._cancel()
        is_long_way = self.cycle is not None and not self.cycle.response_complete
        if is_long_way and self.cycle.response_started:
            self.transport.close()
            return
        status, reason = self._refusal
        reply = failure(status, reason, RETRY_AFTER if status == 503 else ())
        assert isinstance(reply.body, bytes)
        self.transport.write(b"".join([*self._head(reply, client_headers(reply, True)), reply.body]))
        self.transport.write_eof()
        self._is_over, self._read_deadline = True, time.monotonic() + LINGER_SECONDS
        if is_long_way:
            self.cycle.disconnected = True  # the application writes the request down, and no answer
        else:
            self.router.turned_away(reply, self.client[0] if self.client else None)

    def shutdown(self) -> None:
        """Close when what is under way is answered."""
        if self._is_serving:
            self._is_last = True
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: what is done for it is of no use any more."""
        super().connection_lost(exc)
        self._waiting.clear()
        self._cancel()

    def _cancel(self) -> None:
        for task in list(self._running):
            task.cancel()
        if self._drive is not None and self._is_serving:
            self._drive.cancel()
