"""Taking a request through a plan: sequences, splitters, ensembles, switches.

Everything outside comes in by hand: how services are called (`Call`), chance (`random.Random`), meters, a recorder of
spans. Bodies stay bytes; one is parsed only where a condition, a mapping or a merge looks into it.
KServe: cmd/router/main.go (routeStep, executeStep, handleSplitterORSwitchNode)
"""

from __future__ import annotations

import asyncio
import random
from bisect import bisect_right
from collections.abc import Awaitable
from dataclasses import dataclass
from time import monotonic

from kservec_router.bodies import (
    decoded_reply,
    has_match,
    is_mergeable,
    mapped_predictions,
    matching_step,
    merged_failure,
    part_of,
)
from kservec_router.calls import CLIENT_LEFT, Context, Payload, Route, StepCall
from kservec_router.drive import Outcome, driven, first_over
from kservec_router.gjson import Condition
from kservec_router.messages import JSON_TYPE, Call, Reply, failure
from kservec_router.meters import Meter, Meters
from kservec_router.plan import Kind, Node, Plan, Step
from kservec_router.tracing import Recorder, span_ids

NO_MATCH = "None of the routes matched with the switch condition"
LARGE_BODY = 1 << 20  # conditions look into a larger body in a thread, so that other requests need not wait
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})
INVALID_RESPONSE = failure(500, "invalid response")


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
        self._ids = span_ids(means.chance)
        self._body_limit, self._backoff_seconds = means.body_limit, means.backoff_seconds
        self._meters = {node: means.meters.meter("node", (("node", node.name),)) for node in plan.nodes}
        self._routes = {step: Route(step, plan, means.meters) for node in plan.nodes for step in node.steps}

    def run(self, payload: Payload, context: Context) -> Outcome[Reply]:
        """The graph's answer to a request; its body may still be arriving."""
        return driven(self._run_node(self.plan.root, payload, context, True))

    def _run_node(self, node: Node, payload: Payload, context: Context, is_tail: bool) -> Awaitable[Reply]:
        """One node, measured. A node that comes down to one plain call is that call."""
        chosen = node.only or self._choose(node, payload)
        if isinstance(chosen, Step) and chosen.is_plain and not context.retries:
            return self._call_once(chosen, payload, context, is_tail, self._meters[node])
        return self._run_measured(node, chosen, payload, context, is_tail)

    def _choose(self, node: Node, payload: Payload) -> Step | Reply | None:
        """The only step of a node that takes this input, or the answer when there is none; None: it takes more."""
        if node.kind is Kind.SPLITTER:
            return self.choose_by_weight(node)
        body = payload.body
        if node.kind is Kind.SWITCH and payload.coding is None and isinstance(body, bytes) and len(body) <= LARGE_BODY:
            return _matching(node, body, payload)
        return None

    async def _run_measured(
        self, node: Node, chosen: Step | Reply | None, payload: Payload, context: Context, is_tail: bool
    ) -> Reply:
        meter, begin, status = self._meters[node], monotonic(), CLIENT_LEFT
        meter.in_flight += 1
        try:
            reply = await self._work(node, chosen, payload, context, is_tail)
            status = reply.status
            return reply
        finally:
            meter.in_flight -= 1
            meter.observe(status, monotonic() - begin)

    async def _work(
        self, node: Node, chosen: Step | Reply | None, payload: Payload, context: Context, is_tail: bool
    ) -> Reply:
        if chosen is None:
            if node.kind is Kind.SEQUENCE:
                return await self.run_sequence(node, payload, context, is_tail)
            if node.kind is Kind.ENSEMBLE:
                return await self.run_ensemble(node, payload, context)
            chosen = await self.choose_by_long_input(node, payload)
        return chosen if isinstance(chosen, Reply) else await self._visit(chosen, payload, context, is_tail)

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

    async def choose_by_long_input(self, node: Node, payload: Payload) -> Step | Reply:
        """What a Switch comes to when its input is coded or long."""
        body = decoded_reply(payload.body, payload.coding, self._body_limit)
        if body is None or len(body) <= LARGE_BODY:
            return _matching(node, body, payload)
        return await asyncio.to_thread(_matching, node, body, payload)

    async def run_ensemble(self, node: Node, payload: Payload, context: Context) -> Reply:
        """All steps at the same time; their replies become members of one object. A Hard failure ends it at once."""
        branches = [driven(self._visit(step, payload, context, False)) for step in node.steps]
        try:
            await _all_or_hard_failure(node.steps, branches)
            replies = [branch.result() if branch.is_over else None for branch in branches]
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
            payload = Payload(body, context.lines.for_reply(reply.headers))
        if step.maps_predictions and isinstance(payload.body, bytes):
            return Payload(mapped_predictions(payload.body), payload.lines, payload.coding, payload.is_request)
        return payload

    # Steps.

    def _visit(self, step: Step, payload: Payload, context: Context, is_tail: bool) -> Awaitable[Reply]:
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
        calls, chosen = [self._call_once(step, payload, context, is_tail)], INVALID_RESPONSE
        try:
            if not await _is_over_within(step.policy.hedge_seconds, calls[0]):
                calls.append(self._call_once(step, payload, context, is_tail))
            waiting = list(calls)
            while waiting and chosen.status in RETRIED_STATUSES:
                call = await first_over(waiting)
                waiting.remove(call)
                chosen = call.result()
            return chosen
        finally:
            for call in calls:
                if not call.cancel() and call.value is not None and call.value is not chosen:
                    _discard(call.value)

    def _call_once(
        self, step: Step, payload: Payload, context: Context, is_tail: bool, of_node: Meter | None = None
    ) -> StepCall:
        """One call, under way. *of_node*: the meter of a node that comes down to this call."""
        call = StepCall(self._routes[step], payload, context, next(self._ids))
        call.may_stream = is_tail
        if self._recorder is not None:
            call.recorder = self._recorder
        if of_node is not None:
            of_node.in_flight += 1
            call.of_node = of_node
        try:
            self._call(call)
        except Exception as error:  # noqa: BLE001 - whoever waits for the call is to know
            call.fail(error)
        return call


def _matching(node: Node, body: bytes | None, payload: Payload) -> Step | Reply:
    """The step of a Switch that takes an input, whose decoded body is *body*; why there is none, if so."""
    step = None if body is None else matching_step(node, body)
    if isinstance(step, Step):
        return step
    if step is None:
        cause = "the input of a Switch is not JSON, or nested too deep"
        return failure(400 if payload.is_request else 500, cause)
    return failure(404, NO_MATCH)


async def _all_or_hard_failure(steps: tuple[Step, ...], branches: list[Outcome[Reply]]) -> None:
    """Wait until all branches are over, or it is certain which failed Hard step answers: the first in the graph."""
    hard = [branch for step, branch in zip(steps, branches, strict=True) if step.hard]
    while not _is_decided(hard) and (pending := [branch for branch in branches if not branch.is_over]):
        (await first_over(pending)).result()


def _is_decided(hard: list[Outcome[Reply]]) -> bool:
    """Whether a Hard step has failed and none before it is still under way."""
    for branch in hard:
        if not branch.is_over:
            return False
        if not branch.result().is_success:
            return True
    return False


async def _is_over_within(seconds: float, call: StepCall) -> bool:
    """Wait for a call, but not longer than so many seconds; return whether it is over."""
    woken = first_over([call])
    timer = asyncio.get_running_loop().call_later(seconds, woken.set, None)
    try:
        await woken
    finally:
        timer.cancel()
    return call.is_over


def _discard(reply: Reply) -> None:
    """Nobody will read the body of this reply."""
    if not isinstance(reply.body, bytes):
        reply.body.close()
