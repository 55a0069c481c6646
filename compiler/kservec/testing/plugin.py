"""The pytest plugin: the fixture `kservec_golden`. Each run of pytest beside kservec loads it, so it imports little."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace

NO_SYRUPY = "kservec_golden needs syrupy: pip install 'kservec[testing]'"


class Golden:
    """Compares renderings of the project around a test with the snapshots beside that test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.request = request

    def __call__(self, environment: str, *, project: str | Path = "") -> Rendering:
        """Compare the objects of an environment with their snapshots; the test fails where they differ.

        Args:
            environment: one of the project's.
            project: the project file, or its folder, from the folder of the test; by default the nearest kservec.yaml
                there or above.

        Returns:
            The rendering, for further assertions.
        """
        made, snapshot = self.rendering(environment, project), self.snapshot()
        from kservec.testing.snapshots import differences  # noqa: PLC0415 - now syrupy is there

        found = list(differences(environment, made.objects, snapshot))
        if found:
            hint = "run pytest --snapshot-update if this is meant"
            fail(f"{len(found)} of {len(made.objects)} objects of {environment} differ; {hint}\n\n{''.join(found)}")
        return made

    def rendering(self, environment: str, project: str | Path = "") -> Rendering:
        """An environment, rendered in memory; the test fails where that finds an error."""
        from kservec.environments import render  # noqa: PLC0415 - loaded by the tests that need it
        from kservec.report.text import text_report  # noqa: PLC0415 - as above

        workspace = self.workspace(project)
        if environment not in workspace.environments:
            fail(f"{workspace.file.name} has no environment {environment}, but {', '.join(workspace.environments)}")
        try:
            made = render(workspace, environment)
        except OSError as error:
            fail(f"cannot read {error.filename}: {error.strerror}")
        if not made.ok:
            fail(text_report([d for d in made.diagnostics if d.is_error], made.texts))
        return made

    def workspace(self, project: str | Path) -> Workspace:
        """The project of the test."""
        from kservec.api import text_of  # noqa: PLC0415 - loaded by the tests that need it
        from kservec.core.text.source import Limits  # noqa: PLC0415 - as above
        from kservec.io.workspace import open_workspace  # noqa: PLC0415 - as above
        from kservec.report.text import text_report  # noqa: PLC0415 - as above

        try:
            opened = open_workspace(project_file(self.request.path.parent, project), Limits().max_bytes)
        except OSError as error:
            fail(f"cannot read {error.filename}: {error.strerror}")
        if opened.workspace is None:
            fail(text_report(opened.diagnostics, {opened.file.name: text_of(opened.file)}))
        return opened.workspace

    def snapshot(self) -> SnapshotAssertion:
        """Syrupy's fixture."""
        try:
            snapshot: SnapshotAssertion = self.request.getfixturevalue("snapshot")
        except pytest.FixtureLookupError:
            fail(NO_SYRUPY)
        return snapshot


def project_file(folder: Path, project: str | Path) -> Path:
    """The project file of a test: the one that it names, or the nearest one."""
    from kservec.io.workspace import find_project  # noqa: PLC0415 - loaded by the tests that need it
    from kservec.project.reading import PROJECT_FILE  # noqa: PLC0415 - as above

    if project:
        named = folder / project
        return named / PROJECT_FILE if named.is_dir() else named
    found = find_project(folder)
    if found is None:
        fail(f"no {PROJECT_FILE} in {folder} or above it")
    return folder / found


def fail(message: str) -> NoReturn:
    """Fail the test without a traceback: what is wrong is not in its code."""
    pytest.fail(message, pytrace=False)


@pytest.fixture
def kservec_golden(request: pytest.FixtureRequest) -> Golden:
    """`kservec_golden("prod")` compares what is rendered for an environment with the snapshots beside the test."""
    return Golden(request)
