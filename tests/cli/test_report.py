"""kservec report: what it writes, what it refuses, and what it tells."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .repositories import commit, edit, repository
from .running import KSERVEC, kservec, tree

UNIT = "units/n-payments/inferenceservice-fraud.html"


def test_a_site_is_written_and_written_again(tmp_path: Path) -> None:
    """The command says how many files there are; a second run gives the same bytes."""
    work = repository(tmp_path, built=False)
    first = kservec(work, "report", "prod", "--output", "site")
    assert (first.status, first.out) == (0, "")
    made = tree(work / "site")
    assert f"site: {len(made) - 1} files" in first.err
    assert {"index.html", "style.css", "script.js", "units.js", "images.txt", UNIT} <= made.keys()
    assert kservec(work, "report", "prod", "-o", "site").status == 0
    assert tree(work / "site") == made


def test_a_comparison_shows_both_sides(tmp_path: Path) -> None:
    """With --diff the pages show fields before and after, and which pods restart."""
    work = repository(tmp_path)
    edit(work / "services" / "fraud.yaml", "fraud/v7", "fraud/v8")
    ran = kservec(work, "report", "prod", "-o", "site", "--diff", "HEAD")
    assert ran.status == 0, ran.err
    unit, changes = ((work / "site" / name).read_text() for name in (UNIT, "changes.html"))
    for part in ("<del>s3://models/fraud/v7</del>", "<ins>s3://models/fraud/v8</ins>", ">restarted<"):
        assert part in unit
    assert "1 workload restarts" in changes
    assert f"{UNIT}#changes" in changes
    assert "restarted" in (work / "site" / "units.js").read_text()


def test_a_comparison_without_a_difference_says_so(tmp_path: Path) -> None:
    """Where nothing changes there is a page that says that."""
    work = repository(tmp_path)
    assert kservec(work, "report", "prod", "-o", "site", "--diff", "HEAD").status == 0
    assert "Nothing changes" in (work / "site" / "changes.html").read_text()
    assert 'id="changes"' not in (work / "site" / UNIT).read_text()


def test_a_unit_that_goes_is_among_the_changes(tmp_path: Path) -> None:
    """What is there no more has no page of its own; the changes name its objects."""
    work = repository(tmp_path, built=False)
    second = (work / "services" / "fraud.yaml").read_text().replace("name: fraud", "name: other")
    (work / "services" / "other.yaml").write_text(second)
    assert kservec(work, "build").status == 0
    commit(work, "second")
    (work / "services" / "other.yaml").unlink()
    assert kservec(work, "report", "prod", "-o", "site", "--diff", "HEAD").status == 0
    changes = (work / "site" / "changes.html").read_text()
    assert "payments/InferenceService/other" in changes
    assert "other-predictor" in changes


def test_errors_write_nothing(tmp_path: Path) -> None:
    """With an error in the input it is shown, the status is 1, and an earlier site stays."""
    work = repository(tmp_path, built=False)
    assert kservec(work, "report", "prod", "-o", "site").status == 0
    made = tree(work / "site")
    edit(work / "services" / "fraud.yaml", "s3://", "ftp://")
    ran = kservec(work, "report", "prod", "-o", "site")
    assert ran.status == 1
    assert "services/fraud.yaml:" in ran.err
    assert "nothing was written" in ran.err
    assert tree(work / "site") == made


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("prod",), "--output"),
        ((), "ENV"),
        (("pord", "-o", "site"), "did you mean prod"),
        (("prod", "-o", "services"), "it holds fraud.yaml, and no report"),
        (("prod", "-o", "."), "the current folder"),
        (("prod", "-o", "rendered/prod"), "the output of prod"),
        (("prod", "-o", "kservec.yaml"), "no folder"),
        (("prod", "-o", "site", "--exact"), "--exact goes with --diff"),
        (("prod", "-o", "site", "--diff", "nowhere"), "nowhere"),
        (("services", "-o", "site"), "there is no environment services"),
        (
            ("services", "-o", "site"),
            "Name files under `sources` in a kservec.yaml, and what describes the cluster under",
        ),
        (("nothing", "-o", "site"), "environments are dev, prod"),
    ],
)
def test_wrong_usage_is_told(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """Wrong arguments and folders have status 2, a sentence that says what is wrong, and write nothing."""
    work = repository(tmp_path, built=False)
    before = tree(work)
    ran = kservec(work, "report", *arguments)
    assert ran.status == 2, ran.err
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert tree(work) == before


def test_a_rendered_tree_is_never_taken_for_a_site(tmp_path: Path) -> None:
    """A folder that a build wrote is refused, wherever it lies."""
    work = repository(tmp_path)
    (work / "rendered" / "prod").rename(work / "elsewhere")
    ran = kservec(work, "report", "prod", "-o", "elsewhere")
    assert ran.status == 2
    assert "and no report" in ran.err


def test_without_a_project_there_is_no_report(tmp_path: Path) -> None:
    """The sentence names what is missing."""
    ran = kservec(tmp_path, "report", "prod", "-o", "site")
    assert ran.status == 2
    assert "kservec.yaml" in ran.err


def test_without_jinja_the_way_to_get_it_is_told(tmp_path: Path) -> None:
    """Where the library for templates is not installed the command names the extra that brings it."""
    work = repository(tmp_path, built=False)
    (work / "sitecustomize.py").write_text("import sys\nsys.modules['jinja2'] = None\n")
    ran = kservec(work, "report", "prod", "-o", "site", PYTHONPATH=str(work))
    assert KSERVEC[0] == sys.executable
    assert ran.status == 2, ran.err
    assert "kservec[report]" in ran.err
