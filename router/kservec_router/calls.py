"""One call of a step: the header lines that it has of its own, its time limit, what is counted and recorded of it.

Knows neither graphs nor sockets.
"""

from __future__ import annotations

import time
from time import monotonic

from kservec_router.messages import Body, Origin, Outgoing, Target
from kservec_router.meters import Meter, Meters
from kservec_router.plan import Plan, Step
from kservec_router.propagation import Lines
from kservec_router.tracing import Recorder, Span, Trace

CLIENT_LEFT = 499
_LEAST_SECONDS = 0.001


class Payload:
    """An input: a body, the header lines that describe it, its content coding, and whether it is the client's own."""

    def __init__(self, body: Body, lines: bytes, coding: bytes | None = None, is_request: bool = False) -> None:
        self.body = body
        self.lines = lines
        self.coding = coding
        self.is_request = is_request


class Context:
    """What the calls of one request share. `deadline` is monotonic time (0: none)."""

    retries = 0

    def __init__(self, trace: Trace, lines: Lines, deadline: float) -> None:
        self.trace = trace
        self.lines = lines
        self.deadline = deadline


class Route:
    """How a step is called: where, in how many seconds (0: no limit of its own), and where it is counted."""

    def __init__(self, step: Step, plan: Plan, meters: Meters) -> None:
        self.step = step
        self.target = step.target or Target("", Origin("", 0, False), b"")  # a step that is a node is not called
        self.seconds = step.policy.timeout_seconds or plan.timeouts.client
        self.meter = meters.meter("step", (("node", step.node), ("step", step.label)))


class StepCall(Outgoing):
    """A call of a step. It is counted when it is over; when it was given up, as one whose client left.

    `of_node` is the meter of a node that comes down to this call; `recorder` takes the call's span.
    """

    of_node: Meter | None = None
    recorder: Recorder | None = None

    def __init__(self, route: Route, payload: Payload, context: Context, span_id: bytes) -> None:
        self.route, self.trace, self.span_id = route, context.trace, span_id
        self.target = route.target
        self.body = payload.body
        self.begin = begin = monotonic()
        lines = payload.lines + context.trace.line(span_id)
        own_seconds, deadline = route.seconds, context.deadline
        if own_seconds:
            self.is_whole_limited = True
            self.deadline = begin + own_seconds
        if deadline:
            if not own_seconds or deadline < self.deadline:
                self.deadline = max(deadline, begin + _LEAST_SECONDS)
            lines += b"x-envoy-expected-rq-timeout-ms: %d\r\n" % ((self.deadline - begin) * 1000)
        self.lines = lines
        route.meter.in_flight += 1

    def _ended(self) -> None:
        """Count it, then tell whoever waits."""
        status = CLIENT_LEFT if self.value is None else self.value.status
        seconds = monotonic() - self.begin
        meter = self.route.meter
        meter.in_flight -= 1
        meter.observe(status, seconds)
        if self.of_node is not None:
            self.of_node.in_flight -= 1
            self.of_node.observe(status, seconds)
        if self.recorder is not None and self.trace.is_sampled:
            self.recorder(self._span(status, seconds))
        super()._ended()

    def _span(self, status: int, seconds: float) -> Span:
        step, trace, end = self.route.step, self.trace, time.time_ns()
        attributes = (("kservec.node", step.node), ("kservec.step", step.label), ("url.full", self.target.url))
        name, start = f"{step.node}/{step.label}", end - int(seconds * 1e9)
        return Span(name, trace.trace_id, self.span_id, trace.span_id, start, end, status, attributes, False)
