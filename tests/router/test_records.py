"""What is counted, traced and written down."""

from __future__ import annotations

import asyncio
import gc
import json
import os

import pytest

from kservec_router.drive import Outcome
from kservec_router.journal import Journal
from kservec_router.meters import Meters
from kservec_router.tracing import Span

from .graphs import Services, app_for, ask, node, plan_of, step

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_what_happens_is_counted_by_node_and_step() -> None:
    """/metrics has counts by status, a histogram and what is in flight, for requests, nodes and steps."""
    services = Services({"a": {"status": 404, "json": {}}, "b": {"json": {}}})
    nodes = {"root": node("Sequence", {"nodeName": "x"}), "x": node("Ensemble", step("a", name='q"\n'), step("b"))}
    app = app_for(plan_of(nodes), services)
    app.router.means.meters.add("reloads_total", (("outcome", "used"),))

    async def run() -> str:
        await ask(app)
        await ask(app)
        return (await ask(app, path="/metrics", method="GET")).body.decode()

    text = asyncio.run(run())
    assert 'kservec_router_requests_total{status="200"} 2\n' in text
    assert 'kservec_router_node_total{node="x",status="200"} 2\n' in text
    assert 'kservec_router_step_total{node="x",step="q\\"\\n",status="404"} 2\n' in text
    assert 'kservec_router_step_seconds_bucket{node="x",step="1",le="+Inf"} 2\n' in text
    assert 'kservec_router_step_seconds_count{node="x",step="1"} 2\n' in text
    assert "kservec_router_requests_in_flight 0\n" in text
    assert 'kservec_router_reloads_total{outcome="used"} 1\n' in text
    assert Meters().text() == ""


def test_spans_say_what_was_called() -> None:
    """A recorder gets a span per call and one for the request, which is their parent; unsampled traces have none."""
    spans: list[Span] = []
    services = Services({"a": {"status": 503, "json": {}}})
    app = app_for(plan_of({"root": node("Sequence", step("a", name="detect"))}), services, spans.append)
    asyncio.run(ask(app, path="/v1", traceparent=TRACE))
    call, request = spans
    assert (call.name, call.status, dict(call.attributes)["kservec.step"]) == ("root/detect", 503, "detect")
    assert (request.name, request.parent_id, call.parent_id) == ("POST", b"b7ad6b7169203331", request.span_id)
    assert call.start <= call.end <= request.end
    asyncio.run(ask(app, traceparent=TRACE[:-1] + "0"))
    assert len(spans) == 2


def test_requests_are_written_down_without_bodies_and_credentials() -> None:
    """One line of JSON a request: what was asked, what came of it, how long it took, and in which trace."""
    written: list[bytes] = []
    services = Services({"a": {"down": True}})
    plan = plan_of({"root": node("Sequence", {"serviceUrl": "http://user:hunter2@a/"})})
    app = app_for(plan, services, access_log=True)
    app.router.journal.write = written.append

    async def run() -> None:
        await ask(app, b'{"secret":"hunter3"}', path='/a"b', authorization="Bearer hunter4")
        app.router.journal.flush()

    asyncio.run(run())
    line = json.loads(b"".join(written))
    assert (line["method"], line["path"], line["status"], line["received"]) == ("POST", '/a"b', 500, 20)
    assert (line["cause"], len(line["trace"])) == ("connection refused", 32)
    assert b"hunter" not in b"".join(written)


def test_requests_are_served_when_nobody_reads_the_journal() -> None:
    """A standard error that is closed, or a pipe whose reader has gone, costs the lines and nothing else."""
    reader, writer = os.pipe()
    kept = os.dup(2)
    try:
        os.close(reader)
        os.dup2(writer, 2)
        Journal().say("info", "to a broken pipe")
        os.close(2)
        Journal().say("info", "to nothing")
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(writer)


KINDS = {
    "Sequence": ({"root": node("Sequence", step("a"), step("b", data="$response"))}, ""),
    "Ensemble": (
        {"root": node("Ensemble", step("a"), step("b"), {"nodeName": "x"}), "x": node("Sequence", step("a"))},
        "",
    ),
    "hedged": ({"root": node("Sequence", step("a"))}, "root/0=hedge:0.001"),
    "Hard": ({"root": node("Ensemble", step("b"), step("c", dependency="Hard"))}, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_request_leaves_no_circles(kind: str) -> None:
    """What it was made of is free when it is over, replies and all; the collector, which seldom runs, is not needed."""
    nodes, policy = KINDS[kind]
    replies = {
        "a": {"json": {}, "seconds": 0.005},
        "b": {"json": {}, "seconds": 0.01},
        "c": {"status": 404, "json": {}},
    }
    services = Services(replies)
    app = app_for(plan_of(nodes, *filter(None, [policy])), services)

    async def run() -> int:
        await ask(app)
        services.seen.clear()
        await asyncio.sleep(0.02)
        return sum(isinstance(one, Outcome) for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        assert asyncio.run(run()) == 0
    finally:
        gc.enable()
