"""The scripts that the workflows run, and programs that stand in for those of the machine that runs them."""

from __future__ import annotations

import os
import runpy
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from tests.images.programs import write_program

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts" / "delivery"
STAND_IN = """
echo "{name} $*" >> "$CALLS"
case "$*" in
{cases}
esac
"""


def script(name: str) -> dict[str, Any]:
    """The names that a script of Python defines."""
    return runpy.run_path(str(SCRIPTS / name))


class Ran(NamedTuple):
    """What a script of the shell left: its status, what it wrote, which programs it called."""

    status: int
    out: str
    err: str
    calls: list[str]


class Machine:
    """A folder with programs that write down how they are called, before all others in the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()

    def has(self, name: str, **answers: str) -> None:
        """Put a program there. `answers`: by what its arguments have in them, what the shell then runs."""
        cases = "\n".join(f"  *{word}*) {answer} ;;" for word, answer in answers.items()) or "  *) ;;"
        write_program(self.folder / "bin" / name, STAND_IN.format(name=name, cases=cases))

    def run(self, path: Path, *words: str, **environment: str) -> Ran:
        """Run a script."""
        calls = self.folder / "calls"
        path_variable = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        given = {"PATH": path_variable, "CALLS": str(calls), "TMPDIR": str(self.folder), **environment}
        done = subprocess.run(  # noqa: S603 - our own script
            [str(path), *words], cwd=self.folder, env=given, capture_output=True, text=True, timeout=60, check=False
        )
        made = calls.read_text().splitlines() if calls.exists() else []
        return Ran(done.returncode, done.stdout, done.stderr, made)
