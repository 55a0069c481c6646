"""Serving with uvicorn: its HTTP/1.1 protocol with the limits it lacks, and its server with a drain on SIGTERM.

Limits: how long a head may be, how long head and body may take to arrive, one Host header, one way of framing.
KServe: cmd/router/main.go (main, handleSignals)
"""

from __future__ import annotations

import asyncio
import signal
import time
from types import FrameType
from typing import Any, cast

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from kservec_router.app import TASKS, RouterApp
from kservec_router.messages import failure

_LONG_BODY = 1 << 20
_MOST_HEADERS = 256


class RouterProtocol(HttpToolsProtocol):
    """A connection from a client."""

    router: RouterApp

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._running: set[asyncio.Task[None]] = set()
        self._refusal = (400, "the request is not well-formed HTTP")
        self._read_deadline = 0.0
        self._in_head = False
        self._head_size = self._head_seen = self._body_size = self._hosts = 0
        self._has_length = self._has_coding = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a first request."""
        super().connection_made(transport)
        self._expect()

    def _expect(self) -> None:
        limit = self.router.executor.plan.timeouts.read
        self._read_deadline = time.monotonic() + limit if limit else 0.0

    def data_received(self, data: bytes) -> None:
        """Feed the parser; a head that does not end is refused."""
        self._head_seen = self._head_seen + len(data) if self._in_head else 0
        super().data_received(data)
        if self._in_head and self._head_seen > self.router.settings.head_limit and not self.transport.is_closing():
            self._refusal = (431, "the head of the request is too long")
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)[TASKS] = self._running
        self._in_head = True
        self._head_size = self._body_size = self._hosts = 0
        self._has_length = self._has_coding = False
        self._expect()

    def on_url(self, url: bytes) -> None:
        """Take (a piece of) the target."""
        super().on_url(url)
        self._head_size += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        super().on_header(name, value)
        self._head_size += len(name) + len(value) + 4
        lower = name.lower()
        if lower == b"host":
            self._hosts += 1
        elif lower == b"content-length":
            self._has_length = True
        elif lower == b"transfer-encoding":
            self._has_coding = True

    def on_headers_complete(self) -> None:
        """The head is whole: refuse what could be read in two ways, else run the application."""
        self._in_head = False
        if self._head_size > self.router.settings.head_limit or len(self.headers) > _MOST_HEADERS:
            self._refuse(431, "the head of the request is too long")
        if self._has_length and self._has_coding:
            self._refuse(400, "both Content-Length and Transfer-Encoding are given")
        if self._hosts > 1 or (self._hosts == 0 and self.parser.get_http_version() == "1.1"):
            self._refuse(400, "there must be one Host header")
        super().on_headers_complete()

    def _refuse(self, status: int, reason: str) -> None:
        """End parsing; uvicorn then sends what `send_400_response` makes of it."""
        self._refusal = (status, reason)
        raise httptools.HttpParserError(reason)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body. A long one may take its time, as long as it moves."""
        super().on_body(body)
        self._body_size += len(body)
        if self._body_size > _LONG_BODY:
            self._expect()

    def on_message_complete(self) -> None:
        """The request is whole."""
        super().on_message_complete()
        self._read_deadline = 0.0

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Answer what is no request, and close."""
        self._cancel()
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            status, reason = self._refusal
            body = failure(status, reason).body
            assert isinstance(body, bytes)
            head = b"HTTP/1.1 %d \r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            self.transport.write(head % (status, len(body)) + body)
        self.transport.close()

    def check_time(self, now: float) -> None:
        """Give up on a request that takes too long to arrive."""
        if not self._read_deadline or now < self._read_deadline or self.transport.is_closing():
            return
        self._read_deadline = 0.0
        if self._in_head or (self.cycle is not None and not self.cycle.response_complete):
            self._refusal = (408, "the request took too long to arrive")
            self.send_400_response("")
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: what is done for it is of no use any more."""
        super().connection_lost(exc)
        self._cancel()

    def _cancel(self) -> None:
        for task in list(self._running):
            task.cancel()


class RouterServer(uvicorn.Server):
    """uvicorn's server, which drains before it stops."""

    def __init__(self, config: uvicorn.Config, router: RouterApp) -> None:
        super().__init__(config)
        self._router = router
        self._drained_at = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        """The first signal begins the drain; a second one ends it, a third one everything."""
        if not self._router.is_draining:
            self._router.is_draining = True
            self._drained_at = time.monotonic() + self._router.settings.drain_seconds
            name = signal.Signals(sig).name
            self._router.journal.say("info", "draining", signal=name, seconds=self._router.settings.drain_seconds)
        elif not self.should_exit:
            self.should_exit = True
        else:
            self.force_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: time limits of clients, and the end of the drain."""
        now = time.monotonic()
        for connection in list(self.server_state.connections):
            if isinstance(connection, RouterProtocol):
                connection.check_time(now)
        if self._router.is_draining and now >= self._drained_at:
            self.should_exit = True
        return await super().on_tick(counter)


def make_server(router: RouterApp) -> RouterServer:
    """The server for an application, as its settings say."""
    settings, timeouts = router.settings, router.executor.plan.timeouts
    protocol = type("Protocol", (RouterProtocol,), {"router": router})
    config = uvicorn.Config(
        router,
        host=settings.host or None,  # type: ignore[arg-type] # None: every address, of both families
        port=settings.port,
        http=protocol,
        loop="uvloop",
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=int(timeouts.idle or timeouts.read or 180),
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
    )
    return RouterServer(config, router)
