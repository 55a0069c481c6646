"""Committed objects of any shape: people edit rendered files, and a comparison must still come to an end."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests import libyaml

from kservec.compare.json_report import json_report
from kservec.compare.markdown_report import markdown_report
from kservec.compare.objects import Side
from kservec.compare.report import COMMITTED, Comparison, Report, compared
from kservec.compare.text_report import text_report
from kservec.emit import dump

from .building import CANARY, GRAPH, KEDA, KNATIVE, LLM, built

ODD: tuple[Any, ...] = (
    None,
    "",
    "text",
    7,
    -1,
    1.5,
    True,
    [],
    {},
    [1],
    ["a"],
    [{}],
    [[]],
    {"name": 1},
    {"a": {"b": []}},
)


def mangled(value: Any, chance: random.Random) -> Any:
    """A value in which one place holds something odd, or lacks something."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.1:
        return chance.choice(ODD)
    if isinstance(value, list):
        i = chance.randrange(len(value))
        return [*value[:i], mangled(value[i], chance), *value[i + 1 :]]
    key = chance.choice(sorted(value))
    return {**value, key: mangled(value[key], chance)}


@pytest.mark.parametrize("text", [CANARY, KNATIVE, KEDA, GRAPH, LLM], ids=["canary", "knative", "keda", "graph", "llm"])
def test_odd_objects_are_compared(text: str) -> None:
    """Whatever stands in a committed file, the reports are written."""
    compilation = built(text)
    chance = random.Random(text)  # noqa: S311 - the same oddities in each run
    for _ in range(150):
        rendered = chance.choice(compilation.objects)
        body = libyaml.load(rendered.text)
        odd = mangled({key: body[key] for key in ("metadata", "spec") if key in body}, chance)
        if not isinstance(odd, dict):
            continue
        odd = {"apiVersion": body["apiVersion"], "kind": body["kind"], **odd}
        sides = [Side({rendered.path: content.encode()}, {}) for content in (dump(odd), rendered.text)]
        for before, after in (sides, sides[::-1]):
            comparison = compared(Comparison("prod", "rendered", COMMITTED), before, after, compilation.objects)
            report = Report("main", "0" * 12, (comparison,))
            assert all(write(report) for write in (text_report, json_report, markdown_report))
