"""The router proper: counts requests, takes each through the graph that is in use, and writes down what became of it.

Knows neither ASGI nor sockets: `app` and `server` bring requests and take replies away.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from time import monotonic

from kservec_router.calls import CLIENT_LEFT, Context, Payload
from kservec_router.drive import Outcome, settled
from kservec_router.execute import Executor, Means
from kservec_router.journal import Access, Journal
from kservec_router.messages import RETRY_AFTER, Origin, Reply, failure
from kservec_router.plan import Plan
from kservec_router.propagation import Propagation
from kservec_router.requests import RequestBody
from kservec_router.settings import Settings
from kservec_router.tracing import Span, Trace, span_ids, start_trace

Pairs = Sequence[tuple[bytes, bytes]]


class Request:
    """A client's request, and what is to be written down about it.

    Header names are in lower case; `named` has the last of each name. `begin` is monotonic time. `keep`: the client
    wants to use its connection again; `takes_chunks`: it understands a body in chunks. `context` is what its calls
    share.
    """

    body: bytes | RequestBody = b""
    keep = takes_chunks = False
    reply: Reply | None = None
    executor: Executor | None = None
    context: Context | None = None
    sent = 0

    def __init__(
        self, method: bytes, path: str, headers: Pairs, named: Mapping[bytes, bytes], client: str | None
    ) -> None:
        self.begin = monotonic()
        self.method = method
        self.path = path
        self.headers = headers
        self.named = named
        self.client = client

    @property
    def length(self) -> int | None:
        """The length of the body, when the client says it."""
        value = self.named.get(b"content-length")
        return int(value) if value is not None and value.isdigit() else None


class Router:
    """The graph in use, and the requests under way. Those end with the graph that they began with."""

    def __init__(self, plan: Plan, means: Means, settings: Settings) -> None:
        self.settings, self.means = settings, means
        self.journal = Journal()
        self.is_draining = False
        self.executor = Executor(plan, means)
        self.on_origins: Callable[[Collection[Origin]], None] | None = None
        self._older: set[Executor] = set()
        self._meter, self._recorder = means.meters.meter("requests"), means.recorder
        self._ids = span_ids(means.chance)
        self._has_log, self._most = settings.access_log, settings.max_requests
        self._propagation = Propagation(settings.patterns)
        self._retries = settings.retries if self._propagation.passes(b"idempotency-key") else 0
        for pattern in self._propagation.invalid:
            self.journal.say("warning", "a header pattern is no valid expression and is ignored", pattern=pattern)

    def use(self, plan: Plan) -> None:
        """Take new requests through *plan* from now on."""
        if self.executor.active:
            self._older.add(self.executor)
        self.executor = Executor(plan, self.means)
        self.announce()

    def announce(self) -> None:
        """Tell which origins requests may still need: those of the plan, and of older ones with requests under way."""
        if self.on_origins is not None:
            plans = [self.executor.plan, *(executor.plan for executor in self._older)]
            self.on_origins({target.origin for plan in plans for target in plan.targets})

    def begin(self, request: Request) -> Reply | None:
        """Let a request in; a reply with 503 when there are too many."""
        if self._meter.in_flight >= self._most > 0:
            cause = f"{self._most} requests are under way already"
            request.reply = failure(503, cause, RETRY_AFTER)
            return request.reply
        request.executor = executor = self.executor
        self._meter.in_flight += 1
        executor.active += 1
        return None

    def stream_from(self, request: Request) -> int | None:
        """How long a request's body must be to be passed on while it arrives; None when it cannot be."""
        if request.executor is None or not request.executor.plan.root.streams or self._retries_of(request):
            return None
        return self.settings.stream_from

    def _retries_of(self, request: Request) -> int:
        return self._retries if b"idempotency-key" in request.named else 0

    def run(self, request: Request) -> Outcome[Reply]:
        """Take a request that was let in through the graph."""
        named, executor = request.named, request.executor
        assert executor is not None
        limit = executor.answer_seconds
        if expected := named.get(b"x-envoy-expected-rq-timeout-ms"):
            limit = _shorter(limit, expected)
        lines = self._propagation.lines(request.headers, named)
        deadline = monotonic() + limit if limit else 0.0  # not from `begin`: a long body may have taken its time
        request.context = context = Context(start_trace(named, self._ids), lines, deadline)
        if self._retries:
            context.retries = self._retries_of(request)
        return executor.run(Payload(request.body, lines.request, named.get(b"content-encoding"), True), context)

    def answer(self, request: Request) -> Outcome[Reply]:
        """Let a request in, if there is room, and take it through the graph; it never raises."""
        reply = self.begin(request)
        if reply is None:
            try:
                return self.run(request)
            except Exception as error:  # noqa: BLE001 - the wall between requests
                reply = self.mistake(error)
        return settled(reply)

    def mistake(self, error: Exception) -> Reply:
        """The answer to a request on which the router itself failed: that request's 500, and nobody else's."""
        text = "".join(traceback.format_exception(error))
        self.journal.say("error", "a request failed within the router", error=text)
        return failure(500, f"internal error: {type(error).__name__}")

    def turned_away(self, reply: Reply, client: str | None) -> None:
        """Count and write down what was no proper request; *reply* is one of the router's own."""
        self._meter.observe(reply.status, 0)
        if self._has_log:
            sent = len(reply.body) if isinstance(reply.body, bytes) else 0
            self.journal.access((time.time(), client, b"", "", reply.status, 0, sent, 0, None, reply.cause))

    def end(self, request: Request, now: float) -> None:
        """Count and write down a request, at this monotonic time. Without a reply, the client has left."""
        seconds = now - request.begin
        status = CLIENT_LEFT if request.reply is None else request.reply.status
        self._meter.observe(status, seconds)
        if self._has_log:
            self.journal.access(_access(request, status, seconds))
        context, executor = request.context, request.executor
        if self._recorder is not None and context is not None and context.trace.is_sampled:
            self._recorder(_span(request, context.trace, status, seconds))
        if executor is not None:
            self._meter.in_flight -= 1
            executor.active -= 1
            if executor.active == 0 and executor is not self.executor:
                self._older.discard(executor)
                self.announce()


def _access(request: Request, status: int, seconds: float) -> Access:
    """What the access log says of a request."""
    body, reply, context = request.body, request.reply, request.context
    return (
        time.time() - seconds,
        request.client,
        request.method,
        request.path,
        status,
        len(body) if isinstance(body, bytes) else body.received,
        request.sent,
        seconds,
        None if context is None else context.trace.trace_id,
        None if reply is None else reply.cause,
    )


def _span(request: Request, trace: Trace, status: int, seconds: float) -> Span:
    end = time.time_ns()
    start = end - int(seconds * 1e9)
    method = request.method.decode()
    attributes = (("http.request.method", method), ("url.path", request.path))
    return Span(method, trace.trace_id, trace.span_id, trace.parent_id, start, end, status, attributes, True)


def _shorter(limit: float, expected: bytes) -> float:
    """The shorter of our limit and the deadline that whoever called us has passed on, in milliseconds."""
    if not expected.isdigit() or len(expected) > 12 or int(expected) == 0:
        return limit
    return min(limit, int(expected) / 1000) if limit else int(expected) / 1000
