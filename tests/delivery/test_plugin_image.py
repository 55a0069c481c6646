"""The image of the plugin, without docker: what its Dockerfile copies and runs, in a folder instead of an image."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kservec import __version__

from .dockerfiles import Instruction, read
from .scripts import ROOT

FOLDER = ROOT / "runtimes" / "images" / "cmp"
NO_INDEX = ("No matching distribution", "Failed to establish a new connection", "Temporary failure in name resolution")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


def first_stage() -> list[Instruction]:
    """The stage that puts the folder together."""
    found = read((FOLDER / "Dockerfile").read_text())
    first, second = (index for index, instruction in enumerate(found) if instruction.name == "FROM")
    return found[first:second]


def copied(folder: Path) -> Path:
    """The source as the stage copies it."""
    for _, rest in (each for each in first_stage() if each.name == "COPY"):
        *sources, to = rest.split()
        for source in sources:
            path, target = ROOT / source, folder / (Path(source).name if to == "./" else to)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, target, ignore=LEFT_OUT)
            else:
                shutil.copy(path, target)
    return folder


@pytest.fixture(name="app", scope="module")
def app_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the stage leaves in /app."""
    folder = tmp_path_factory.mktemp("image")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "base")], check=True)  # noqa: S603 - our own
    (script,) = (rest for name, rest in first_stage() if name == "RUN")
    named = re.findall(r"(?<![\w.*-])/[^\s;]*", script)
    assert all(f"{path}/".startswith("/app/") for path in named), "what else it names is of this machine"
    script = script.replace("/app", str(folder / "app")).replace("--no-cache-dir ", "")
    base = folder / "base" / "bin"
    given = os.environ | {"PATH": f"{base}{os.pathsep}{os.environ['PATH']}", "PIP_IGNORE_REQUIRES_PYTHON": "1"}
    done = subprocess.run(  # noqa: S603 - the Dockerfile's own
        ["/bin/sh", "-c", script], cwd=copied(folder / "src"), env=given, capture_output=True, text=True, check=False
    )
    if done.returncode and any(sign in done.stderr for sign in NO_INDEX):
        pytest.skip("there is no package index to install from")
    assert done.returncode == 0, done.stderr
    return folder / "app"


@pytest.mark.slow
def test_kservec_is_there_and_runs(app: Path) -> None:
    """The command is on the path of the image, and compiles the examples."""
    words = [str(app / "bin" / "kservec")]
    alone = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    said = subprocess.run([*words, "--version"], env=alone, capture_output=True, text=True, check=True)  # noqa: S603
    assert said.stdout.startswith(f"kservec {__version__} ")
    build = [*words, "build", "services", "--platform", "platform"]
    made = subprocess.run(  # noqa: S603 - our own
        build, cwd=ROOT / "examples", env=alone, capture_output=True, text=True, check=True
    )
    assert "\nkind: Deployment\n" in made.stdout


@pytest.mark.slow
def test_overlays_need_no_program(app: Path) -> None:
    """The library that runs kustomize is complete, with what it loads."""
    words = [str(app / "bin" / "python"), "-c", "import pykustomize; pykustomize.build"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own


@pytest.mark.slow
def test_nothing_that_builds_is_left(app: Path) -> None:
    """Neither an installer nor the build's own packages are where kservec runs."""
    (packages,) = app.glob("lib/python*/site-packages")
    names = {path.name for path in packages.iterdir()}
    assert {"kservec", "kservec_router", "yaml", "pydantic"} <= names
    assert not {"pip", "setuptools", "hatchling", "tests"} & names
    assert list(packages.glob("kservec/__pycache__/api.*.pyc"))
