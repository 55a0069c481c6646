"""What a report costs beside a build: processor time of both commands over the same project, as a user runs them."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.services import services, target

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
platform: [platform]
gitops: {tool: argocd, repoURL: "https://git.example.com/ml.git", shard: namespace}
environments:
  prod: {}
"""
ROUNDS = 3


def report_over_build(count: int) -> tuple[float, float]:
    """Seconds of a report and of a build of so many services: the best of some rounds."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write(work, count)
        rounds = [
            (cost(work, "report", "prod", "--output", f"site{n}"), cost(work, "build", "prod", "--output", f"tree{n}"))
            for n in range(ROUNDS)
        ]
    return min(r[0] for r in rounds), min(r[1] for r in rounds)


def write(work: Path, count: int) -> None:
    """Lay a project down."""
    for file in services(count):
        (work / file.name).parent.mkdir(exist_ok=True)
        (work / file.name).write_bytes(file.content)
    (work / "platform").mkdir()
    for file in target().platform:
        (work / "platform" / file.name).write_bytes(file.content)
    (work / "kservec.yaml").write_text(PROJECT)


def cost(work: Path, *arguments: str) -> float:
    """Seconds of processors that one run of the command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "kservec", *arguments]
    subprocess.run(command, cwd=work, capture_output=True, check=True)  # noqa: S603 - ourselves
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
