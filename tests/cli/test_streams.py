"""Streams that are closed, full or without a reader: the exit status is right, and there is no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .running import KSERVEC, SECONDS, environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no shell and no /dev/full here")

NO_DISK = "error: cannot write to standard output: No space left on device"
CASES = {
    "findings to a closed stream": ("build wrong.yaml 2>&-", 1, ""),
    "findings to a full disk": ("build wrong.yaml 2>/dev/full", 1, ""),
    "objects to a closed stream": ("build fraud.yaml >&-", 2, "error: standard output is closed"),
    "objects to a full disk": ("build fraud.yaml >/dev/full", 2, NO_DISK),
    "both closed": ("build fraud.yaml >&- 2>&-", 2, ""),
    "both full": ("build fraud.yaml >/dev/full 2>/dev/full", 2, ""),
    "objects with findings closed": ("build fraud.yaml 2>&- >/dev/null", 0, ""),
    "a tree with all closed": ("build fraud.yaml -o out <&- >&- 2>&-", 0, ""),
    "lint to a closed stream": ("lint fraud.yaml >&-", 0, "no errors"),
    "lint as JSON to a closed stream": ("lint --format json fraud.yaml >&-", 2, "error: standard output is closed"),
    "closed standard input": ("build - <&-", 2, "error: cannot read -: standard input is closed"),
    "help to a full disk": ("--help >/dev/full", 2, "error: cannot write: no space left"),
    "version to a full disk": ("--version >/dev/full", 2, "error: cannot write: no space left"),
    "version to a closed stream": ("--version >&-", 0, ""),
    "wrong usage to a closed stream": ("nope 2>&-", 2, ""),
    "wrong usage to a full disk": ("nope 2>/dev/full", 2, ""),
    "no command to a full disk": ("2>/dev/full", 2, ""),
    "no command to a closed stream": ("2>&-", 2, ""),
    "runtimes to a full disk": ("runtimes >/dev/full", 2, NO_DISK),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_stream_that_cannot_be_written(work: Path, name: str) -> None:
    """What cannot be shown is dropped; output that cannot be written is a failure."""
    arguments, status, words = CASES[name]
    ran = shell(work, f"{' '.join(KSERVEC)} {arguments}")
    assert (ran.returncode, "Traceback" in ran.stderr, "has a bug" in ran.stderr) == (status, False, False)
    assert words in ran.stderr


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("build fraud.yaml", 0),
        ("--help", 0),
        ("runtimes", 0),
        ("schema InferenceService", 0),
        ("lint --format json wrong.yaml", 1),
    ],
)
def test_a_reader_that_is_gone_before_anything_is_written(work: Path, command: str, status: int) -> None:
    """Even then it is no error, since nobody waits for the output; errors of the input are errors still."""
    program = (
        "import subprocess, sys, os; r, w = os.pipe(); os.close(r); sys.exit(subprocess.call(sys.argv[1:], stdout=w))"
    )
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program, *KSERVEC, *command.split()],
        cwd=work, env=environment(), capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert (ran.returncode, "Traceback" in ran.stderr) == (status, False)


def test_findings_that_nobody_reads_keep_their_status(work: Path) -> None:
    """`kservec build wrong.yaml 2>&1 | head -1` fails as it would with a patient reader."""
    ran = shell(work, f"set -o pipefail; {' '.join(KSERVEC)} build wrong.yaml 2>&1 | true")
    assert ran.returncode == 1


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line of bash in a folder."""
    return subprocess.run(  # noqa: S603 - our own program
        ["/bin/bash", "-c", command],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
