"""Crews of several processes give what one process gives, whatever happens to them."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.running import environment, kservec, tree
from tests.golden.cases import Case, cases, compiled, inputs
from tests.golden.projects import projects, rendered

from kservec import pipeline
from kservec.__main__ import main
from kservec.api import compile_files
from kservec.core.additions import Additions
from kservec.core.policy import Policy
from kservec.core.records import evolve
from kservec.environments import render, together
from kservec.io import crew as crews
from kservec.io.crew import FORK, SPAWN, processors, several
from kservec.io.workspace import open_workspace
from kservec.project.reading import PROJECT_FILE
from kservec.workshop import Workshop, alone, batches

from .making import broken_environment, services, target, working_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.api import Compilation
    from kservec.workshop import Made

MAX_BYTES = 16 << 20
JUDGED = evolve(target(), additions=Additions(policy=Policy(asks_level=True)))
"""With a policy each object carries what was found in it."""

SLOW = """\
import time
from kservec.__main__ import main
from kservec.workshop import Workshop
made = Workshop.made
Workshop.made = lambda self, batch: time.sleep(0.3) or made(self, batch)
raise SystemExit(main())
"""


def through_a_pipe(workshop: Workshop) -> Iterator[list[Made]]:
    """What becomes of units as another process would hand it over."""
    for made in alone(workshop):
        yield pickle.loads(pickle.dumps(made))  # noqa: S301 - our own


def alike(one: Compilation, other: Compilation) -> None:
    """Two results are the same to the last byte."""
    assert one.objects == other.objects
    assert [o.text for o in one.objects] == [o.text for o in other.objects]
    assert one.diagnostics == other.diagnostics
    assert (one.urls, one.sources) == (other.urls, other.sources)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_what_is_handed_over_is_all_that_counts(case: Case) -> None:
    """Every golden case gives the same objects and findings if they come through a pipe."""
    files, described = inputs(case)
    alike(compile_files(files, target=described, crew=through_a_pipe), compiled(case))


@pytest.mark.slow
@pytest.mark.parametrize("case", projects(), ids=str)
def test_projects_judge_what_was_handed_over(case: Case) -> None:
    """Every golden project gives the same trees and findings, its policy's too, if objects come through a pipe."""
    known = rendered(case)
    with contextlib.chdir(case.folder / case.project):
        workspace = open_workspace(Path(PROJECT_FILE), MAX_BYTES).workspace
        names = workspace.environments if workspace else ()
        made = together(workspace, [render(workspace, n, crew=through_a_pipe) for n in names]) if workspace else []
    assert [r.tree for r in made] == [r.tree for r in known.renderings]
    assert [r.diagnostics for r in made] == [r.diagnostics for r in known.renderings]


@pytest.mark.slow
@pytest.mark.parametrize("method", [FORK, SPAWN])
@pytest.mark.parametrize("files", [working_environment(), broken_environment()], ids=["working", "broken"])
def test_several_processes_give_what_one_gives(method: str, files: list) -> None:
    """The same objects and findings in the same order, however workers are started: duplicates, shared objects, graphs.

    So it is with a policy, and with services that need to know of each other.
    """
    one = compile_files(files, target=JUDGED)
    several_made = compile_files(files, target=JUDGED, crew=several(3, method, least=1))
    alike(several_made, one)
    slugs = {d.code.slug for d in one.diagnostics}
    assert one.ok or slugs >= {"input/object-twice", "output/object-twice", "graph/service-not-found"}


def test_the_number_of_processes_does_not_matter() -> None:
    """Two workers, or more than there are batches."""
    files = services(100)
    one = compile_files(files, target=target())
    for jobs in (1, 2, 50):
        alike(compile_files(files, target=target(), crew=several(jobs, FORK, least=1)), one)


def killed_in(place: int):
    """A `made` whose process is killed with the batch that begins at a place."""
    made, home = Workshop.made, os.getpid()

    def fatal(self: Workshop, batch: range) -> list[Made]:
        if batch.start == place and os.getpid() != home:
            os.kill(os.getpid(), signal.SIGKILL)
        return made(self, batch)

    return fatal


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 64])
def test_the_work_of_a_killed_worker_is_not_lost(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is killed, for want of memory perhaps, changes nothing."""
    files = services(150)
    one = compile_files(files, target=target())
    monkeypatch.setattr(Workshop, "made", killed_in(place))
    alike(compile_files(files, target=target(), crew=several(2, FORK, least=1)), one)


def test_without_any_worker_left_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that end before they begin leave everything to this process."""
    files = services(150)
    one = compile_files(files, target=target())
    monkeypatch.setattr(crews, "work", lambda *_: None)
    alike(compile_files(files, target=target(), crew=several(2, FORK, least=1)), one)


def test_a_bug_in_a_worker_is_reported_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It ends with 70 and the report that one process gives, with the unit and the place, and no traceback."""
    for file in services(300):
        (tmp_path / Path(file.name).name).write_bytes(file.content)

    def broken(unit, env):
        if unit.name == "model-200":
            raise ZeroDivisionError("secret")
        return finish(unit, env)

    finish = pipeline.pass_of("finish")
    monkeypatch.setattr(pipeline, "pass_of", lambda name, of=pipeline.pass_of: broken if name == "finish" else of(name))
    reports = []
    for jobs in ("1", "2"):
        monkeypatch.setattr(sys, "argv", ["kservec", "build", "--jobs", jobs, str(tmp_path)])
        assert main() == 70
        said = capfd.readouterr().err
        # Who asked for the batch is another one.
        reports.append(re.sub(r"( < workshop.py:\d+ made) < .*", r"\1", said))
    assert reports[0] == reports[1]
    assert "compiling InferenceService ads/model-200" in reports[0]
    assert "ZeroDivisionError" in reports[0]
    assert "secret" not in reports[0]


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path) -> Path:
    """A folder of enough services to be shared out."""
    (tmp_path / "services").mkdir()
    for file in services(600):
        (tmp_path / file.name).write_bytes(file.content)
    return tmp_path


@pytest.mark.slow
def test_the_command_line_writes_the_same(folder: Path) -> None:
    """`build` into a folder, `build` to standard output, and what is said, with one process and with two."""
    made = []
    for jobs in ("1", "2"):
        ran = kservec(folder, "build", "-j", jobs, "services", "--output", f"out{jobs}")
        assert ran.status == 0
        streamed = kservec(folder, "build", "-j", jobs, "services")
        made.append((tree(folder / f"out{jobs}"), streamed.out, streamed.err))
        assert kservec(folder, "check", "-j", jobs, "services", "--output", "out1").status == 0
    assert made[0] == made[1]
    assert len(made[0][0]) > 600


def test_a_number_of_processes_is_one_at_least(folder: Path) -> None:
    """Zero processes compile nothing."""
    assert kservec(folder, "build", "-j", "0", "services").status == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(("blow", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)])
def test_workers_end_with_the_command(folder: Path, blow: signal.Signals, status: int) -> None:
    """However a build is ended, its workers are gone with it, and an interrupt is told in one line."""
    command = [sys.executable, "-c", SLOW, "build", "-j", "2", "services"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as build:
        children = waited_for(build.pid, 2)
        if blow is signal.SIGINT:
            os.killpg(build.pid, blow)  # a terminal interrupts all of them
        else:
            build.send_signal(blow)
        _, err = build.communicate(timeout=20)
    assert build.returncode == status
    assert err.decode().strip() == ("interrupted; nothing was written" if blow is signal.SIGINT else "")
    end = time.monotonic() + 10
    while any(is_alive(pid) for pid in children) and time.monotonic() < end:
        time.sleep(0.05)
    assert [pid for pid in children if is_alive(pid)] == []


def waited_for(parent: int, count: int) -> list[int]:
    """The children of a process, once there are so many."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        if len(text.split()) >= count:
            time.sleep(0.2)
            return [int(pid) for pid in text.split()]
        time.sleep(0.02)
    raise TimeoutError(f"{parent} has no {count} children")


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no remains of one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_batches_are_all_units_once_and_of_one_kind() -> None:
    """Nothing is left out, and nothing is compiled twice."""
    units = []

    def noted(workshop: Workshop) -> Iterator[list[Made]]:
        units.extend(workshop.units)
        return alone(workshop)

    compile_files(working_environment(), target=target(), crew=noted)
    shared = [units[i] for batch in batches(units) for i in batch]
    assert shared == units
    assert all(len({units[i].ref.kind for i in batch}) == 1 for batch in batches(units))


def test_the_quota_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container of two processors on a large machine starts two workers."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    for text, count in (("max 100000\n", 64), ("200000 100000\n", 2), ("50000 100000\n", 1), ("nonsense", 64)):
        (tmp_path / "cpu.max").write_text(text)
        monkeypatch.setattr(crews, "QUOTA", tmp_path / "cpu.max")
        assert processors() == count


def test_threads_are_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork copies locks of other threads in whatever state they are."""
    monkeypatch.setattr(crews, "threads", lambda: 2)
    assert crews.start_method() == SPAWN


def test_few_services_are_not_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that would have next to nothing to do are not started."""
    monkeypatch.setattr(crews, "shared_out", lambda *_: pytest.fail("workers were started"))
    assert compile_files(services(100), target=target(), crew=several(2)).ok
