"""Streams that are closed, full, slow or without a reader: the exit status is right, and there is no traceback."""

from __future__ import annotations

import ast
import contextlib
import os
import pty
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from .running import KSERVEC, SECONDS, SERVICE, environment, kservec

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


NOT_BLOCKING = """\
import fcntl, os, sys
for stream in (1, 2):
    fcntl.fcntl(stream, fcntl.F_SETFL, fcntl.fcntl(stream, fcntl.F_GETFL) | os.O_NONBLOCK)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def on_a_terminal(work: Path, *command: str, blocks: bool, reads: bool = True) -> tuple[int, bytes]:
    """How a command ends whose streams are a terminal, and what its slow reader saw, or none that hangs up at once."""
    ours, theirs = pty.openpty()
    first = () if blocks else ("-c", NOT_BLOCKING)
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, *first, *command], cwd=work, env=environment(TERM="dumb"), stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        with open(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):  # the last end was closed
            while reads and (part := terminal.read(700)):
                seen += part
                time.sleep(0.001)
        return process.wait(timeout=SECONDS), seen


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", [(), ("-u",)], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("blocks", [True, False], ids=["that blocks", "that does not block"])
@pytest.mark.parametrize("arguments", ["build many.yaml", "build --help", "lint wrong.yaml"])
def test_a_slow_terminal_gets_all(work: Path, arguments: str, *, blocks: bool, unbuffered: tuple[str, ...]) -> None:
    """However little it takes at once, nothing is left out and nothing fails."""
    (work / "many.yaml").write_text("---\n".join(SERVICE.replace("fraud", f"fraud-{i}") for i in range(12)))
    wanted = kservec(work, *arguments.split(), TERM="dumb")
    status, seen = on_a_terminal(work, *unbuffered, *KSERVEC[1:], *arguments.split(), blocks=blocks)
    assert status == wanted.status
    assert seen.decode().replace("\r\n", "\n") == wanted.out + wanted.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status"), [("build fraud.yaml", 2), ("--help", 2), ("lint wrong.yaml", 1), ("nope", 2)]
)
@pytest.mark.parametrize("blocks", [True, False], ids=["that blocks", "that does not block"])
def test_a_terminal_that_hangs_up(work: Path, arguments: str, status: int, *, blocks: bool) -> None:
    """Output that nobody gets is a failure as for other programs, what is said beside it is not; neither is a bug."""
    assert on_a_terminal(work, *KSERVEC[1:], *arguments.split(), blocks=blocks, reads=False)[0] == status


def test_a_pipe_that_does_not_block_gets_all(work: Path) -> None:
    """The other end of a pipe decides for both."""
    (work / "many.yaml").write_text("---\n".join(SERVICE.replace("fraud", f"fraud-{i}") for i in range(80)))
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with subprocess.Popen([*KSERVEC, "build", "many.yaml"], cwd=work, env=environment(), stdout=theirs) as process:  # noqa: S603
        os.close(theirs)
        with open(ours, "rb") as pipe:
            time.sleep(0.5)
            seen = pipe.read().decode()
        assert process.wait(timeout=SECONDS) == 0
    assert seen == kservec(work, "build", "many.yaml").out


@pytest.mark.slow
@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_input_that_comes_bit_by_bit(work: Path, kind: str, path: str) -> None:
    """A pipe or socket that does not block is read to its end, too, as some programs leave standard input."""
    if kind == "pipe":
        reading, writing = os.pipe()
    else:
        reading, writing = (end.detach() for end in socket.socketpair())
    os.set_blocking(reading, False)
    with subprocess.Popen(  # noqa: S603 - our own program
        [*KSERVEC, "build", path], cwd=work, env=environment(), stdin=reading, stdout=subprocess.PIPE
    ) as process:
        os.close(reading)
        with open(writing, "wb", buffering=0) as writer:
            for part in (SERVICE[:50], SERVICE[50:]):
                time.sleep(0.4)
                writer.write(part.encode())
        assert process.stdout is not None
        assert process.stdout.read().decode() == kservec(work, "build", "fraud.yaml").out
        assert process.wait(timeout=SECONDS) == 0


IN_PYTHON = """\
import io, sys
from contextlib import redirect_stderr, redirect_stdout
from kservec.__main__ import main
sys.argv = ["kservec", *sys.argv[1:]]
sys.stdin = io.StringIO(open("fraud.yaml").read())
out, err = io.StringIO(), io.StringIO()
with redirect_stdout(out), redirect_stderr(err):
    status = main()
print([status, out.getvalue(), err.getvalue()])
"""


@pytest.mark.parametrize(
    "arguments",
    [
        "build fraud.yaml",
        "build -",
        "lint --format json wrong.yaml",
        "--help",
        "--version",
        "nope",
        "build --help",
        "-V",
    ],
)
def test_streams_of_text_take_the_place_of_others(work: Path, arguments: str) -> None:
    """Whoever calls it from Python finds what the command would have written."""
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", IN_PYTHON, *arguments.split()],
        cwd=work, env=environment(), capture_output=True, text=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    wanted = kservec(work, *arguments.split(), given=SERVICE)
    assert ast.literal_eval(ran.stdout) == list(wanted)


@pytest.mark.parametrize("state", ["sys.stdout.close()", "sys.stdout = None"])
def test_a_stream_that_python_has_closed(work: Path, state: str) -> None:
    """It is as one that the shell has closed."""
    code = f"import sys; from kservec.__main__ import main; sys.argv[0] = 'kservec'; {state}; sys.exit(main())"
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code, "build", "fraud.yaml"],
        cwd=work, env=environment(), stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert (ran.returncode, "error: standard output is closed" in ran.stderr) == (2, True)
