"""Reports of comparisons: the comment on a pull request is complete, safe and never too long."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kservec.compare.json_report import json_report
from kservec.compare.markdown_report import MOST_CHARACTERS, fitted, markdown_report
from kservec.compare.objects import Side
from kservec.compare.report import COMMITTED, Comparison, Report, compared
from kservec.compare.text_report import text_report
from kservec.emit import dump

from .building import CANARY, FIXED, STANDARD, built, comparison, edited

COMMIT = "0123456789ab"


def changed(before: str, after: str, *names: str) -> Report:
    """A report of environments in all of which the same is different."""
    found = comparison(built(before), built(after))
    return Report("main", COMMIT, tuple(found._replace(name=n, output=f"rendered/{n}") for n in names))


def test_what_hurts_comes_first() -> None:
    """Warnings, pods, traffic, replicas, objects; and among the objects those whose pods restart."""
    after = edited(CANARY, ("trafficPercent: 10", "trafficPercent: 60"), ("fraud/v8", "fraud/v9"))
    text = markdown_report(changed(CANARY, after, "dev", "prod"))
    titles = re.findall(r"^\*\*(\w+)\*\*$", text, re.MULTILINE)
    assert titles == ["Pods", "Traffic", "Replicas", "Objects"]
    summaries = re.findall(r"<summary>(.*)</summary>", text)
    assert summaries[0] == "~ Deployment payments/fraud-v8-predictor (dev, prod)"
    assert len(summaries) == 5
    warned = markdown_report(changed(FIXED, STANDARD, "prod"))
    assert warned.index("⚠️ **a workload loses its number of replicas** (prod)") < warned.index("**Objects**")


def test_the_same_change_is_told_once() -> None:
    """In a row, a block and a paragraph that names the environments."""
    after = edited(STANDARD, ("v7", "v8"))
    one, two = (markdown_report(changed(STANDARD, after, *names)) for names in (("dev",), ("dev", "prod")))
    assert two.count("<details>") == one.count("<details>") == 1
    assert "| dev, prod |" in two
    assert text_report(changed(STANDARD, after, "dev", "prod")).startswith("dev, prod (rendered/dev, rendered/prod)\n")


def test_nothing_is_a_comment_too() -> None:
    """So that an older comment can be replaced."""
    text = markdown_report(changed(STANDARD, STANDARD, "prod"))
    assert text == "<!-- kservec diff -->\n### kservec diff against `main` (`0123456789ab`)\n\n**nothing changes**\n"


def many(count: int) -> Report:
    """A report of so many new objects, and as many that changed."""

    def body(i: int, text: str) -> bytes:
        return dump(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{i:04}"}, "data": {"k": text}}
        ).encode()

    before = Side({f"a/a/{i}.yaml": body(i, "ä" * 99) for i in range(count)}, {})
    after = Side({f"a/a/{i}.yaml": body(i, "ü" * 99) for i in range(2 * count)}, {})
    return Report("main", COMMIT, (compared(Comparison("prod", "rendered", COMMITTED), before, after, ()),))


@pytest.mark.parametrize("count", [1, 100, 1000])
def test_a_comment_is_never_too_long(count: int) -> None:
    """What there is no room for is counted, and blocks are never cut in the middle."""
    text = markdown_report(many(count))
    assert len(text.encode()) <= MOST_CHARACTERS
    assert text.count("<details>") == text.count("</details>") == text.count("```diff") == (text.count("```") // 2)
    shown = text.count("<details>") + len(re.findall(r"^- `", text, re.MULTILINE))
    left_out = re.search(r"_Truncated: ([\d,]+) entr", text)
    assert shown + (int(left_out[1].replace(",", "")) if left_out else 0) == 2 * count
    assert (left_out is not None) == (count == 1000)


@pytest.mark.parametrize("limit", range(300, 1200, 37))
def test_a_footer_always_fits(limit: int) -> None:
    """However little room there is beyond the start."""
    from kservec.compare.markdown_report import Piece  # noqa: PLC0415 - this test only

    text = fitted("start\n", [Piece("x" * 120, "y" * 30), Piece("z" * 500)], limit)
    assert len(text) <= max(limit, 300)
    assert text.startswith("start\n")


NASTY = "](http://evil.example) <img src=x> @octocat `|` ``` </details> **bold**\x1b[2J"


def test_texts_of_others_are_only_text() -> None:
    """No link, mention, image or end of a block comes from a value, a name or a message."""
    bodies: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NASTY}, "data": {NASTY: text}}
        for text in ("a", NASTY)
    ]
    sides = [Side({"a/a/x.yaml": dump(body).encode()}, {}) for body in bodies]
    report = Report(NASTY, COMMIT, (compared(Comparison("prod", "rendered", COMMITTED), sides[0], sides[1], ()),))
    text = markdown_report(report)
    outside = re.sub(r"(`{3,})diff\n.*?\n\1\n", "", text, flags=re.DOTALL)
    outside = re.sub(r"`[^`\n]*`", "", outside)
    assert "<img" not in outside
    assert not re.search(r"(?<![A-Za-z0-9])@[A-Za-z]", outside)
    assert outside.count("</details>") == 1
    assert "\x1b" not in text
    assert "\x1b" not in text_report(report)
    assert json.loads(json_report(report))["environments"][0]["objects"][0]["object"]["name"] == NASTY


def test_reports_are_the_same_each_time() -> None:
    """They say nothing of when, where or in which order they were made."""
    after = edited(CANARY, ("v7", "v9"), ("trafficPercent: 10", "trafficPercent: 20"))
    for write in (text_report, json_report, markdown_report):
        assert write(changed(CANARY, after, "dev", "prod")) == write(changed(CANARY, after, "dev", "prod"))
