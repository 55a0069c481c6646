"""The short way of a request that is held as a whole: no ASGI scope, no messages, no Task, one write for a reply.

One request of a connection is answered at a time; the others wait for their turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from kservec_router.drive import Drive, Outcome
from kservec_router.messages import Reply, Source
from kservec_router.propagation import client_headers
from kservec_router.router import Request, Router

_STATUS = {status: line.removesuffix(b"\r\n") for status, line in STATUS_LINE.items()}


class AnsweringProtocol(HttpToolsProtocol):
    """A connection from a client, as far as its requests are answered on the short way."""

    router: Router

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._request: Request | None = None  # the one that is being answered
        self._answer: Outcome[Any] | None = None
        self._waiting: deque[Request] = deque()  # their turn comes when those before them are answered
        self._is_last = False  # no other request is answered after this one
        self._is_untaken = False  # it is answered, but the client takes the answer slowly
        self._idle_since = 0.0  # 0 when a request is under way

    def _take(self, request: Request) -> None:
        """Answer a request, in its turn."""
        if self._request is None:
            self._serve(request)
        else:
            self._waiting.append(request)
            self.flow.pause_reading()

    def _serve(self, request: Request) -> None:
        self._request = request
        self._answer = answer = self.router.answer(request)
        if answer.is_over:
            self._answered(answer)
        else:
            answer.on_done = self._answered

    def _answered(self, answer: Outcome[Reply]) -> None:
        """Send the answer to the request; without one, nobody wants it any more."""
        request, reply = self._request, answer.value
        assert request is not None
        if reply is None:
            if not isinstance(answer.error, Exception):
                self._give_up(request)
                return
            reply = self.router.mistake(answer.error)
        request.reply = reply
        body, keep = reply.body, request.keep and not (self._is_last or self.router.is_draining)
        if not isinstance(body, bytes):
            self._answer = Drive(self._pass_on(request, reply, body, keep))
            return
        request.sent = len(body)
        try:
            has_body = request.method != b"HEAD" and reply.status not in (204, 304)
            self.transport.write(self._message(reply, client_headers(reply, not keep), body if has_body else b""))
        except Exception as error:  # noqa: BLE001 - it must not hit whoever had the reply
            self._report(error)
        self._end(request, keep)

    def _message(self, reply: Reply, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
        """A reply with these headers, and what there is of its body."""
        lines = map(b": ".join, self.server_state.default_headers + headers)
        return b"\r\n".join([_STATUS[reply.status], *lines, b"", body])

    async def _pass_on(self, request: Request, reply: Reply, body: Source, keep: bool) -> None:
        """Send a reply while its body arrives."""
        try:
            keep = await self._write_stream(request, reply, body, keep)
        except (asyncio.CancelledError, ConnectionError):
            self._give_up(request)
            return
        except Exception as error:  # noqa: BLE001 - nobody waits for this
            self._report(error)
        self._end(request, keep)

    async def _write_stream(self, request: Request, reply: Reply, body: Source, keep: bool) -> bool:
        """Pass a body on while it arrives; return whether the connection can go on."""
        is_chunked = body.length is None and request.takes_chunks
        keep = keep and (is_chunked or body.length is not None)
        headers = client_headers(reply, not keep)
        if is_chunked:
            headers.append((b"transfer-encoding", b"chunked"))
        self.transport.write(self._message(reply, headers, b""))
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

    def _end(self, request: Request, keep: bool) -> None:
        """A request is answered. No other one is while much of the answer waits for the client to take it."""
        now = monotonic()
        self._answer = None
        self.router.end(request, now)
        self.server_state.total_requests += 1
        if keep and self.flow.write_paused:
            self._is_untaken = True
        else:
            self._go_on(keep, now)

    def resume_writing(self) -> None:
        """The client takes more."""
        super().resume_writing()
        if self._is_untaken:
            self._is_untaken = False
            self._go_on(True, monotonic())

    def _go_on(self, keep: bool, now: float) -> None:
        """Go on to the next request, or wait for it, or close."""
        if self.transport.is_closing():
            return
        if not keep or self._is_last:
            self._request = None
            self.transport.close()
        elif self._waiting:
            self._request = self._waiting.popleft()
            self.loop.call_soon(self._serve_next, self._request)
        else:
            self._request = None
            self._idle_since = now
            self.flow.resume_reading()

    def _serve_next(self, request: Request) -> None:
        if not self.transport.is_closing():
            self._serve(request)

    def _give_up(self, request: Request) -> None:
        """Nobody wants the answer any more."""
        self.transport.abort()
        self.router.end(request, monotonic())

    def _report(self, error: Exception) -> None:
        """Break the connection off, on which the router itself failed."""
        self.transport.abort()
        self.loop.call_exception_handler({"message": "a reply could not be sent", "exception": error})
