"""Runs the command line as a user does: another process, its streams, its exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.forking import Forking, Ran, Run

ROOT = Path(__file__).parents[2]
KSERVEC = (sys.executable, "-m", "kservec")
SECONDS = 60
PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
platform: [platform]
environments:
  prod: {}
"""
SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: fraud
  namespace: payments
  annotations:
    serving.kserve.io/deploymentMode: Standard
spec:
  predictor:
    model:
      modelFormat: {name: sklearn}
      storageUri: s3://models/fraud/v7
"""
WRONG = SERVICE.replace("s3://models/fraud", "ftp://models/wrong").replace("name: fraud", "name: wrong")
CONTEXT = SERVICE + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: reader, namespace: payments}\n"


def environment(**changes: str) -> dict[str, str]:
    """The environment of a process: this one's, with changes. It keeps what it compiles, for the next one."""
    own = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE")}
    return own | changes


def kservec(folder: Path, *arguments: str, given: str = "", **changes: str) -> Ran:
    """Run kservec in a folder, with a text as standard input and a changed environment.

    It is a process, forked from one that has loaded the compiler, unless the environment is of concern when an
    interpreter starts.
    """
    its_own = environment(**changes)
    loaded = loaded_kservec()
    if not loaded.suits(its_own, given):
        return fresh_kservec(folder, *arguments, given=given, **changes)
    return loaded.ran(Run(arguments, str(folder), its_own, SECONDS), given)


def fresh_kservec(folder: Path, *arguments: str, given: str = "", **changes: str) -> Ran:
    """Run kservec as `kservec` does, in an interpreter of its own."""
    done = subprocess.run(  # noqa: S603 - our own program
        [*KSERVEC, *arguments],
        cwd=folder,
        env=environment(**changes),
        input=given.encode(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@cache
def loaded_kservec() -> Forking:
    """The process that runs commands of this one."""
    return Forking((sys.executable,), "tests.cli.loaded", environment())


def tree(folder: Path) -> dict[str, bytes]:
    """The files below a folder by their paths."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
