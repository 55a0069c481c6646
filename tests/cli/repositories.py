"""Real git repositories in temporary folders, alike on every machine."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from .running import SERVICE, kservec

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
environments:
  dev: {}
  prod: {}
"""
SETTINGS = (
    *("-c", "user.name=tester", "-c", "user.email=tester@example.com"),
    *("-c", "commit.gpgsign=false", "-c", "core.fsync=none"),
)
CLEAN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
FILE = "payments/fraud/deployment-fraud-predictor.yaml"


def git(folder: Path, *arguments: str, status: int = 0) -> str:
    """What git says in a folder."""
    done = subprocess.run(  # noqa: S603 - a fixed program
        ["git", *SETTINGS, *arguments],  # noqa: S607 - wherever the machine has it
        cwd=folder,
        env={**os.environ, **CLEAN},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def commit(folder: Path, message: str) -> None:
    """Commit all that there is."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


def repository(folder: Path, *, built: bool = True) -> Path:
    """A repository with a project of two environments and one service; its trees are committed if they are built."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "kservec.yaml").write_text(PROJECT)
    (folder / "services").mkdir()
    (folder / "services" / "fraud.yaml").write_text(SERVICE)
    if built:
        assert kservec(folder, "build").status == 0
    commit(folder, "first")
    return folder


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text in a file that must have it."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
