"""Which traffic moves: routes of the Gateway API and Istio, Knative's revisions."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.compare.objects import Changed
from kservec.compare.weights import Shift, traffic_changes
from kservec.core.diagnostics import ObjectRef

from .building import CANARY, STANDARD, built, comparison, edited


def test_the_share_of_a_canary() -> None:
    """Both routes of the service show it, each in one row, and nothing else moves."""
    rows = comparison(built(CANARY), built(edited(CANARY, ("trafficPercent: 10", "trafficPercent: 25")))).traffic
    assert [row.ref.name for row in rows] == ["fraud", "fraud-predictor"]
    assert {row.shifts for row in rows} == {(Shift("fraud-predictor", 90, 75), Shift("fraud-v8-predictor", 10, 25))}
    assert rows[0].share(after=True) == (75, 25)


def test_a_canary_that_comes_takes_its_share() -> None:
    """A backend that a rule did not list had none."""
    (first, _) = comparison(built(STANDARD), built(CANARY)).traffic
    assert first.shifts == (Shift("fraud-predictor", 1, 90), Shift("fraud-v8-predictor", None, 10))


def rule(path: str, *weights: tuple[str, int]) -> dict[str, Any]:
    """A rule of an HTTPRoute."""
    backends = [{"name": name, "weight": weight} for name, weight in weights]
    return {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "backendRefs": backends}


POOL = {"kind": "InferencePool", "name": "p"}
BODIES: tuple[tuple[str, str, Any, Any, tuple[tuple[tuple[str, ...], tuple[Shift, ...]], ...]], ...] = (
    (
        "alike rules are one row",
        "HTTPRoute",
        {"rules": [rule("/a", ("x", 1)), rule("/b", ("x", 1))]},
        {"rules": [rule("/b", ("x", 3)), rule("/a", ("x", 3))]},
        ((("/b", "/a"), (Shift("x", 1, 3),)),),
    ),
    (
        "a rule that comes moves nothing",
        "HTTPRoute",
        {"rules": [rule("/a", ("x", 1))]},
        {"rules": [rule("/a", ("x", 1)), rule("/b", ("x", 1))]},
        (),
    ),
    (
        "pools",
        "HTTPRoute",
        {"rules": [{"backendRefs": [{**POOL, "weight": 9}, {"name": "s"}]}]},
        {"rules": [{"backendRefs": [{**POOL, "weight": 5}, {"name": "s"}]}]},
        ((("",), (Shift("InferencePool p", 9, 5), Shift("s", 1, 1))),),
    ),
    (
        "Knative",
        "Service",
        {"traffic": [{"latestRevision": True, "percent": 100}]},
        {"traffic": [{"latestRevision": True, "percent": 20}, {"revisionName": "a-1", "percent": 80}]},
        ((("",), (Shift("the latest revision", 100, 20), Shift("a-1", None, 80))),),
    ),
    (
        "Istio",
        "VirtualService",
        {
            "http": [
                {"route": [{"destination": {"host": "a"}, "weight": 90}, {"destination": {"host": "b"}, "weight": 10}]}
            ]
        },
        {
            "http": [
                {"route": [{"destination": {"host": "a"}, "weight": 50}, {"destination": {"host": "b"}, "weight": 50}]}
            ]
        },
        ((("",), (Shift("a", 90, 50), Shift("b", 10, 50))),),
    ),
)


@pytest.mark.parametrize(("about", "kind", "before", "after", "rows"), BODIES, ids=[body[0] for body in BODIES])
def test_weights_by_rule(about: str, kind: str, before: Any, after: Any, rows: Any) -> None:
    """Rules are found again by what they match, backends by their names."""
    del about
    change = Changed(ObjectRef("x/v1", kind, "a", "r"), "", "", {"spec": before}, {"spec": after})
    assert tuple((row.rules, row.shifts) for row in traffic_changes([change])) == rows
