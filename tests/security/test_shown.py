"""Whatever specs say, what kservec writes moves no cursor, turns no text around, and gives no orders to a CI system."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from tests import libyaml
from tests.cli.running import kservec

from kservec import File, Target, compile_files
from kservec.emit import dump
from kservec.report.github import github_report
from kservec.report.json import json_report
from kservec.report.junit import junit_report
from kservec.report.sarif import sarif_report
from kservec.report.text import text_report
from kservec.report.words import json_text

from .hostile import FINE, MARK, TEXTS, spec

if TYPE_CHECKING:
    from pathlib import Path

    from kservec import Compilation

UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
COMMAND = re.compile(r"(?m)^\s*(::|##\[|##vso\[)")
OWN_COMMAND = re.compile(r"::(error|warning|notice) (file=[^:]*,)?title=[^:]*::[^\n]*")
CODE = re.compile(r"(?ms)^(`{3,})[^\n]*\n.*?^\1\s*?$|`[^`\n]+`")
PLACES = [(place, name) for place in FINE for name in TEXTS]
REPORTS = {"text": text_report, "junit": junit_report}
MACHINES = {"json": json_report, "sarif": sarif_report, "github": github_report}


def compiled(place: str, name: str) -> Compilation:
    """A spec with a hostile text in a place; the labels and annotations that are odd are known to nobody."""
    return compile_files([File("fraud.yaml", spec(place, TEXTS[name]).encode())], target=Target())


def reports(made: Compilation) -> dict[str, str]:
    """Everything that is said of a compilation, by the format."""
    shown = {name: report(made.diagnostics, made.sources) for name, report in REPORTS.items()}
    return shown | {name: report(made.diagnostics) for name, report in MACHINES.items()}


@pytest.mark.parametrize(("place", "name"), PLACES)
def test_reports_are_text_and_nothing_else(place: str, name: str) -> None:
    """No report has a control character, or a line that begins like a command but for those that are kservec's own."""
    for layout, text in reports(compiled(place, name)).items():
        assert not UNSHOWN.search(text), layout
        own = "\n".join(line for line in text.splitlines() if not OWN_COMMAND.fullmatch(line))
        assert not COMMAND.search(own if layout == "github" else text), layout


@pytest.mark.parametrize(("place", "name"), PLACES)
def test_reports_for_programs_can_be_read(place: str, name: str) -> None:
    """JSON, SARIF and JUnit stay what they are, and hold no element or field that a spec has written."""
    said = reports(compiled(place, name))
    assert set(json.loads(said["json"])) == {"diagnostics"}
    assert json.loads(said["sarif"])["version"] == "2.1.0"
    tags = {element.tag for element in ET.fromstring(said["junit"]).iter()}  # noqa: S314 - our own text
    assert not tags & {MARK, "script"}


@pytest.mark.parametrize(("place", "name"), PLACES)
def test_output_shows_what_runs(place: str, name: str) -> None:
    """Objects hold the text as it is, written so that neither terminals nor reviewers nor logs take it for another."""
    made = compiled(place, name)
    for one in made.objects:
        assert not UNSHOWN.search(one.text)
        assert not COMMAND.search(one.text)
    if place == "argument" and made.ok:
        (deployment,) = [libyaml.load(o.text) for o in made.objects if o.ref.kind == "Deployment"]
        assert TEXTS[name] in deployment["spec"]["template"]["spec"]["containers"][0]["args"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\n::error::b\n", 'a: "a\\n::error::b\\n"\n'),
        ("a\n  ##[b\n", 'a: "a\\n  ##[b\\n"\n'),
        ("a\n##vso[b]\n", 'a: "a\\n##vso[b]\\n"\n'),
        ("a\n# b: :c\n", "a: |\n  a\n  # b: :c\n"),
        ("a\u202eb", 'a: "a\\u202eb"\n'),
        ("a\u2067b", 'a: "a\\u2067b"\n'),
        ("a\u200db", 'a: "a\u200db"\n'),
    ],
)
def test_how_it_is_written(value: str, written: str) -> None:
    """Only what turns text around or begins like a command is escaped; joiners of letters stay."""
    assert dump({"a": value}) == written
    assert libyaml.load(written) == {"a": value}


def test_json_for_people_is_the_same_json() -> None:
    """Escapes change nothing of what a program reads."""
    document = {"a": "\x9b\u202e\u2028\ufeffé\n"}
    assert json.loads(json_text(document)) == document
    assert not UNSHOWN.search(json_text(document))
    assert "é" in json_text(document)


@pytest.mark.parametrize("layout", ["text", "markdown", "json"])
def test_a_difference_gives_no_orders(tmp_path: Path, layout: str) -> None:
    """What a pull request changes is quoted in its review, where Markdown and commands would be heard."""
    service = tmp_path / "services" / "fraud.yaml"
    service.parent.mkdir()
    (tmp_path / "kservec.yaml").write_text(
        "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [services]\nenvironments: {prod: {}}\n"
    )
    service.write_text(spec("annotation", "fine"))
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *identity, *command], cwd=tmp_path, check=True)  # noqa: S603, S607
    service.write_text(spec("annotation", "\n".join(TEXTS.values())))
    ran = kservec(tmp_path, "diff", "--format", layout, "prod")
    assert ran.status == 0, ran.err
    assert MARK in ran.out
    assert not UNSHOWN.search(ran.out)
    assert not COMMAND.search(ran.out)
    if layout == "markdown":
        assert MARK not in CODE.sub("", ran.out)
