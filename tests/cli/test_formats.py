"""`kservec lint --format ...`: what CI systems read goes to standard output, with places from the top."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from .running import kservec

if TYPE_CHECKING:
    from pathlib import Path


def test_sarif_names_files_from_the_top_of_the_repository(work: Path) -> None:
    """Also where kservec runs in a folder of it."""
    (work / ".git").mkdir()
    (work / "ml").mkdir()
    ran = kservec(work / "ml", "lint", "--format", "sarif", "../wrong.yaml")
    (run,) = json.loads(ran.out)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert (ran.status, place["artifactLocation"]["uri"], place["region"]["startLine"]) == (1, "wrong.yaml", 12)


def test_annotations_name_files_from_the_top_of_the_repository(work: Path) -> None:
    """As GitHub places them."""
    (work / ".git").mkdir()
    (work / "ml").mkdir()
    assert "::error file=wrong.yaml,line=12" in kservec(work / "ml", "lint", "--format", "github", "../wrong.yaml").out


def test_junit_counts_errors(work: Path) -> None:
    """An error is a failed test, and a run without one a passed test."""
    for file, failures in (("wrong.yaml", "1"), ("fraud.yaml", "0")):
        root = ElementTree.fromstring(kservec(work, "lint", "--format", "junit", file).out)  # noqa: S314 - our own text
        assert (root.get("tests"), root.get("failures")) == ("1", failures)


def test_a_report_in_the_way_of_the_output(work: Path) -> None:
    """Of a build, which writes documents to standard output, the report goes to standard error."""
    ran = kservec(work, "build", "--format", "sarif", "fraud.yaml")
    assert ran.status == 0
    assert ran.out.startswith("---\n")
    assert json.loads(ran.err)["version"] == "2.1.0"
