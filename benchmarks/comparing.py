"""Time of `check` and `diff` in a repository of many services, against that of a build which has nothing to write.

In one process, in turns, so that only the ratios count. A build into an empty folder takes twice as long.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.services import service, services, target
from kservec.cli.labour import few_collections
from kservec.committed import base_of
from kservec.compare.report import Report
from kservec.compare.text_report import text_report
from kservec.compare.tree_states import flaws
from kservec.comparisons import comparison_of
from kservec.environments import Rendering, render
from kservec.io.tree_reader import present_files
from kservec.io.tree_writer import write_tree
from kservec.io.workspace import Workspace, open_workspace
from kservec.project.reading import PROJECT_FILE

ROUNDS = 5
LARGEST = 1 << 24
PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
platform: [platform]
environments: {prod: {}}
"""
EDITED = 7
"""The service whose model a branch changes."""


class Ratios(NamedTuple):
    """Seconds of a build, a check, and a diff."""

    build: float
    check: float
    diff: float


def repository(folder: Path, count: int) -> Workspace:
    """A repository of so many services with its committed tree, and one edited service."""
    (folder / PROJECT_FILE).write_text(PROJECT)
    for file in (*services(count), *(file._replace(name=f"platform/{file.name}") for file in target().platform)):
        (folder / file.name).parent.mkdir(exist_ok=True)
        (folder / file.name).write_bytes(file.content)
    workspace = open_workspace(folder / PROJECT_FILE, LARGEST).workspace
    assert workspace is not None
    rendering = rendered(workspace)
    write_tree(rendering.output, rendering.tree, force=False)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "b"]):
        subprocess.run(["git", *command], cwd=folder, check=True)  # noqa: S603, S607 - a fixed program
    edited = service(EDITED)
    (folder / edited.name).write_bytes(edited.content.replace(b"s3://models/", b"s3://newer/"))
    return workspace


def rendered(workspace: Workspace) -> Rendering:
    """The environment, rendered."""
    rendering = render(workspace, "prod")
    assert rendering.ok, rendering.diagnostics[:3]
    return rendering


def build(workspace: Workspace) -> None:
    """Render, and write what differs."""
    rendering = rendered(workspace)
    write_tree(rendering.output, rendering.tree, force=True)


def check(workspace: Workspace) -> None:
    """Render, and look at the tree."""
    rendering = rendered(workspace)
    planned = rendering.tree
    present, listed = present_files(rendering.output, planned)
    assert not list(flaws(present, planned, listed))


def diff(workspace: Workspace) -> None:
    """Render, and compare with the commit."""
    base = base_of(workspace, "HEAD", exact=False)
    comparison = comparison_of(base, workspace, rendered(workspace))
    assert "s3://newer/" in text_report(Report(base.shown, base.short, (comparison,)))


def seconds(work: Callable[[Workspace], None], workspace: Workspace) -> float:
    """How much time of a processor a piece of work takes, git's too, with the collector as the command line sets it."""
    with few_collections():
        begun = processor_seconds()
        work(workspace)
        return processor_seconds() - begun


def processor_seconds() -> float:
    """The time of a processor that this process and those that it waited for have taken."""
    return sum(os.times()[:4])


def ratios(count: int) -> Ratios:
    """The best of some rounds of each."""
    with tempfile.TemporaryDirectory() as name:
        workspace = repository(Path(name), count)
        rounds = [[seconds(work, workspace) for work in (build, check, diff)] for _ in range(ROUNDS)]
    return Ratios(*(min(times) for times in zip(*rounds, strict=True)))
