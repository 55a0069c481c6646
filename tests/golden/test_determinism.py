"""Same inputs, same bytes: whatever the machine, the locale, the hash seed, the order of files or the Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .cases import ROOT
from .digests import outputs

NEEDS = "import click, jsonschema_rs, pydantic, yaml"
ENVIRONMENTS = {
    "hash seed 1": ("1", {"PYTHONHASHSEED": "1"}),
    "hash seed 2, files shuffled": ("2", {"PYTHONHASHSEED": "2"}),
    "hash seed 3, files shuffled, another locale and time zone": (
        "3",
        {"PYTHONHASHSEED": "3", "LC_ALL": "C", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONUTF8": "0"},
    ),
}  # fmt: skip


def printed(python: str, seed: str, environment: dict[str, str], folder: Path) -> str:
    """What another process makes of all cases, started in some other folder."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "compiler")))
    command = [python, "-m", "tests.golden.digests", seed]
    done = subprocess.run(  # noqa: S603 - our own program
        command,
        cwd=folder,
        env=os.environ | environment | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(name="here", scope="module")
def here_fixture() -> str:
    """What this process makes of all cases."""
    return outputs(0)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_environment_does_not_matter(name: str, here: str, tmp_path: Path) -> None:
    """Hash seed, order of files, locale, time zone and current folder change no byte of objects, findings or URLs."""
    seed, environment = ENVIRONMENTS[name]
    assert printed(sys.executable, seed, environment, tmp_path) == here


def test_a_second_compile_in_one_process_gives_the_same(here: str) -> None:
    """No state leaks from one compile into the next."""
    assert outputs(0) == here


def other_pythons() -> list[str]:
    """Other versions of Python on this machine that have what kservec needs."""
    found = sorted(Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python"))
    own = f"{sys.version_info.major}.{sys.version_info.minor}."
    return [str(p) for p in found if not p.parts[-3].startswith(own) and can_import(p)]


def can_import(python: Path) -> bool:
    """Whether a Python has the dependencies."""
    return subprocess.run([python, "-c", NEEDS], capture_output=True, check=False).returncode == 0  # noqa: S603


def test_other_versions_of_python_give_the_same(here: str, tmp_path: Path) -> None:
    """The version of Python changes nothing either."""
    pythons = other_pythons()
    if not pythons:
        pytest.skip("no other version of Python here that has the dependencies")
    assert {python: printed(python, "0", {}, tmp_path) for python in pythons} == dict.fromkeys(pythons, here)
