"""The router as an ASGI application: health, metrics, and the graph for everything else.

KServe: cmd/router/main.go (graphHandler, readyHandler): any method and any path but /readyz is a graph request. Here
GET /healthz and GET /metrics are not, either.
"""

from __future__ import annotations

import asyncio
import random
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from kservec_router.execute import CLIENT_LEFT, Context, Executor, Means, Payload
from kservec_router.gjson import valid
from kservec_router.journal import Journal
from kservec_router.messages import JSON_TYPE, Call, Origin, Reply, failure
from kservec_router.meters import Meters
from kservec_router.plan import Plan
from kservec_router.propagation import Propagation, end_to_end
from kservec_router.requests import Receive, RequestBody, read_body
from kservec_router.settings import Settings
from kservec_router.tracing import Recorder, Span, Trace, start_trace

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]

TASKS = "kservec_router.tasks"  # in the scope: the tasks to cancel when the client leaves
_ADMIN_PATHS = frozenset({"/readyz", "/healthz", "/metrics"})
_BODILESS = frozenset({204, 304})


def build_app(plan: Plan, call: Call, settings: Settings | None = None, **more: Any) -> RouterApp:
    """The application for a plan; *call* is how services are called, in tests any function of that kind.

    *more* are the other fields of `Means` (`chance`, `meters`, `recorder`).
    """
    chosen = settings or Settings()
    means = Means(
        call=call,
        chance=more.pop("chance", None) or random.Random(),  # noqa: S311 - it chooses routes and names spans
        meters=more.pop("meters", None) or Meters(),
        body_limit=chosen.body_limit,
        backoff_seconds=chosen.backoff_seconds,
        **more,
    )
    return RouterApp(plan, means, chosen)


class RouterApp:
    """The application. `executor` runs new requests; those under way end with the one they began with."""

    def __init__(self, plan: Plan, means: Means, settings: Settings) -> None:
        self.settings, self.means = settings, means
        self.journal = Journal()
        self.is_draining = False
        self.executor = Executor(plan, means)
        self.on_origins: Callable[[Collection[Origin]], None] | None = None
        self._active: dict[Executor, int] = {}
        self._in_flight = 0
        self._meter = means.meters.meter("requests")
        self._propagation = Propagation(settings.patterns)
        self._retries = settings.retries if self._propagation.passes(b"idempotency-key") else 0
        self.admin = self.make_admin(None)
        for pattern in self._propagation.invalid:
            self.journal.say("warning", "a header pattern is no valid expression and is ignored", pattern=pattern)

    def make_admin(self, lifespan: Lifespan | None) -> Starlette:
        """Health and metrics."""

        async def ready(_: Request) -> Response:
            return PlainTextResponse("shutting down\n", 503) if self.is_draining else PlainTextResponse("ok\n")

        async def healthy(_: Request) -> Response:
            return PlainTextResponse("ok\n")

        async def metrics(_: Request) -> Response:
            return PlainTextResponse(self.means.meters.text(), media_type="text/plain; version=0.0.4")

        methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        routes = [Route("/readyz", ready, methods=methods), Route("/healthz", healthy), Route("/metrics", metrics)]
        return Starlette(routes=routes, lifespan=lifespan)

    def use(self, plan: Plan) -> None:
        """Take new requests through *plan* from now on."""
        self.executor = Executor(plan, self.means)
        self.announce()

    def announce(self) -> None:
        """Tell which origins requests may still need: those of the plan, and of older ones with requests under way."""
        if self.on_origins is None:
            return
        plans = [self.executor.plan, *(executor.plan for executor in self._active)]
        self.on_origins({target.origin for plan in plans for target in plan.targets})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or run the lifespan."""
        if scope["type"] != "http" or (
            scope["path"] in _ADMIN_PATHS and (scope["path"] == "/readyz" or scope["method"] in ("GET", "HEAD"))
        ):
            await self.admin(scope, receive, send)
            return
        if self._in_flight >= self.settings.max_requests > 0:
            cause = f"{self.settings.max_requests} requests are under way already"
            self._meter.observe(503, 0.0)
            await self._send(send, failure(503, cause, ((b"retry-after", b"1"),)))
            return
        task, tasks = asyncio.current_task(), scope.get(TASKS)
        if tasks is not None:
            tasks.add(task)
        try:
            await self._serve(scope, receive, send)
        except asyncio.CancelledError:
            return  # the client left, and nobody is there to be told
        finally:
            if tasks is not None:
                tasks.discard(task)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request, answer it, and write it down."""
        executor, begin = self.executor, time.perf_counter()
        trace = start_trace(scope["headers"], self.means.chance)
        exchange = _Exchange(scope, trace, self.means.recorder)
        self._in_flight += 1
        self._meter.in_flight += 1
        self._active[executor] = self._active.get(executor, 0) + 1
        try:
            reply = await self._answer(executor, scope, receive, exchange)
            exchange.status, exchange.cause = reply.status, reply.cause
            exchange.sent = await self._send(send, reply)
        finally:
            self._in_flight -= 1
            self._meter.in_flight -= 1
            self._leave(executor)
            seconds = time.perf_counter() - begin
            self._meter.observe(exchange.status, seconds)
            if self.settings.access_log:
                self.journal.access(exchange.record(seconds))
            exchange.finish()

    def _leave(self, executor: Executor) -> None:
        self._active[executor] -= 1
        if not self._active[executor]:
            del self._active[executor]
            if executor is not self.executor:
                self.announce()

    async def _answer(self, executor: Executor, scope: Scope, receive: Receive, exchange: _Exchange) -> Reply:
        """The reply to a request; every mistake of the router's own is this request's 500 and no other's trouble."""
        plan = executor.plan
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        limit = _shorter(plan.timeouts.answer, _expected_seconds(headers))
        deadline = asyncio.get_running_loop().time() + limit if limit else 0.0
        lines = self._propagation.lines(headers)
        retries = self._retries if self._retries and _has(headers, b"idempotency-key") else 0
        stream_from = self.settings.stream_from if plan.root.streams and not retries else None
        try:
            async with asyncio.timeout_at(deadline or None):
                length = _length(headers)
                body = await read_body(receive, length, self.settings.body_limit, stream_from)
                if isinstance(body, Reply):
                    return body
                exchange.body = body
                payload = Payload(body, lines.request, True, _value(headers, b"content-encoding"))
                context = Context(trace=exchange.trace, lines=lines, deadline=deadline, retries=retries)
                return await executor.run(payload, context)
        except TimeoutError:
            return failure(504, f"there was no answer within {limit:g} seconds")
        except ConnectionError as error:
            return failure(CLIENT_LEFT, str(error))
        except Exception as error:  # noqa: BLE001 - the wall between requests
            self.journal.say("error", "a request failed within the router", error=traceback.format_exc())
            return failure(500, f"internal error: {type(error).__name__}")

    async def _send(self, send: Send, reply: Reply) -> int:
        """Send a reply; return the length of its body."""
        headers = end_to_end(reply.headers)
        if self.is_draining or any(pair == (b"connection", b"close") for pair in reply.headers):
            headers.append((b"connection", b"close"))
        body = reply.body
        if isinstance(body, bytes):
            if reply.status not in _BODILESS:
                headers.append((b"content-length", b"%d" % len(body)))
                if body and reply.header(b"content-type") is None and valid(body):
                    headers.append(JSON_TYPE)
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return len(body)
        if body.length is not None:
            headers.append((b"content-length", b"%d" % body.length))
        size = 0
        try:
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            while piece := await body.read():
                size += len(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            body.close()
        return size


class _Exchange:
    """What is written down of a request."""

    __slots__ = ("_recorder", "_scope", "_start", "body", "cause", "sent", "status", "trace")

    def __init__(self, scope: Scope, trace: Trace, recorder: Recorder | None) -> None:
        self._scope, self._recorder, self.trace = scope, recorder, trace
        self._start = time.time_ns()
        self.status, self.sent = CLIENT_LEFT, 0
        self.cause: str | None = None
        self.body: bytes | RequestBody = b""

    def record(self, seconds: float) -> dict[str, object]:
        """The access log's line."""
        client, body = self._scope.get("client"), self.body
        record = {
            "time": self._start / 1e9,
            "client": client[0] if client else None,
            "method": self._scope["method"],
            "path": self._scope["path"],
            "status": self.status,
            "received": len(body) if isinstance(body, bytes) else body.received,
            "sent": self.sent,
            "milliseconds": round(seconds * 1000, 3),
            "trace": self.trace.trace_id.decode(),
        }
        if self.cause is not None:
            record["cause"] = self.cause
        return record

    def finish(self) -> None:
        """Record the span of the request."""
        if self._recorder is not None and self.trace.is_sampled:
            trace, method = self.trace, self._scope["method"]
            attributes = (("http.request.method", method), ("url.path", self._scope["path"]))
            times = (self._start, time.time_ns())
            span = Span(method, trace.trace_id, trace.span_id, trace.parent_id, *times, self.status, attributes, True)
            self._recorder(span)


def _value(headers: list[tuple[bytes, bytes]], wanted: bytes) -> bytes | None:
    for name, value in headers:
        if name == wanted:
            return value
    return None


def _has(headers: list[tuple[bytes, bytes]], wanted: bytes) -> bool:
    return _value(headers, wanted) is not None


def _length(headers: list[tuple[bytes, bytes]]) -> int | None:
    value = _value(headers, b"content-length")
    return int(value) if value is not None and value.isdigit() else None


def _expected_seconds(headers: list[tuple[bytes, bytes]]) -> float:
    """The deadline that whoever called us has passed on; 0 when there is none."""
    value = _value(headers, b"x-envoy-expected-rq-timeout-ms")
    return int(value) / 1000 if value is not None and value.isdigit() and len(value) < 12 else 0.0


def _shorter(one: float, other: float) -> float:
    return min(one, other) if one and other else one or other
