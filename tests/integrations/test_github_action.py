"""The GitHub Action: its metadata fit together, and its scripts do what they say, in bash with recording programs."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests import libyaml

from .workflows import faults, steps_of

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = libyaml.load((ROOT / "action.yml").read_text(encoding="utf-8"))
SCRIPTS = ROOT / "integrations" / "github"
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash")

FAKE = """#!/usr/bin/env bash
printf '%s\\n' "$(basename "$0") $*" >> "$CALLS"
printf '%b' "${OUT_{name}:-}"
case "$*" in
{cases}
esac
exit 0
"""


class Ran(NamedTuple):
    """What a script left: its status, what it wrote, which programs it called, and the files that it filled."""

    status: int
    out: str
    calls: list[str]
    files: dict[str, str]


class Place:
    """A folder with the programs that a script may call, each of which records how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()

    def program(self, name: str, **statuses: int) -> None:
        """Put a program there. `statuses`: how it ends, by the first word of its arguments."""
        cases = "\n".join(f"  {word}*) exit {status} ;;" for word, status in statuses.items()) or "  none) ;;"
        path = self.folder / "bin" / name
        path.write_text(FAKE.replace("{name}", name.upper()).replace("{cases}", cases))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run(self, script: str, **environment: str) -> Ran:
        """Run one of the action's scripts."""
        given = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(self.folder / "calls"),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_REPOSITORY": "example/ml",
            **environment,
        }
        command = [str(BASH), str(SCRIPTS / script)]
        done = subprocess.run(  # noqa: S603 - our own script
            command, cwd=self.folder, env=given, capture_output=True, text=True, timeout=60, check=False
        )
        files = {p.name: p.read_text() for p in self.folder.iterdir() if p.is_file()}
        return Ran(done.returncode, done.stdout + done.stderr, files.get("calls", "").splitlines(), files)


@pytest.fixture(name="place")
def place_fixture(tmp_path: Path) -> Place:
    """A folder to run scripts in."""
    return Place(tmp_path)


def test_the_action_is_safe() -> None:
    """Nothing of a pull request becomes part of a script, and what it uses is pinned."""
    assert faults(ACTION) == []


def test_inputs_are_used_and_declared() -> None:
    """Each input has an effect and a description, and each that is used is declared."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    body = text[text.index("runs:") :]
    used = {word.partition(" ")[0].rstrip(" }") for word in body.split("inputs.")[1:]}
    assert used == ACTION["inputs"].keys()
    assert all(value["description"].endswith(".") for value in ACTION["inputs"].values())
    assert all(isinstance(value["default"], str) for value in ACTION["inputs"].values())


def test_every_variable_of_a_script_is_given_by_its_step() -> None:
    """The scripts read no KSERVEC_ variable that neither the action nor they themselves set."""
    for step in steps_of(ACTION):
        for script in SCRIPTS.glob("*.sh"):
            if script.name in step.get("run", ""):
                text = script.read_text()
                own = set(re.findall(r"export (KSERVEC_[A-Z]+)", text))
                assert set(re.findall(r"KSERVEC_[A-Z]+", text)) - own == {
                    n for n in step.get("env", ()) if n != "GH_TOKEN"
                }


@pytest.mark.parametrize("script", sorted(p.name for p in SCRIPTS.glob("*.sh")))
def test_a_script_can_be_run(script: str) -> None:
    """Each is executable, and bash can read it."""
    path = SCRIPTS / script
    assert path.stat().st_mode & stat.S_IXUSR
    assert subprocess.run([str(BASH), "-n", str(path)], check=False).returncode == 0  # noqa: S603 - our own script


def test_a_review_of_a_pull_request(place: Place) -> None:
    """It lints, checks and compares with the base; the report is in the summary and an output."""
    place.program("kservec", diff=3)
    ran = place.run(
        "review.sh",
        KSERVEC_BASE="main",
        KSERVEC_ENVIRONMENTS="dev prod",
        KSERVEC_SARIF="out.sarif",
        OUT_KSERVEC="a report\n",
    )
    assert ran.status == 0
    assert ran.calls == [
        "kservec lint --format sarif dev prod",
        "kservec lint --format github dev prod",
        "kservec check dev prod",
        "kservec diff origin/main --format markdown --exit-code",
    ]
    assert (ran.files["summary"], ran.files["out.sarif"]) == ("a report\n", "a report\n")
    assert ran.files["output"] == f"changed=true\nreport={place.folder}/kservec-diff.md\n"


def test_a_push_is_not_compared(place: Place) -> None:
    """Without a base there is no diff, and without environments all of them are meant."""
    place.program("kservec")
    assert place.run("review.sh").calls == ["kservec lint --format github", "kservec check"]


@pytest.mark.parametrize(
    ("statuses", "status"),
    [({"lint": 1, "check": 1}, 1), ({"check": 3}, 3), ({"lint": 70}, 70), ({"diff": 2}, 1), ({}, 0)],
)
def test_the_first_failure_is_the_status(place: Place, statuses: dict[str, int], status: int) -> None:
    """What follows a failure still runs; a diff that cannot be made is a failure and leaves no report."""
    place.program("kservec", **statuses)
    ran = place.run("review.sh", KSERVEC_BASE="main")
    assert (ran.status, len(ran.calls)) == (status, 3)
    assert ("output" in ran.files) == ("diff" not in statuses)
    assert ("::error title=kservec check::" in ran.out) == (statuses.get("check") == 3)


def test_steps_can_be_left_out(place: Place) -> None:
    """What is switched off does not run."""
    place.program("kservec")
    ran = place.run("review.sh", KSERVEC_BASE="main", KSERVEC_LINT="false", KSERVEC_CHECK="false", KSERVEC_DIFF="false")
    assert (ran.status, ran.calls) == (0, [])


def test_names_of_environments_are_no_code(place: Place) -> None:
    """Whatever an input holds reaches kservec as words."""
    place.program("kservec")
    odd = "$(touch pwned) ;touch pwned `touch pwned`"
    ran = place.run("review.sh", KSERVEC_ENVIRONMENTS=odd)
    assert ran.calls[0] == f"kservec lint --format github {odd}"
    assert "pwned" not in ran.files


def comment(place: Place, **environment: str) -> Ran:
    """A run of the script that comments on pull request 7."""
    (place.folder / "report.md").write_text("# What changes\n")
    given = {"KSERVEC_PULL": "7", "KSERVEC_FOLDER": ".", "KSERVEC_CHANGED": "true"} | environment
    return place.run("comment.sh", KSERVEC_REPORT=str(place.folder / "report.md"), **given)


def test_a_comment_is_written(place: Place) -> None:
    """Without an earlier comment a new one is made, marked so that the next run finds it."""
    place.program("gh")
    ran = comment(place)
    body = place.folder / "kservec-comment.md"
    assert ran.status == 0
    assert ran.calls[1] == f"gh api --method POST repos/example/ml/issues/7/comments --field body=@{body}"
    assert body.read_text() == "<!-- kservec:. -->\n# What changes\n"


def test_a_comment_is_brought_up_to_date(place: Place) -> None:
    """The first comment of an earlier run is changed, also when nothing changes any more."""
    place.program("gh")
    ran = comment(place, OUT_GH="11\\n12\\n", KSERVEC_CHANGED="false")
    assert "--method PATCH repos/example/ml/issues/comments/11" in ran.calls[1]


def test_nothing_is_said_where_nothing_changes(place: Place) -> None:
    """A pull request that changes no rendered object gets no comment."""
    place.program("gh")
    assert len(comment(place, KSERVEC_CHANGED="false").calls) == 1


def test_a_token_that_only_reads_is_no_failure(place: Place) -> None:
    """Pull requests from forks have the summary; a notice says so."""
    place.program("gh", api=1)
    ran = comment(place)
    assert ran.status == 0
    assert "::notice title=kservec::" in ran.out


def test_the_action_installs_its_own_version(place: Place) -> None:
    """The checkout of the action, and what it needs by hashes, go into an environment that later steps find."""
    place.program("python")
    (place.folder / "kservec" / "bin").mkdir(parents=True)
    path = place.folder / "kservec" / "bin" / "python"
    place.program("record")
    shutil.copy(place.folder / "bin" / "record", path)
    ran = place.run("install.sh", GITHUB_ACTION_PATH=str(ROOT), GITHUB_PATH=str(place.folder / "path"))
    assert ran.status == 0
    assert ran.calls[0] == f"python -m venv {place.folder}/kservec"
    needed, own = (call.partition(" -m pip install --quiet --disable-pip-version-check ")[2] for call in ran.calls[1:])
    assert needed.startswith("--require-hashes ")
    assert own == f"--no-deps --no-build-isolation {ROOT}"
    assert ran.files["path"] == f"{place.folder}/kservec/bin\n"
