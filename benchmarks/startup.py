"""How long the command line takes to start, as a user installs it: a wheel, with its bytecode."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
ROUNDS = 15


def installed(folder: Path) -> Path:
    """A virtual environment with the wheel; what kservec depends on is taken from this environment."""
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)])
    (wheel,) = folder.glob("*.whl")
    run([sys.executable, "-m", "venv", str(folder / "venv")])
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    (site / "dependencies.pth").write_text(f"{Path(yaml.__file__).parents[1]}\n")
    python = folder / "venv" / "bin" / "python"
    run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)])
    return python.parent


def run(command: Sequence[str]) -> None:
    """Run a command as a user's shell would."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    subprocess.run(command, cwd=tempfile.gettempdir(), env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603


def timed(command: Sequence[str]) -> float:
    """How much time of a processor a command takes, so that other work on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starts() -> dict[str, float]:
    """Median seconds of: an empty Python, the version, the help, a build of one file. Rounds are interleaved."""
    with tempfile.TemporaryDirectory() as folder:
        bin_folder = installed(Path(folder))
        kservec, python = str(bin_folder / "kservec"), str(bin_folder / "python")
        example = str(ROOT / "golden" / "isvc-hpa-cpu" / "input")
        commands = {
            "python": (python, "-c", "pass"),
            "version": (kservec, "--version"),
            "help": (kservec, "--help"),
            "build": (kservec, "build", example),
        }
        rounds = [{name: timed(command) for name, command in commands.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(r[name] for r in rounds[1:]) for name in commands}
