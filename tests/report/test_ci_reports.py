"""SARIF and JUnit: their structure, their limits, and that findings stay the same ones when lines move."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from kservec.core.diagnostics import Diagnostic, Severity, Span
from kservec.core.records import evolve
from kservec.report.junit import junit_report
from kservec.report.places import from_top
from kservec.report.sarif import MOST_RESULTS, sarif_report

from .findings import ERROR, FINDINGS, FRAUD, NOTE, SOURCES, WARNING

SCHEMA = json.loads(Path(__file__).with_name("sarif.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def run_of(found: list[Diagnostic] | tuple[Diagnostic, ...]) -> dict[str, Any]:
    """The run of a SARIF log, which is valid."""
    log = json.loads(sarif_report(found))
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    return dict(run)


def prints(found: list[Diagnostic] | tuple[Diagnostic, ...]) -> set[str]:
    """The fingerprints of findings."""
    return {result["partialFingerprints"]["kservec/v1"] for result in run_of(found)["results"]}


def test_rules_and_results_fit_together() -> None:
    """Each result names its rule by id and index; the worst come first; each rule has help and a page."""
    run = run_of(FINDINGS)
    rules = run["tool"]["driver"]["rules"]
    assert [rules[r["ruleIndex"]]["id"] for r in run["results"]] == [r["ruleId"] for r in run["results"]]
    assert [r["level"] for r in run["results"]] == ["error"] * 6 + ["warning"] * 5 + ["note"]
    assert all(rule["help"]["text"] and rule["helpUri"].endswith(rule["id"].replace("/", "")) for rule in rules)


def test_no_findings_are_a_valid_log() -> None:
    """A run without findings tells code scanning that all earlier ones are gone."""
    assert run_of([])["results"] == []


def test_findings_are_located_in_the_input() -> None:
    """Lines and columns are those of the finding; odd file names are escaped; a whole file is its first line."""
    places = [r["locations"][0]["physicalLocation"] for r in run_of(FINDINGS)["results"]]
    assert places[0]["region"] == {"startLine": 4, "startColumn": 3, "endLine": 4, "endColumn": 7}
    assert {p["artifactLocation"]["uri"] for p in places} == {"isvc.yaml", "other%2Cfile.yaml", "kservec.yaml"}
    assert places[-1]["region"] == {"startLine": 1}


def test_fingerprints_stay_when_lines_move() -> None:
    """Text that is added above changes no fingerprint; another message, file or object does; equal ones differ."""
    moved = [evolve(d, span=d.span and d.span._replace(line=d.span.line + 9)) for d in FINDINGS]
    assert prints(moved) == prints(FINDINGS)
    assert len(prints(FINDINGS)) == len(FINDINGS)
    first = FINDINGS[0]
    others = [evolve(first, message="another"), evolve(first, span=Span("b.yaml", 1)), evolve(first, subject=None)]
    assert len(prints([first, first, *others])) == 5


@pytest.mark.slow
def test_what_github_would_not_show_is_left_out_and_told() -> None:
    """Of too many findings the worst stay; the log stays below ten million bytes."""
    notes = [Diagnostic(code=NOTE, message=f"note {i}", span=Span("a.yaml", i + 1)) for i in range(MOST_RESULTS)]
    error = Diagnostic(code=ERROR, message="the error", span=Span("a.yaml", 1), subject=FRAUD)
    run = run_of([*notes, error])
    assert (len(run["results"]), run["results"][0]["message"]["text"]) == (MOST_RESULTS, "the error")
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("1 finding left out")
    long = [evolve(d, message="x\U0001f600" * 500) for d in notes]
    text = sarif_report(long)
    assert 9_000_000 < len(text.encode()) < 10_000_000
    VALIDATOR.validate(json.loads(text))


def suite(found: tuple[Diagnostic, ...], sources: dict[str, str]) -> list[ElementTree.Element]:
    """The tests of a JUnit report, whose counts are right."""
    root = ElementTree.fromstring(junit_report(found, sources))  # noqa: S314 - our own text
    (only,) = root
    cases = [child for child in only if child.tag == "testcase"]
    failed = [case for case in cases if case.find("failure") is not None]
    for element in (root, only):
        assert (element.get("tests"), element.get("failures")) == (str(len(cases)), str(len(failed)))
    return cases


def test_errors_are_failed_tests() -> None:
    """Each error is a failed test of its file, warnings are output, and no name holds a line."""
    cases = suite(FINDINGS, SOURCES)
    assert [case.get("classname") for case in cases] == ["isvc.yaml"] * 6
    assert all(case.find("failure") is not None for case in cases)
    assert (cases[0].get("name"), cases[0].get("line")) == ("yaml/duplicate-key: the key `name` is here twice", "4")
    assert (
        "warning[metadata/unknown-key]: several lines" in junit_report(FINDINGS, SOURCES).partition("<system-out>")[2]
    )


def test_a_run_without_errors_passes() -> None:
    """There is one test, which passed, whatever warnings there are."""
    for found in ((), FINDINGS[-2:]):
        (case,) = suite(found, SOURCES)
        assert (case.get("name"), list(case)) == ("no errors", [])


def test_failures_of_one_name_are_told_apart() -> None:
    """Two errors with one text are two tests."""
    cases = suite((FINDINGS[0], FINDINGS[0]), SOURCES)
    assert len({case.get("name") for case in cases}) == 2


@pytest.mark.parametrize("seed", range(20))
def test_any_text_makes_a_valid_report(seed: int) -> None:
    """Control characters, quotes, markup and broken surrogates are written so that every reader takes them."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    odd = "".join(rng.choice("<>&\"']\0\x1b\x85\u2028\ud800\ufffe\U0001f600ab/\n\t:%") for _ in range(60))
    found = tuple(
        Diagnostic(code=code, message=odd, span=Span(odd, 1, 1, 1, 2), help=odd, label=odd)
        for code in (ERROR, WARNING, NOTE)
    )
    assert len(suite(found, {odd: odd})) == 1
    assert len(run_of(found)["results"]) == 3


def test_files_are_named_from_the_top_of_the_repository() -> None:
    """Wherever kservec ran; what is outside of the repository keeps its name."""
    names = ["../services/a.yaml", "b.yaml", "/repo/c.yaml", "/elsewhere/d.yaml", "../../e.yaml", "<stdin>"]
    found = [
        Diagnostic(code=WARNING, message="m", span=Span(name, 1), related=((Span(name, 2), "r"),)) for name in names
    ]
    placed = from_top([*found, Diagnostic(code=NOTE, message="m", span=None)], "/repo", "/repo/platform")
    wanted = ["services/a.yaml", "platform/b.yaml", "c.yaml", "/elsewhere/d.yaml", "../../e.yaml", "<stdin>"]
    assert [d.span.file for d in placed if d.span] == wanted
    assert [d.related[0][0].file for d in placed if d.related] == wanted
    assert placed[-1].code.severity is Severity.NOTE
