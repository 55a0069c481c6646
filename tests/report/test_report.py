"""Each format is what is committed in this folder; `pytest --snapshot-update` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kservec.core.diagnostics import Diagnostic, Severity, Span
from kservec.report.github import SHOWN, github_report
from kservec.report.json import json_report
from kservec.report.junit import junit_report
from kservec.report.sarif import sarif_report
from kservec.report.text import cells, summary, text_report

from .findings import ERROR, FINDINGS, NOTE, SOURCES, WARNING

FOLDER = Path(__file__).parent
MADE = {
    "findings.txt": lambda: text_report(FINDINGS, SOURCES),
    "findings.coloured.txt": lambda: text_report(FINDINGS[:1], SOURCES, colour=True),
    "findings.json": lambda: json_report(FINDINGS),
    "findings.github.txt": lambda: github_report(FINDINGS),
    "findings.junit.xml": lambda: junit_report(FINDINGS, SOURCES | {"fine.yaml": ""}),
    "findings.sarif": lambda: json.dumps(json.loads(sarif_report(FINDINGS)), indent=1) + "\n",
}


@pytest.mark.parametrize("name", MADE)
def test_a_format_gives_what_is_committed(name: str, snapshot_update: bool) -> None:
    """Every byte of the report is what is committed."""
    made = MADE[name]().encode()
    if snapshot_update:
        (FOLDER / name).write_bytes(made)
    assert made.decode() == (FOLDER / name).read_bytes().decode()


def test_carets_stand_below_what_they_mean() -> None:
    """In columns of a terminal, the carets are as wide as the text above them and begin where it begins."""
    lines = text_report(FINDINGS, SOURCES).splitlines()
    for number, line in enumerate(lines):
        if "^" not in line:
            continue
        above, carets = lines[number - 1].partition("| ")[2], line.partition("| ")[2].rstrip()
        start, width = carets.index("^"), carets.count("^")
        assert carets[start : start + width] == "^" * width
        assert start + width <= cells(above) + 1
    wide = next(line for line in lines if "数据模型" in line)
    carets = lines[lines.index(wide, lines.index("error[yaml/duplicate-key]: wide characters")) + 1]
    assert carets.partition("| ")[2].index("^") == cells(wide.partition("| ")[2].partition("数")[0])
    assert carets.count("^") == 8


def test_nothing_moves_the_cursor() -> None:
    """Control characters of the input never reach the terminal, neither through messages nor through excerpts."""
    text = text_report(FINDINGS, SOURCES | {"isvc.yaml": SOURCES["isvc.yaml"].replace("name", "n\x1b\u202eame")})
    assert text.replace("\n", "").isprintable()


def test_lines_are_not_long() -> None:
    """Of a long line only the part around what is wrong is shown."""
    assert max(len(line) for line in text_report(FINDINGS, SOURCES).splitlines()) < 160


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_the_parser_counts(newline: str) -> None:
    """A line ends with LF, CR LF or CR only: other separators of Unicode are part of a line."""
    text = newline.join(("a: 1", "b: x\x0b\x85\u2028y", "c: 3"))
    found = Diagnostic(code=ERROR, message="here", span=Span("f.yaml", 3, 1, 3, 2))
    assert "3 | c: 3\n" in text_report([found], {"f.yaml": text})


def test_the_summary_counts() -> None:
    """The worst come first, with the right number of the noun."""
    assert summary(FINDINGS) == "6 errors, 5 warnings, 1 note"
    assert summary(FINDINGS[:1]) == "1 error"
    assert summary(()) == ""


def test_json_is_json() -> None:
    """Every finding is an entry, in the order given; half a surrogate pair does not break the document."""
    half = Diagnostic(code=NOTE, message="half \ud800", span=None)
    entries = json.loads(json_report((*FINDINGS, half)))["diagnostics"]
    assert [e["message"] for e in entries[:-1]] == [d.message for d in FINDINGS]
    assert [e["severity"] for e in entries][-2:] == ["note", "note"]


def test_annotations_beyond_what_github_shows_are_counted() -> None:
    """Ten annotations of a level are shown; with more, the tenth says how many there are."""
    for count in (SHOWN, SHOWN + 1, 2500):
        found = [Diagnostic(code=WARNING, message=f"number {i}", span=None) for i in range(count)]
        lines = github_report(found).splitlines()
        assert len(lines) == SHOWN
        assert lines[0].endswith("::number 0")
    assert lines[-1] == "::warning::2,491 more warnings; run kservec lint to see all of them"
    assert Severity.WARNING is WARNING.severity


def test_the_first_of_each_code_is_shown_before_those_that_repeat() -> None:
    """A code that is found often hides no other one."""
    many = [Diagnostic(code=ERROR, message=f"number {i}", span=None) for i in range(50)]
    other = Diagnostic(code=ERROR._replace(slug="storage/unknown-scheme"), message="the other", span=None)
    lines = github_report([*many, other]).splitlines()
    assert lines[0].endswith("::number 0")
    assert lines[1].endswith("::the other")
    assert lines[-1] == "::error::42 more errors; run kservec lint to see all of them"
