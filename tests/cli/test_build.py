"""kservec build and lint: exit statuses, what goes to which stream, and that an error writes nothing."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from .running import KSERVEC, SERVICE, environment, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

RED = "\x1b[1;31m"


def test_objects_go_to_standard_output(work: Path) -> None:
    """Without --output, and with --stdout, the documents are written there; standard error stays empty."""
    ran = kservec(work, "build", "fraud.yaml")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("---\napiVersion: apps/v1\nkind: Deployment\n")
    assert kservec(work, "build", "--stdout", "fraud.yaml") == ran


def test_standard_input_is_a_file(work: Path) -> None:
    """`-` reads standard input, and gives what the file gives."""
    assert kservec(work, "build", "-", given=SERVICE).out == kservec(work, "build", "fraud.yaml").out


def test_a_file_that_is_named_twice_is_read_once(work: Path) -> None:
    """The same file under two names is one file, not two objects of one name."""
    (work / "services").mkdir()
    (work / "services" / "link.yaml").symlink_to(work / "fraud.yaml")
    assert kservec(work, "build", "fraud.yaml", "./fraud.yaml", "services").status == 0


def test_a_pipe_can_be_read(work: Path) -> None:
    """A pipe that is named, such as a shell's process substitution, is read to its end."""
    read, written = os.pipe()
    os.write(written, SERVICE.encode())
    os.close(written)
    command = [*KSERVEC, "build", f"/dev/fd/{read}"]
    done = subprocess.run(command, cwd=work, env=environment(), pass_fds=[read], capture_output=True, check=False)  # noqa: S603
    os.close(read)
    assert (done.returncode, done.stderr) == (0, b"")


EMPTY = {"nothing": "", "a mark": "---\n", "comments": "# a\n---\n# b\n", "an empty list": "kind: List\nitems: []\n"}


@pytest.mark.parametrize("what", EMPTY)
@pytest.mark.parametrize(
    "options", [("--stdout",), ("--output", "rendered"), ("--format", "github")], ids=lambda o: o[0]
)
def test_nothing_to_compile_is_told(work: Path, what: str, options: tuple[str, ...]) -> None:
    """A file without a document is no error, and never passes for a service that was compiled."""
    (work / "fraud.yaml").write_text(EMPTY[what])
    ran = kservec(work, "build", "fraud.yaml", *options)
    assert (ran.status, ran.out) == (0, "")
    assert ran.err.count("input/nothing-to-compile") == 1
    found = json.loads(kservec(work, "lint", "fraud.yaml", "--format", "json").out)["diagnostics"]
    assert [(d["severity"], d["location"]["file"]) for d in found] == [("warning", "fraud.yaml")]


def test_standard_input_without_anything_to_compile(work: Path) -> None:
    """As where a template renders nothing."""
    assert "there is no document in <stdin>" in kservec(work, "build", "-", given="").err


def test_a_file_of_comments_among_others_is_silent(work: Path) -> None:
    """Only a run as a whole that compiles nothing is worth a word."""
    (work / "notes.yaml").write_text("# a\n")
    assert "compile" not in kservec(work, "lint", "fraud.yaml", "notes.yaml").err


def test_output_writes_a_tree(work: Path) -> None:
    """--output writes one file for each object, a kustomization for each folder and the index; stdout stays empty."""
    ran = kservec(work, "build", "fraud.yaml", "--output", "rendered")
    assert (ran.status, ran.out, ran.err) == (0, "", "rendered: 8 files written\n")
    assert sorted(tree(work / "rendered")) == [
        "kservec.index.json",
        "kustomization.yaml",
        "payments/fraud/deployment-fraud-predictor.yaml",
        "payments/fraud/horizontalpodautoscaler-fraud-predictor.yaml",
        "payments/fraud/ingress-fraud.yaml",
        "payments/fraud/kustomization.yaml",
        "payments/fraud/service-fraud-predictor.yaml",
        "payments/kustomization.yaml",
    ]
    assert kservec(work, "build", "fraud.yaml", "--output", "rendered").err == "rendered: up to date\n"


def test_one_file_has_all_objects(work: Path) -> None:
    """--layout single writes what --stdout prints into one file, which the kustomization lists."""
    assert kservec(work, "build", "fraud.yaml", "-o", "rendered", "--layout", "single").status == 0
    made = tree(work / "rendered")
    assert sorted(made) == ["kservec.index.json", "kustomization.yaml", "objects.yaml"]
    assert made["objects.yaml"].decode() == kservec(work, "build", "fraud.yaml").out


@pytest.mark.parametrize("output", [(), ("--output", "rendered")])
def test_after_an_error_nothing_is_written(work: Path, output: tuple[str, ...]) -> None:
    """One service is wrong: exit status 1, no object on standard output and no folder, though another is fine."""
    ran = kservec(work, "build", "wrong.yaml", "context.yaml", *output)
    assert (ran.status, ran.out) == (1, "")
    assert "wrong.yaml:12:19" in ran.err
    assert ran.err.endswith("; nothing was written\n")
    assert not (work / "rendered").exists()


def test_an_error_leaves_the_last_tree(work: Path) -> None:
    """A build that fails does not touch what an earlier one wrote."""
    kservec(work, "build", "fraud.yaml", "--output", "rendered")
    before = tree(work / "rendered")
    assert kservec(work, "build", "wrong.yaml", "--output", "rendered").status == 1
    assert tree(work / "rendered") == before


def test_notes_are_counted_and_shown_on_request(work: Path) -> None:
    """`build` counts notes, `build --notes` and `lint` show them; `lint --no-notes` counts."""
    assert kservec(work, "build", "context.yaml").err == "1 note (--notes shows them)\n"
    for command in (("build", "--notes"), ("lint",)):
        assert "note[input/context]" in kservec(work, *command, "context.yaml").err
    assert "note[" not in kservec(work, "lint", "--no-notes", "context.yaml").err


def test_lint_writes_nothing_but_findings(work: Path) -> None:
    """Text goes to standard error; the exit status is that of a build."""
    assert kservec(work, "lint", "fraud.yaml") == (0, "", "no errors: 4 objects\n")
    ran = kservec(work, "lint", "wrong.yaml")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.endswith("1 error\n")


def test_findings_as_json(work: Path) -> None:
    """JSON goes to standard output from `lint`, and to standard error from `build`, where objects may follow."""
    ran = kservec(work, "lint", "--format", "json", "wrong.yaml")
    assert (ran.status, ran.err) == (1, "")
    (found,) = json.loads(ran.out)["diagnostics"]
    assert (found["code"], found["severity"]) == ("storage/unknown-scheme", "error")
    assert found["location"] == {"file": "wrong.yaml", "line": 12, "column": 19, "endLine": 12, "endColumn": 40}
    built = kservec(work, "build", "--format", "json", "wrong.yaml")
    assert (built.status, built.out, built.err) == (1, "", ran.out)
    assert json.loads(kservec(work, "lint", "--format", "json", "fraud.yaml").out) == {"diagnostics": []}


def test_findings_as_annotations(work: Path) -> None:
    """GitHub's workflow commands name file, line and code."""
    ran = kservec(work, "lint", "--format", "github", "wrong.yaml")
    assert ran.out.startswith(
        "::error file=wrong.yaml,line=12,endLine=12,col=19,endColumn=40,title=storage/unknown-scheme::"
    )


def on_a_terminal(work: Path, *arguments: str, **changes: str) -> str:
    """What kservec writes to standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    done = subprocess.run(  # noqa: S603 - our own program
        [*KSERVEC, *arguments],
        cwd=work,
        env=environment(**changes),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        check=False,
    )
    os.close(theirs)
    written = ""
    with open(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):
        written = terminal.read(100_000).decode()  # fails if the other end is closed and nothing was written
    assert done.returncode in (0, 1), written
    return written


def test_colours_only_on_a_terminal(work: Path) -> None:
    """A terminal gets colours; a pipe, NO_COLOR and a dumb terminal do not, nor is there a line of progress."""
    assert RED in on_a_terminal(work, "build", "wrong.yaml", TERM="xterm")
    assert "\x1b" not in on_a_terminal(work, "build", "wrong.yaml", TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(work, "build", "wrong.yaml", TERM="dumb")
    assert "\x1b" not in kservec(work, "build", "wrong.yaml", TERM="xterm").err
    assert "compiling" not in on_a_terminal(work, "build", "fraud.yaml", TERM="xterm")


def test_a_reader_that_goes_away_is_no_error(work: Path) -> None:
    """`kservec build | head -1` ends quietly."""
    many = "---\n".join(SERVICE.replace("fraud", f"fraud-{i}") for i in range(40))
    (work / "many.yaml").write_text(many)
    command = [*KSERVEC, "build", "many.yaml"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=work, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_named(work: Path) -> None:
    """Output that cannot be written is no success and no bug."""
    command = [*KSERVEC, "build", "fraud.yaml"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, cwd=work, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603
    assert done.returncode == 2
    assert done.stderr == b"error: cannot write to standard output: No space left on device\n"


def test_an_interrupt_ends_with_130(work: Path) -> None:
    """Ctrl-C ends the program at once, with a word instead of a traceback."""
    command = [*KSERVEC, "build", "-"]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=work, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in err


def wait_until_reading(pid: int) -> None:
    """Wait until a process sleeps in a read of its standard input."""
    for _ in range(300):
        time.sleep(0.05)
        try:
            with open(f"/proc/{pid}/syscall") as state:
                if state.read().startswith("0 0x0 "):
                    return
        except OSError:
            continue
    time.sleep(1)


def test_the_encoding_of_the_terminal_does_not_matter(work: Path) -> None:
    """Output is UTF-8 and findings are shown, whatever the locale."""
    (work / "fraud.yaml").write_text(SERVICE.replace("models/fraud", "models/Zürich"), encoding="utf-8")
    changes = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    ran = kservec(work, "build", "fraud.yaml", **changes)
    assert ran.status == 0
    assert "models/Zürich" in ran.out


BUG = """
import sys
import kservec.pipeline
def broken(unit, env):
    raise KeyError("the-value-must-not-appear")
kservec.pipeline.pass_of = lambda name: broken
from kservec.__main__ import main
sys.argv = ["kservec", *sys.argv[1:]]
sys.exit(main())
"""


def broken_kservec(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a kservec that has a bug in a pass."""
    command = [sys.executable, "-c", BUG, *arguments]
    return subprocess.run(command, cwd=work, env=environment(), capture_output=True, text=True, check=False)  # noqa: S603


def test_a_bug_is_reported_as_one(work: Path) -> None:
    """A bug ends with 70 and a report that helps to find it, without a value of the user's files and without output."""
    done = broken_kservec(work, "build", "fraud.yaml", "--output", "rendered")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("kservec has a bug")
    for part in ("compiling InferenceService payments/fraud", "KeyError", "pipeline.py", "kservec build", "/issues"):
        assert part in done.stderr
    assert "the-value-must-not-appear" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not (work / "rendered").exists()


def test_debug_shows_the_traceback_of_a_bug(work: Path) -> None:
    """`kservec --debug` adds the whole traceback."""
    done = broken_kservec(work, "--debug", "build", "fraud.yaml")
    assert done.returncode == 70
    assert "KeyError: 'the-value-must-not-appear'" in done.stderr


def test_a_tree_is_not_emptied_by_mistake(work: Path) -> None:
    """Input that holds nothing to compile leaves a rendered tree alone, unless that is asked for."""
    assert kservec(work, "build", "fraud.yaml", "-o", "out").status == 0
    before = sorted(path.name for path in (work / "out").rglob("*"))
    (work / "nothing.yaml").write_text("# all services are gone\n")
    ran = kservec(work, "build", "nothing.yaml", "-o", "out")
    assert ran.status == 2
    assert "--allow-empty" in ran.err
    assert sorted(path.name for path in (work / "out").rglob("*")) == before
    assert kservec(work, "build", "nothing.yaml", "-o", "out", "--allow-empty").status == 0
    assert sorted(path.name for path in (work / "out").rglob("*")) == ["kservec.index.json", "kustomization.yaml"]
