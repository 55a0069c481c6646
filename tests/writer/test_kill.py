"""Builds that are killed, and builds at the same time: the folder is always one tree as a whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kservec.io.tree_writer import Workplace, write_tree

from .trees import numbered, tree

ROOT = Path(__file__).parents[2]
KILLS = 200
IN_THE_MIDST = 50
"""At least so many of the kills must have come while a tree was being laid."""


def writer(folder: Path, first: int, end: int) -> subprocess.Popen[str]:
    """A process that writes tree after tree."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "compiler")))
    command = [sys.executable, "-S", "-m", "tests.writer.trees", str(folder), str(first), str(end)]
    site = next(p for p in sys.path if p.endswith("site-packages"))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((path, site))}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own program


def number_of(found: dict[str, bytes]) -> int:
    """The number of a tree."""
    (only,) = (path for path in found if path.startswith("n/u/only-"))
    return int(only.removeprefix("n/u/only-").removesuffix(".yaml"))


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_tree(tmp_path: Path) -> None:
    """Killed two hundred times while it writes: each time the folder is one tree as a whole, and work goes on."""
    out = tmp_path / "rendered"
    chance = random.Random(7)  # noqa: S311 - when to kill
    write_tree(out, numbered(0), force=False)
    written, midst = 0, 0
    for _ in range(KILLS):
        with writer(out, written + 1, written + 10_000) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
        midst += Workplace.of(out).folder.exists()
        found = tree(out)
        written = number_of(found)
        assert found == numbered(written)
    assert midst >= IN_THE_MIDST
    write_tree(out, numbered(1), force=False)
    assert [p.name for p in tmp_path.iterdir()] == ["rendered"]


@pytest.mark.slow
def test_two_builds_at_once_wait_for_each_other(tmp_path: Path) -> None:
    """Builds into one folder at the same time: each writes a whole tree, and the last one stands."""
    out = tmp_path / "rendered"
    with writer(out, 0, 20) as first, writer(out, 100, 120) as second:
        assert (first.wait(60), second.wait(60)) == (0, 0)
    assert tree(out) in (numbered(19), numbered(119))
    assert [p.name for p in tmp_path.iterdir()] == ["rendered"]
