"""Taking a request through a plan: sequences, splitters, ensembles, switches.

Everything outside comes in by hand: how services are called (`Call`), chance (`random.Random`), meters, a recorder of
spans. Bodies stay bytes; one is parsed only where a condition, a mapping or a merge looks into it.
KServe: cmd/router/main.go (routeStep, executeStep, handleSplitterORSwitchNode)
"""

from __future__ import annotations

import asyncio
import random
import time
from bisect import bisect_right
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

from kservec_router.bodies import (
    decoded_reply,
    has_match,
    is_mergeable,
    mapped_predictions,
    matching_step,
    merged_failure,
    part_of,
)
from kservec_router.gjson import Condition
from kservec_router.messages import JSON_TYPE, Body, Call, Origin, Outgoing, Reply, Target, failure
from kservec_router.meters import Meter, Meters
from kservec_router.plan import Kind, Node, Plan, Step
from kservec_router.propagation import Lines
from kservec_router.tracing import Recorder, Span, Trace, new_span_id

NO_MATCH = "None of the routes matched with the switch condition"
LARGE_BODY = 1 << 20  # conditions look into a larger body in a thread, so that other requests need not wait
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})
CLIENT_LEFT = 499
INVALID_RESPONSE = failure(500, "invalid response")


class Payload(NamedTuple):
    """An input: a body, the header lines that describe it, and whether it is the client's own."""

    body: Body
    lines: bytes
    is_request: bool
    coding: bytes | None = None


class Context(NamedTuple):
    """What the calls of one request share. `deadline` is monotonic time (0: none)."""

    trace: Trace
    lines: Lines
    deadline: float
    retries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What an executor works with: how to call, chance, meters; spans are recorded only when there is a recorder."""

    call: Call
    chance: random.Random
    meters: Meters
    recorder: Recorder | None = None
    body_limit: int = 64 << 20
    backoff_seconds: float = 0.05


class Executor:
    """Runs requests through one plan; `active` is how many, as whoever begins and ends them counts."""

    def __init__(self, plan: Plan, means: Means) -> None:
        self.plan = plan
        self.active = 0
        self.answer_seconds = plan.timeouts.answer
        self._call, self._chance, self._recorder = means.call, means.chance, means.recorder
        self._body_limit, self._backoff_seconds = means.body_limit, means.backoff_seconds
        self._meters = {node: means.meters.meter("node", (("node", node.name),)) for node in plan.nodes}
        self._routes = {step: _route(step, plan, means.meters) for node in plan.nodes for step in node.steps}

    def run(self, payload: Payload, context: Context) -> Awaitable[Reply]:
        """The graph's answer to a request; its body may still be arriving."""
        return self._run_node(self.plan.root, payload, context, True)

    def _run_node(self, node: Node, payload: Payload, context: Context, is_tail: bool) -> Coroutine[Any, Any, Reply]:
        """One node, measured."""
        only = node.only
        if only is not None and only.target is not None and only.is_plain and not context.retries:
            return self._call_once(only, payload, context, is_tail, self._meters[node])
        return self._run_measured(node, payload, context, is_tail)

    async def _run_measured(self, node: Node, payload: Payload, context: Context, is_tail: bool) -> Reply:
        meter, begin, status = self._meters[node], monotonic(), CLIENT_LEFT
        meter.in_flight += 1
        try:
            reply = await self._work(node, payload, context, is_tail)
            status = reply.status
            return reply
        finally:
            meter.in_flight -= 1
            meter.observe(status, monotonic() - begin)

    def _work(self, node: Node, payload: Payload, context: Context, is_tail: bool) -> Coroutine[Any, Any, Reply]:
        """How a node is run. A Sequence that is one plain step is that step."""
        if node.only is not None:
            return self._visit(node.only, payload, context, is_tail)
        match node.kind:
            case Kind.SEQUENCE:
                return self.run_sequence(node, payload, context, is_tail)
            case Kind.SPLITTER:
                return self._visit(self.choose_by_weight(node), payload, context, is_tail)
            case Kind.ENSEMBLE:
                return self.run_ensemble(node, payload, context)
            case Kind.SWITCH:
                body = payload.body
                if payload.coding is None and isinstance(body, bytes) and len(body) <= LARGE_BODY:
                    return self._follow(matching_step(node, body), payload, context, is_tail)
                return self.run_switch(node, payload, context, is_tail)

    # Nodes. `is_tail`: the reply goes to the client as it is, so it may be passed on while it arrives.

    async def run_sequence(self, node: Node, payload: Payload, context: Context, is_tail: bool) -> Reply:
        """Steps one after the other; a Hard failure, or a condition that does not hold, ends it."""
        reply = INVALID_RESPONSE
        last = len(node.steps) - 1
        for place, step in enumerate(node.steps):
            if step.condition is not None:
                verdict = await self._judge(step.condition, reply)
                if verdict is not None:
                    return verdict
            given = self._input(step, payload, reply, context) if step.changes_input else payload
            if isinstance(given, Reply):
                return given
            reply = await self._visit(step, given, context, is_tail and place == last)
            if place == last or (step.hard and not reply.is_success):
                return reply
            if reply.cause is not None and node.steps[place + 1].reads_response:
                return reply
        return reply

    def choose_by_weight(self, node: Node) -> Step:
        """The step of a Splitter that takes a request, by chance and weight."""
        return node.steps[bisect_right(node.bounds, self._chance.randrange(100))]

    async def run_switch(self, node: Node, payload: Payload, context: Context, is_tail: bool) -> Reply:
        """The first step whose condition holds for the input, when that is coded or long."""
        body = decoded_reply(payload.body, payload.coding, self._body_limit)
        if body is None or len(body) <= LARGE_BODY:
            step = None if body is None else matching_step(node, body)
        else:
            step = await asyncio.to_thread(matching_step, node, body)
        return await self._follow(step, payload, context, is_tail)

    def _follow(
        self, step: Step | bool | None, payload: Payload, context: Context, is_tail: bool
    ) -> Coroutine[Any, Any, Reply]:
        """What comes of the choice of a Switch: its step, or why there is none."""
        if isinstance(step, Step):
            return self._visit(step, payload, context, is_tail)
        if step is None:
            cause = "the input of a Switch is not JSON, or nested too deep"
            return _answered(failure(400 if payload.is_request else 500, cause))
        return _answered(failure(404, NO_MATCH))

    async def run_ensemble(self, node: Node, payload: Payload, context: Context) -> Reply:
        """All steps at the same time; their replies become members of one object. A Hard failure ends it at once."""
        branches = [asyncio.create_task(self._visit(step, payload, context, False)) for step in node.steps]
        try:
            await _all_or_hard_failure(node.steps, branches)
            replies = [branch.result() if branch.done() else None for branch in branches]
        finally:
            for branch in branches:
                branch.cancel()
        return self._merged(node.steps, replies)

    def _merged(self, steps: tuple[Step, ...], replies: list[Reply | None]) -> Reply:
        """The replies as one object. Their bytes are not touched, so numbers keep all their digits."""
        members = []
        for step, reply in zip(steps, replies, strict=True):
            if reply is None:
                continue
            if step.hard and not reply.is_success:
                return reply
            body = decoded_reply(reply.body, reply.header(b"content-encoding"), self._body_limit)
            if body is None or not is_mergeable(body):
                if reply.is_success:
                    return failure(500, f'the reply of step "{step.label}" is not JSON')
                body = merged_failure(reply)
            members.append(step.key + body)
        return Reply(200, (JSON_TYPE,), b"{" + b",".join(members) + b"}")

    async def _judge(self, condition: Condition, reply: Reply) -> Reply | None:
        """The end of a Sequence when a condition does not hold for the reply before it; None when it goes on."""
        body = decoded_reply(reply.body, reply.header(b"content-encoding"), self._body_limit)
        if body is None or len(body) <= LARGE_BODY:
            holds = None if body is None else has_match(condition, body)
        else:
            holds = await asyncio.to_thread(has_match, condition, body)
        if holds is None:
            return INVALID_RESPONSE
        return None if holds else Reply(200, reply.headers, reply.body)

    def _input(self, step: Step, payload: Payload, reply: Reply, context: Context) -> Payload | Reply:
        """What a step of a Sequence gets: the input of the Sequence or the reply before it, or a part of that."""
        if step.takes_response:
            body = decoded_reply(reply.body, reply.header(b"content-encoding"), self._body_limit)
            if body is not None and step.part:
                body = part_of(body, step.part)
            if body is None:
                return failure(500, f"there is no {step.part.decode() or 'readable body'} in the response")
            payload = Payload(body, context.lines.for_reply(reply.headers), False)
        if step.maps_predictions and isinstance(payload.body, bytes):
            return payload._replace(body=mapped_predictions(payload.body))
        return payload

    # Steps.

    def _visit(self, step: Step, payload: Payload, context: Context, is_tail: bool) -> Coroutine[Any, Any, Reply]:
        if step.inner is not None:
            return self._run_node(step.inner, payload, context, is_tail)
        if step.is_plain and not context.retries:
            return self._call_once(step, payload, context, is_tail)
        return self._call_again(step, payload, context, is_tail)

    async def _call_again(self, step: Step, payload: Payload, context: Context, is_tail: bool) -> Reply:
        """Repeat a call that may be repeated, with growing pauses of random length, while there is time."""
        retries = max(step.policy.retries, context.retries) if isinstance(payload.body, bytes) else 0
        for attempt in range(retries + 1):
            if step.policy.hedge_seconds and isinstance(payload.body, bytes):
                reply = await self._call_hedged(step, payload, context, is_tail)
            else:
                reply = await self._call_once(step, payload, context, is_tail)
            if attempt == retries or reply.status not in RETRIED_STATUSES:
                break
            pause = self._backoff_seconds * 2**attempt * (0.5 + self._chance.random() / 2)
            if context.deadline and monotonic() + pause >= context.deadline:
                break
            _discard(reply)
            await asyncio.sleep(pause)
        return reply

    async def _call_hedged(self, step: Step, payload: Payload, context: Context, is_tail: bool) -> Reply:
        """Call a second time when the first call is slow; the first reply that is no failure counts."""
        first = asyncio.create_task(self._call_once(step, payload, context, is_tail))
        calls, chosen = [first], None
        try:
            await asyncio.wait(calls, timeout=step.policy.hedge_seconds)
            if not first.done():
                calls.append(asyncio.create_task(self._call_once(step, payload, context, is_tail)))
            for next_done in asyncio.as_completed(calls):
                chosen = await next_done
                if chosen.status not in RETRIED_STATUSES:
                    break
            assert chosen is not None
            return chosen
        finally:
            for call in calls:
                if not call.cancel() and not call.cancelled() and call.exception() is None:
                    _discard(call.result(), chosen)

    async def _call_once(
        self, step: Step, payload: Payload, context: Context, is_tail: bool, of_node: Meter | None = None
    ) -> Reply:
        """One call, measured, with a span of its own. A call that is given up counts as one whose client left.

        *of_node*: the meter of a node that is nothing but this call.
        """
        target, meter, own_seconds = self._routes[step]
        trace, deadline, span_id = context.trace, context.deadline, new_span_id(self._chance)
        seconds, begin, status = own_seconds, monotonic(), CLIENT_LEFT
        lines = payload.lines + trace.lines(span_id)
        if deadline:
            left = max(0.001, deadline - begin)
            if not own_seconds or left < own_seconds:
                seconds = left
            lines += b"x-envoy-expected-rq-timeout-ms: %d\r\n" % (seconds * 1000)
        meter.in_flight += 1
        if of_node is not None:
            of_node.in_flight += 1
        try:
            reply = await self._call(Outgoing(target, lines, payload.body, seconds, is_tail, own_seconds > 0))
            status = reply.status
            return reply
        finally:
            spent = monotonic() - begin
            meter.in_flight -= 1
            meter.observe(status, spent)
            if of_node is not None:
                of_node.in_flight -= 1
                of_node.observe(status, spent)
            if self._recorder is not None and trace.is_sampled:
                self._recorder(_span(step, trace, span_id, status, begin))


class _Route(NamedTuple):
    """What a call of a step needs: `seconds` is the time limit that the step has of its own, 0 for none."""

    target: Target
    meter: Meter
    seconds: float


def _route(step: Step, plan: Plan, meters: Meters) -> _Route:
    meter = meters.meter("step", (("node", step.node), ("step", step.label)))
    target = step.target or Target("", Origin("", 0, False), b"")  # a step that is a node is not called
    return _Route(target, meter, step.policy.timeout_seconds or plan.timeouts.client)


def _span(step: Step, trace: Trace, span_id: bytes, status: int, begin: float) -> Span:
    assert step.target is not None
    end = time.time_ns()
    start = end - int((monotonic() - begin) * 1e9)
    attributes = (("kservec.node", step.node), ("kservec.step", step.label), ("url.full", step.target.url))
    name = f"{step.node}/{step.label}"
    return Span(name, trace.trace_id, span_id, trace.span_id, start, end, status, attributes, False)


async def _answered(reply: Reply) -> Reply:
    return reply


async def _all_or_hard_failure(steps: tuple[Step, ...], branches: list[asyncio.Task[Reply]]) -> None:
    """Wait until all branches are done, or it is certain which failed Hard step answers: the first in the graph."""
    over = asyncio.get_running_loop().create_future()
    hard = [branch for step, branch in zip(steps, branches, strict=True) if step.hard]

    def done(branch: asyncio.Task[Reply]) -> None:
        if over.done() or branch.cancelled():
            return
        if branch.exception() is not None or _is_decided(hard) or all(one.done() for one in branches):
            over.set_result(None)

    for branch in branches:
        branch.add_done_callback(done)
    await over


def _is_decided(hard: list[asyncio.Task[Reply]]) -> bool:
    """Whether a Hard step has failed and none before it is still under way."""
    for branch in hard:
        if not branch.done():
            return False
        if branch.exception() is None and not branch.result().is_success:
            return True
    return False


def _discard(reply: Reply, kept: Reply | None = None) -> None:
    """Nobody will read the body of this reply, unless it is the one that is kept."""
    if reply is not kept and not isinstance(reply.body, bytes):
        reply.body.close()
