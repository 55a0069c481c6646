"""Wrong usage: exit status 2, one line that says what is wrong, and nothing on standard output."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .running import SECONDS, environment, kservec

if TYPE_CHECKING:
    from pathlib import Path

WRONG_USAGE = {
    "no command of that name": (("biuld",), "there is no command biuld; did you mean build?"),
    "no such option": (("build", "--outptu", "x", "fraud.yaml"), "No such option '--outptu'"),
    "a value that is none of the choices": (("build", "--catalog", "all", "fraud.yaml"), "'all' is not one of"),
    "an absent kind that is empty": (("build", "--absent", "", "fraud.yaml"), "a kind is empty"),
    "an absent kind that is none": (
        ("lint", "--absent", "nonsense", "fraud.yaml"),
        "asks for a kind 'nonsense'",
    ),
    "an absent kind in the wrong case": (
        ("build", "--absent", "virtualservice", "fraud.yaml"),
        "did you mean VirtualService?",
    ),
    "an absent kind of the wrong group": (
        ("runtimes", "--absent", "keda.sh/v1/ScaledObject"),
        "did you mean keda.sh/v1alpha1/ScaledObject?",
    ),
    "an empty path": (("build", "fraud.yaml", ""), "a path is empty; the current folder is `.` (see"),
    "an empty path of the platform": (("lint", "--platform", "", "fraud.yaml"), "a path is empty"),
    "an empty path for the output": (("build", "-o", "", "fraud.yaml"), "choose a folder of its own"),
    "output with an endless name": (("build", "-o", "x" * 5000, "fraud.yaml"), "File name too long"),
    "an endless path": (("lint", "x" * 5000), "File name too long"),
    "nothing to compile": (("build",), "nothing to compile: name files or folders, or - for standard input"),
    "nothing to lint": (("lint",), "nothing to compile"),
    "a path that is not there": (("build", "nope.yaml"), "cannot read nope.yaml: No such file or directory"),
    "a platform that is not there": (("build", "--platform", "nope", "fraud.yaml"), "cannot read nope: No such file"),
    "a folder without YAML": (("build", "empty"), "cannot read empty: no YAML or JSON file in this folder"),
    "a rendered tree": (("build", "tree"), "cannot read tree: it is a tree that kservec wrote"),
    "standard input twice": (("build", "-", "-"), "cannot read -: standard input can be read once only"),
    "a folder with a device alone": (("build", "devices"), "cannot read devices: no YAML or JSON file in this folder"),
    "output that is a file": (("build", "--output", "fraud.yaml", "fraud.yaml"), "'fraud.yaml' is a file"),
    "output and stdout": (("build", "-o", "out", "--stdout", "fraud.yaml"), "--output and --stdout exclude each other"),
    "force without output": (("build", "--force", "fraud.yaml"), "--force goes with --output"),
    "layout without output": (("build", "--layout", "single", "fraud.yaml"), "--layout goes with --output"),
    "output around the current folder": (("build", "-o", ".", "fraud.yaml"), "choose a folder of its own"),
    "output that is a repository": (("build", "-o", "repo", "fraud.yaml"), "choose a folder of its own"),
    "output that is a pipe": (("build", "-o", "pipe", "fraud.yaml"), "this is no folder"),
    "output that is a dash": (
        ("build", "-o", "-", "fraud.yaml"),
        "for standard output there is --stdout",
    ),
    "a cache that is a dash": (("lint", "--cache", "-", "fraud.yaml"), "- is no folder"),
    "a new project that is a dash": (("import", "--output", "-", "fraud.yaml"), "- is no folder"),
    "output in use for something else": (("build", "-o", "project", "fraud.yaml"), "it holds other folders"),
    "output below a file": (("build", "-o", "fraud.yaml/out", "fraud.yaml"), "cannot write"),
    "previous that is no tree": (("build", "--previous", "empty", "fraud.yaml"), "no tree that kservec wrote"),
    "an unknown format": (("runtimes", "sklern"), "no runtime serves sklern; did you mean sklearn?"),
    "an unknown kind": (("schema", "Inferenceservice"), "did you mean InferenceService?"),
    "an unknown shell": (("completion", "csh"), "'csh' is not one of"),
}


@pytest.mark.parametrize("name", WRONG_USAGE)
def test_wrong_usage(work: Path, name: str) -> None:
    """The line names what is wrong and where to read more; no file is written."""
    (work / "empty").mkdir()
    (work / "devices").mkdir()
    (work / "devices" / "null.yaml").symlink_to("/dev/null")
    (work / "repo" / ".git").mkdir(parents=True)
    os.mkfifo(work / "pipe")
    (work / "project" / "services").mkdir(parents=True)
    (work / "tree").mkdir()
    (work / "tree" / "kservec.index.json").write_text("{}\n")
    arguments, reason = WRONG_USAGE[name]
    ran = kservec(work, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert reason in ran.err
    assert ran.err.count("\n") == 1
    assert not (work / "out").exists()
    assert stat.S_ISFIFO((work / "pipe").stat().st_mode)


@pytest.mark.parametrize("arguments", [
    ("build", "SPECIAL"), ("lint", "fraud.yaml", "--platform", "SPECIAL"), ("import", "SPECIAL", "--output", "out"),
    ("lint", "fraud.yaml", "--facts", "SPECIAL"),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_might_never_be_written_is_refused(work: Path, kind: str, arguments: tuple[str, ...]) -> None:
    """A pipe that is named may have no writer, and nobody writes to a socket by its name: neither is waited for."""
    special = work / "special"
    if kind == "pipe":
        os.mkfifo(special)
    else:
        with contextlib.chdir(work), socket.socket(socket.AF_UNIX) as listener:
            listener.bind(special.name)
    ran = kservec(work, *("special" if argument == "SPECIAL" else argument for argument in arguments))
    assert ran.status == 2
    assert f"error: cannot read special: it is a {kind}" in ran.err
    assert ("- < special" in ran.err) == (kind == "pipe")


def test_what_a_shell_puts_in_the_place_of_a_file_is_read(work: Path) -> None:
    """Process substitutions, a named pipe as standard input, and one that is open already; so is a device."""
    writing = "mkfifo named; { cat fraud.yaml > named; touch written; } & "
    for command in (
        "build <(cat fraud.yaml)",
        "build /dev/stdin < fraud.yaml",
        "build fraud.yaml --platform /dev/null",
    ):
        ran = shell(work, f"kservec {command}")
        assert (ran.returncode, ran.stderr) == (0, ""), command
        assert "kind: Deployment" in ran.stdout
    for path, number in {"-": 0, "/dev/stdin": 0, "/dev/fd/5": 5}.items():
        reading = "while [ ! -e written ]; do sleep 0.01; done"
        ran = shell(work, f"{writing} {{ {reading}; kservec build {path}; }} {number}< named; rm named written")
        assert ran.returncode == 0, ran.stderr
        assert "kind: Deployment" in ran.stdout


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line of bash in a folder, with `kservec` as this interpreter has it."""
    function = 'kservec() { "$PYTHON" -m kservec "$@"; }; '
    return subprocess.run(  # noqa: S603 - our own program
        ["/bin/bash", "-c", function + command],
        cwd=folder,
        env=environment(PYTHON=sys.executable),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_no_arguments_show_the_help(work: Path) -> None:
    """`kservec` alone is no command: it shows what there is, and exits as wrong usage does."""
    ran = kservec(work)
    assert ran.status == 2
    assert "build" in ran.err
    assert "completion" in ran.err


@pytest.mark.parametrize("command", ["build", "lint", "runtimes", "schema", "completion"])
def test_every_command_explains_itself(work: Path, command: str) -> None:
    """`--help` ends well and fits into 80 columns."""
    ran = kservec(work, command, "--help", COLUMNS="80")
    assert ran.status == 0
    assert ran.out.startswith(f"Usage: kservec {command}")
    assert all(len(line) <= 80 for line in ran.out.splitlines())
