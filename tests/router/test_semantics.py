"""What comes of a request, node by node; the table is semantics.yaml."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from .graphs import Answer, Services, app_for, ask, node, plan_of, step

CASES = list(libyaml.load_all((Path(__file__).parent / "semantics.yaml").read_text()))


def check_body(expect: dict[str, Any], answer: Answer) -> None:
    """Compare the body with what is expected of it: json, text, or a part of the cause."""
    if "json" in expect:
        assert answer.json() == expect["json"]
    if "text" in expect:
        assert answer.body.decode() == expect["text"]
    if "cause" in expect:
        assert answer.json()["error"] == "Failed to process request"
        assert expect["cause"] in answer.json()["cause"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_a_request_ends_as_the_table_says(case: dict[str, Any]) -> None:
    """Status, body and headers of the answer, and the bodies that each service got, are those of the table."""
    services = Services(case["replies"])
    body = case["request_text"].encode() if "request_text" in case else json.dumps(case["request"]).encode()
    answer = asyncio.run(ask(app_for(plan_of(case["nodes"]), services), body))
    expect = case["expect"]
    assert answer.status == expect["status"]
    check_body(expect, answer)
    for name, value in expect.get("headers", {}).items():
        assert answer.header(name) == value
    for name, bodies in expect.get("calls", {}).items():
        wanted = [b["text"].encode() if isinstance(b, dict) and "text" in b else b for b in bodies]
        got = [
            raw if isinstance(w, bytes) else json.loads(raw)
            for raw, w in zip(services.bodies(name), wanted, strict=True)
        ]
        assert got == wanted


def test_a_splitter_follows_its_weights() -> None:
    """Of 2,000 requests, each step gets its share, and a step of weight 0 nothing."""
    services = Services({name: {"json": {"from": name}} for name in "abc"})
    weights = {"a": 20, "b": 80, "c": 0}
    plan = plan_of({"root": node("Splitter", *(step(name, weight=weight) for name, weight in weights.items()))})
    app = app_for(plan, services)

    async def many() -> Counter[str]:
        return Counter([(await ask(app)).json()["from"] for _ in range(2000)])

    counts = asyncio.run(many())
    assert 330 < counts["a"] < 470
    assert counts["b"] == 2000 - counts["a"]


def test_a_hard_failure_cancels_the_other_branches() -> None:
    """An Ensemble does not wait for a slow step when a Hard one has failed, and gives its call up."""
    services = Services({"a": {"json": {}, "seconds": 5}, "b": {"status": 404, "json": {"error": "no"}}})
    plan = plan_of({"root": node("Ensemble", step("a"), step("b", dependency="Hard"))})

    async def once() -> Answer:
        answer = await asyncio.wait_for(ask(app_for(plan, services)), 2)
        await asyncio.sleep(0)
        return answer

    assert asyncio.run(once()).status == 404
    assert services.given_up == ["a"]


def test_the_branches_of_an_ensemble_run_side_by_side() -> None:
    """Three steps of 0.1 seconds take little more than one."""
    services = Services({name: {"json": {}, "seconds": 0.1} for name in "abc"})
    plan = plan_of({"root": node("Ensemble", *(step(name) for name in "abc"))})
    answer = asyncio.run(asyncio.wait_for(ask(app_for(plan, services)), 0.28))
    assert answer.json() == {"0": {}, "1": {}, "2": {}}


@pytest.mark.parametrize("when", ["mistake", "crash"])
def test_a_mistake_in_one_request_is_that_requests_500(when: str) -> None:
    """An exception as a call begins, or later, is answered with 500, and the next request is served."""
    services = Services({"a": [{when: "oh"}, {"json": {"ok": 1}}]})
    app = app_for(plan_of({"root": node("Sequence", step("a"))}), services)

    async def twice() -> tuple[Answer, Answer]:
        return await ask(app), await ask(app)

    first, second = asyncio.run(twice())
    assert (first.status, first.json()["cause"]) == (500, "internal error: RuntimeError")
    assert (second.status, second.json()) == (200, {"ok": 1})


def test_a_mistake_in_a_branch_is_that_requests_500() -> None:
    """An exception in one branch of an Ensemble is the answer, without waiting for the others."""
    services = Services({"a": {"crash": "oh"}, "b": {"json": {}, "seconds": 5}})
    plan = plan_of({"root": node("Ensemble", step("a"), step("b"))})
    answer = asyncio.run(asyncio.wait_for(ask(app_for(plan, services)), 2))
    assert answer.status == 500


def test_a_large_body_is_looked_into_all_the_same() -> None:
    """A Switch on a body of more than a megabyte, which is done in a thread, finds its step."""
    services = Services({"a": {"json": {"from": "a"}}, "b": {"json": {"from": "b"}}})
    plan = plan_of({"root": node("Switch", step("a", condition="nope"), step("b", condition="kind"))})
    body = json.dumps({"fill": "x" * 1_500_000, "kind": 1}).encode()
    assert asyncio.run(ask(app_for(plan, services), body)).json() == {"from": "b"}
