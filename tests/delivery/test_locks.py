"""What is installed into images, by the action and for releases is pinned by hashes, in step with pyproject.toml."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .scripts import ROOT, script

LOCKS = list(script("locks.py")["locks"](tomllib.loads((ROOT / "pyproject.toml").read_text())))
PIN = re.compile(r"([a-z0-9-]+)==([\w.]+)(?: ; [^#]+?)?((?: --hash=sha256:[0-9a-f]{64})+)")
IMAGES = {image.name: image for image in script("images.py")["images"](ROOT)}
MACHINES = {"linux/amd64": "x86_64-manylinux_2_28", "linux/arm64": "aarch64-manylinux_2_28"}
ANYWHERE = (*MACHINES.values(), "x86_64-pc-windows-msvc", "aarch64-apple-darwin")
PLACES = [
    *(("router/requirements.txt", "3.13", MACHINES[platform]) for platform in IMAGES["router"].platforms),
    *(("runtimes/images/cmp/requirements.txt", "3.14", MACHINES[platform]) for platform in IMAGES["cmp"].platforms),
    *(("integrations/github/requirements.txt", python, m) for python in ("3.11", "3.14") for m in ANYWHERE),
    *(("scripts/delivery/backend.txt", "3.11", machine) for machine in ANYWHERE),
    ("scripts/delivery/requirements.txt", "3.13", MACHINES["linux/amd64"]),
]
"""Where each lock is installed: its version of Python, and its machines."""
BY_PATH = pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.path)


def pins(path: str) -> dict[str, str]:
    """The versions that a lock pins, by name. Every line of it must be a pin with hashes."""
    text = (ROOT / path).read_text().replace(" \\\n    ", " ")
    found = [(line, PIN.fullmatch(line)) for line in text.splitlines() if not line.startswith("#")]
    assert [line for line, match in found if match is None] == []
    return {match[1]: match[2] for _, match in found if match is not None}


def applies(requirement: Requirement, python: str) -> bool:
    """Whether a requirement holds on Linux for a version of Python."""
    on = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    return requirement.marker is None or requirement.marker.evaluate(on)


@BY_PATH
def test_what_is_asked_for_is_pinned(lock: Any) -> None:
    """Each requirement has a version within its range, with hashes."""
    pinned = pins(lock.path)
    wanted = [Requirement(text) for text in lock.asked]
    for requirement in (each for each in wanted if applies(each, lock.python)):
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, requirement


@BY_PATH
def test_no_lock_says_where_packages_come_from(lock: Any) -> None:
    """Whoever installs chooses the index: a lock has neither an address nor an option."""
    text = (ROOT / lock.path).read_text()
    assert "://" not in text
    assert not re.search(r"(?m)^-", text)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "python", "machine"), PLACES)
def test_a_lock_can_be_installed_where_it_is_for(path: str, python: str, machine: str, tmp_path: Path) -> None:
    """Nothing that is needed is not pinned, and for every package there is a wheel with a hash that the lock has."""
    words = ["pip", "install", "--dry-run", "--no-config", "--no-python-downloads", "--require-hashes"]
    words += ["--only-binary", ":all:", "--python-version", python, "--python-platform", machine]
    command = [str(Path(sys.executable).with_name("uv")), *words, "--target", str(tmp_path), "--requirement", path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode and ("error sending request" in done.stderr or "dns error" in done.stderr):
        pytest.skip("there is no package index to ask")
    assert done.returncode == 0, done.stderr
    assert "Would install" in done.stderr


def test_locks_agree() -> None:
    """What two of them pin has one version, so that what was tested together is delivered together."""
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for name, version in pins(lock.path).items():
            versions.setdefault(name, set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def test_every_list_of_packages_is_a_lock() -> None:
    """There is no other file that something is installed from."""
    found = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/**/*requirements*.txt")}
    found -= {path for path in found if path.startswith((".", "out/"))}
    assert found <= {lock.path for lock in LOCKS}


def test_the_action_installs_what_the_plugin_runs_with() -> None:
    """A pull request is looked at by the same packages that Argo CD renders with."""
    plugin, action = pins("runtimes/images/cmp/requirements.txt"), pins("integrations/github/requirements.txt")
    assert plugin == action
