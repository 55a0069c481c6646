"""Connections from clients: uvicorn's HTTP/1.1 protocol with the limits it lacks, and a short way for the graph.

Limits: how long a head may be, how long head and body may take to arrive and a reply to be taken, one Host header, one
way of framing. Requests for the graph that are held as a whole take the short way (`answering`); everything else,
health and metrics and bodies that are passed on while they arrive, goes through the application.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from kservec_router.answering import AnsweringProtocol
from kservec_router.app import TASKS, is_admin
from kservec_router.messages import RETRY_AFTER, failure
from kservec_router.propagation import client_headers
from kservec_router.requests import LINGER_SECONDS
from kservec_router.router import Request

_LONG_BODY = 1 << 20
_MOST_HEADERS = 256
_FRAMING = 16  # more than what chunks need around a piece of a body; the rest counts as if it were the head
_ADMIN = (b"/readyz", b"/healthz", b"/metrics")
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class RouterProtocol(AnsweringProtocol):
    """A connection from a client."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        settings = self.router.settings
        self._head_limit, self._short_limit = settings.head_limit, min(settings.stream_from, settings.body_limit)
        self._host: str | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._cycles: list[RequestResponseCycle] = []  # on the long way; the last ones may not be answered yet
        self._pieces: list[bytes] = []
        self._named: dict[bytes, bytes] = {}
        self._refusal = (400, "the request is not well-formed HTTP")
        self._reading_since = self._writing_since = 0.0  # since when the client is slow; 0 when it is not
        self._close_at = 0.0
        self._is_arriving = self._in_head = self._in_chunks = self._is_short = False
        self._is_over = False  # the last request is answered
        self._has_ended = False  # a request ended in what is being read
        self._head_seen = self._spared = self._body_size = 0

    # Time.

    def check_time(self, now: float) -> None:
        """Give up on a client that is too slow; called ten times a second."""
        limits = self.router.executor.plan.timeouts
        if self.transport.is_closing():
            return
        if now - (self._writing_since or now) > limits.write > 0:
            self.transport.abort()
        elif now - (self._idle_since or now) > limits.idle > 0 or 0 < self._close_at < now:
            self.transport.close()
        elif now - (self._reading_since or now) > limits.read > 0:
            self._reading_since = 0.0
            if self._is_arriving and not self._is_over:
                self._refusal = (408, "the request took too long to arrive")
                self.send_400_response("")
            else:
                self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a first request, unless there are connections enough."""
        super().connection_made(transport)
        self._host = self.client[0] if self.client else None
        self._reading_since = time.monotonic()
        limit = self.router.settings.max_clients
        if 0 < limit < len(self.connections):
            self._refusal = (503, f"{limit} connections are open already")
            self.send_400_response("")

    def pause_writing(self) -> None:
        """The client does not take what it is sent."""
        super().pause_writing()
        self._writing_since = time.monotonic()

    def resume_writing(self) -> None:
        """The client takes more."""
        super().resume_writing()
        self._writing_since = 0.0

    # What the parser calls.

    def data_received(self, data: bytes) -> None:
        """Feed the parser; a head that does not end is refused."""
        if self._is_over:
            return
        self._idle_since = 0.0
        self._has_ended = False
        self._head_seen = self._head_seen + len(data) if self._in_head or self._in_chunks else len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.send_400_response("")
        except httptools.HttpParserUpgrade:
            return  # the request was taken as any other, and what follows it is not HTTP
        if self._is_arriving:
            self._expect_rest()

    def _expect_rest(self) -> None:
        """A request is not whole yet: it must be soon, and its head not too long."""
        self._reading_since = self._reading_since or time.monotonic()
        is_long = self._head_seen - self._spared > self._head_limit
        if is_long and (self._in_head or self._in_chunks) and not self._is_over:
            self._refusal = (431, "the head of the request is too long")
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """A request begins."""
        self.url, self.headers = b"", []
        self._is_arriving = self._in_head = True
        self._in_chunks = self._is_short = self.expect_100_continue = False
        self._reading_since = 0.0
        # Some of what was just read belongs to the requests before this one, if any ended in it.
        self._spared = self._head_seen if self._has_ended else 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind the body are nobody's."""
        if self._in_head:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is whole: refuse what could be read in two ways, else choose the way."""
        self._in_head = False
        headers = self.headers
        self._named = named = dict(headers)
        is_usual = b"host" in named and b"transfer-encoding" not in named and b"expect" not in named
        if not is_usual or not len(named) == len(headers) <= _MOST_HEADERS or self._head_seen > self._head_limit:
            self._look_closer(headers, named)
        is_held = not self._in_chunks and int(named.get(b"content-length", b"0")) <= self._short_limit
        if not (is_held and self._is_for_graph()):
            self._take_long_way()
            return
        self._is_short = True
        if self.expect_100_continue and self._request is None:  # else it would stand within another answer
            self.transport.write(_CONTINUE)

    def _look_closer(self, headers: list[tuple[bytes, bytes]], named: dict[bytes, bytes]) -> None:
        """Refuse a head that is too long or could be read in two ways, and see what is unusual about others."""
        limit = self._head_limit
        if len(headers) > _MOST_HEADERS or (self._head_seen > limit and self._head_size() > limit):
            self._refuse(431, "the head of the request is too long")
        self._in_chunks = b"transfer-encoding" in named
        if self._in_chunks and b"content-length" in named:
            self._refuse(400, "both Content-Length and Transfer-Encoding are given")
        if b"host" in named:
            has_one_host = [name for name, _ in headers].count(b"host") == 1
        else:
            has_one_host = self.parser.get_http_version() != "1.1"
        if not has_one_host:
            self._refuse(400, "there must be one Host header")
        self.expect_100_continue = named.get(b"expect", b"").lower() == b"100-continue"

    def _head_size(self) -> int:
        """How long the head is, of which more was read than the head."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _is_for_graph(self) -> bool:
        """Whether the request is plainly for the graph, and no other one is on the long way."""
        url = self.url
        if url[:1] != b"/" or b"%" in url or (self.cycle is not None and not self.cycle.response_complete):
            return False
        return not url.startswith(_ADMIN) or not is_admin(self.parser.get_method().decode("ascii"), self._path())

    def _path(self) -> str:
        url = self.url
        return (url.partition(b"?")[0] if b"?" in url else url).decode("ascii", "replace")

    def _take_long_way(self) -> None:
        """Hand the request to uvicorn, unless others on the short way are to be answered first: then to nobody."""
        if self._request is not None:
            self._refuse(503, "")
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        cast("dict[str, Any]", self.scope)[TASKS] = self._running
        super().on_headers_complete()
        self._cycles = [*self._unanswered(), self.cycle]

    def _unanswered(self) -> list[RequestResponseCycle]:
        """The requests on the long way that are not answered."""
        return [cycle for cycle in self._cycles if not cycle.response_complete]

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
            self._reading_since = time.monotonic()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._is_arriving, self._has_ended = False, True
        self._reading_since = 0.0
        if not self._is_short:
            self._in_chunks = False
            super().on_message_complete()
            return
        parser, named = self.parser, self._named
        request = Request(parser.get_method(), self._path(), self.headers, named, self._host)
        request.body, self._pieces = b"".join(self._pieces), []
        keep = parser.should_keep_alive()
        # What keeps its connection without saying so is HTTP/1.1; asking the parser takes longer.
        request.takes_chunks = (keep and b"connection" not in named) or parser.get_http_version() == "1.1"
        request.keep = keep and request.takes_chunks
        self._take(request)

    # The end.

    def on_response_complete(self) -> None:
        """A request on the long way is answered."""
        super().on_response_complete()
        self._unset_keepalive_if_required()
        self._idle_since = 0.0 if self._is_arriving and self._is_short else time.monotonic()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Answer what is no request, once those before it are answered, and close."""
        if self._request is not None:
            self._is_last = True
            self._waiting.clear()
            return
        unanswered = self._unanswered()
        self._cancel()
        if any(cycle.response_started for cycle in unanswered):
            self.transport.close()
            return
        status, reason = self._refusal
        reply = failure(status, reason, RETRY_AFTER if status == 503 else ())
        assert isinstance(reply.body, bytes)
        self.transport.write(self._message(reply, client_headers(reply, True), reply.body))
        self.transport.write_eof()
        self._is_over, self._reading_since, self._close_at = True, 0.0, time.monotonic() + LINGER_SECONDS
        if not unanswered:  # else the application writes the request down
            self.router.turned_away(reply, self._host)

    def shutdown(self) -> None:
        """Close when what is under way is answered."""
        if self._request is not None:
            self._is_last = True
        elif self._is_over:
            self.transport.close()
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: what is done for it is of no use any more."""
        super().connection_lost(exc)
        self._waiting.clear()
        self._cancel()

    def _cancel(self) -> None:
        """End what is under way, without answers."""
        for cycle in self._unanswered():
            cycle.disconnected = True
        for task in list(self._running):
            task.cancel()
        if self._answer is not None and self._request is not None:
            self._answer.cancel()
