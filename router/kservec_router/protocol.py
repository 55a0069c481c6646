"""Connections from clients: uvicorn's HTTP/1.1 protocol with the limits it lacks, and a short way for the graph.

Limits: how long a head may be, how long head and body may take to arrive and a reply to be taken, one Host header, one
way of framing. The short way, for requests that are held as a whole: no ASGI scope, no messages, one write per reply.
Everything else, health and metrics and bodies that are passed on while they arrive, goes through the application.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, NamedTuple, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from kservec_router.app import TASKS, is_admin
from kservec_router.drive import Drive
from kservec_router.messages import Reply, failure
from kservec_router.propagation import client_headers
from kservec_router.router import Request, Router

_LONG_BODY = 1 << 20
_MOST_HEADERS = 256
_ADMIN = (b"/readyz", b"/healthz", b"/metrics")
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class _Waiting(NamedTuple):
    """A request whose turn comes when those before it are answered."""

    request: Request
    keep: bool
    is_modern: bool


class RouterProtocol(HttpToolsProtocol):
    """A connection from a client."""

    router: Router

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._running: set[asyncio.Task[None]] = set()
        self._drive: Drive | None = None
        self._waiting: deque[_Waiting] = deque()
        self._pieces: list[bytes] = []
        self._refusal = (400, "the request is not well-formed HTTP")
        self._read_deadline = self._write_deadline = self._idle_deadline = 0.0
        self._in_head = self._is_short = self._is_serving = self._is_last = False
        self._head_seen = self._body_size = 0

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
            if self._in_head or self._is_receiving():
                self._refusal = (408, "the request took too long to arrive")
                self.send_400_response("")
            else:
                self.transport.close()

    def _is_receiving(self) -> bool:
        """Whether a request's body is still on its way."""
        return self._is_short or (self.cycle is not None and not self.cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a first request."""
        super().connection_made(transport)
        self._expect_request()

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
        self._idle_deadline = 0.0
        self._head_seen = self._head_seen + len(data) if self._in_head else len(data)
        super().data_received(data)
        if self._in_head and self._head_seen > self.router.settings.head_limit and not self.transport.is_closing():
            self._refusal = (431, "the head of the request is too long")
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """A request begins."""
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self._in_head, self._is_short = True, False
        self._body_size = 0
        self._expect_request()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is whole: refuse what could be read in two ways, else choose the way."""
        self._in_head = False
        named = dict(self.headers)
        if len(self.headers) > _MOST_HEADERS or self._head_size() > self.router.settings.head_limit:
            self._refuse(431, "the head of the request is too long")
        has_coding = b"transfer-encoding" in named
        if has_coding and b"content-length" in named:
            self._refuse(400, "both Content-Length and Transfer-Encoding are given")
        if (b"host" not in named and self.parser.get_http_version() == "1.1") or self._has_two_hosts(named):
            self._refuse(400, "there must be one Host header")
        self.expect_100_continue = named.get(b"expect", b"").lower() == b"100-continue"
        self._is_short = not has_coding and self._can_be_short(named.get(b"content-length", b"0"))
        if not self._is_short:
            self._take_long_way()
        elif self.expect_100_continue:
            self.transport.write(_CONTINUE)

    def _head_size(self) -> int:
        """How long the head is; when all that was read is within the limit, that will do."""
        if self._head_seen <= self.router.settings.head_limit:
            return 0
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _has_two_hosts(self, named: dict[bytes, bytes]) -> bool:
        return len(named) < len(self.headers) and [name for name, _ in self.headers].count(b"host") > 1

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
        return self.url.partition(b"?")[0].decode("ascii", "replace")

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
        if self._body_size > _LONG_BODY:
            self._expect_request()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._read_deadline = 0.0
        if not self._is_short:
            super().on_message_complete()
            return
        self._is_short = False
        path = self._path()
        client = self.client[0] if self.client else None
        request = Request(self.parser.get_method(), path, self.headers, client)
        request.body, self._pieces = b"".join(self._pieces), []
        is_modern = self.parser.get_http_version() == "1.1"
        waiting = _Waiting(request, is_modern and self.parser.should_keep_alive(), is_modern)
        if self._is_serving:
            self._waiting.append(waiting)
            self.flow.pause_reading()
        else:
            self._serve(waiting)

    # The short way.

    def _serve(self, waiting: _Waiting) -> None:
        self._is_serving = True
        self._drive = Drive(self._answer(waiting))
        self._drive.step()

    async def _answer(self, waiting: _Waiting) -> None:
        """Answer a request and go on to the next."""
        router, request = self.router, waiting.request
        try:
            reply = router.begin(request)
            if reply is None:
                try:
                    reply = await router.run(request)
                except Exception as error:  # noqa: BLE001 - the wall between requests
                    reply = router.mistake(error)
                request.reply = reply
            keep = waiting.keep and not (self._is_last or router.is_draining)
            if isinstance(reply.body, bytes):
                request.sent = len(reply.body)
                self._write_reply(request, reply, reply.body, keep)
            else:
                keep = await self._write_stream(waiting, reply, keep)
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
        headers = (*self.server_state.default_headers, *client_headers(reply, not keep))
        parts = [STATUS_LINE[reply.status], *[b"%b: %b\r\n" % pair for pair in headers], b"\r\n"]
        if request.method != b"HEAD" and reply.status not in (204, 304):
            parts.append(body)
        self.transport.write(b"".join(parts))

    async def _write_stream(self, waiting: _Waiting, reply: Reply, keep: bool) -> bool:
        """Pass a body on while it arrives; return whether the connection can go on."""
        body = reply.body
        assert not isinstance(body, bytes)
        is_chunked = body.length is None and waiting.is_modern
        keep = keep and (is_chunked or body.length is not None)
        framing = ((b"transfer-encoding", b"chunked"),) if is_chunked else ()
        parts = [STATUS_LINE[reply.status]]
        for name, value in (*self.server_state.default_headers, *client_headers(reply, not keep), *framing):
            parts += (name, b": ", value, b"\r\n")
        self.transport.write(b"".join(parts) + b"\r\n")
        try:
            while piece := await body.read():
                waiting.request.sent += len(piece)
                if waiting.request.method == b"HEAD":
                    continue
                self.transport.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
                await self.flow.drain()
        finally:
            body.close()
        if is_chunked and waiting.request.method != b"HEAD":
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
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            status, reason = self._refusal
            body = failure(status, reason).body
            assert isinstance(body, bytes)
            head = b"HTTP/1.1 %d \r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            self.transport.write(head % (status, len(body)) + body)
        self.transport.close()

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
