"""The golden projects: cases whose input has a kservec.yaml, and the trees of all its environments."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kservec.api import text_of
from kservec.environments import Rendering, render, together
from kservec.io.kustomize import HOW_TO
from kservec.io.overlaying import NO_KUSTOMIZE
from kservec.io.workspace import open_workspace
from kservec.project.reading import PROJECT_FILE
from kservec.report.text import text_report

from .cases import DIAGNOSTICS, EXPECT, GOLDEN, MAX_BYTES, Case, has_project, read_case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Diagnostic


class Made(NamedTuple):
    """What a project gives: the findings in it and in its environments, what they point into, and the environments."""

    diagnostics: tuple[Diagnostic, ...]
    texts: Mapping[str, str]
    renderings: tuple[Rendering, ...] = ()


@cache
def projects() -> tuple[Case, ...]:
    """Every case that is a project, by name."""
    return tuple(read_case(folder) for folder in sorted(GOLDEN.iterdir()) if has_project(folder))


@cache
def rendered(case: Case) -> Made:
    """Render all environments of a project in this process; every test looks at the same result."""
    with contextlib.chdir(case.folder / case.project):
        workspace, file, found = open_workspace(Path(PROJECT_FILE), MAX_BYTES)
        if workspace is None:
            return Made(found, {file.name: text_of(file)})
        made = tuple(together(workspace, [render(workspace, name) for name in workspace.environments]))
    texts = {file.name: text_of(file)}
    for rendering in made:
        texts.update(rendering.texts)
    found = tuple(dict.fromkeys((*found, *(d for r in made for d in r.diagnostics))))
    skip_without_kustomize(found)
    return Made(found, texts, made)


def skip_without_kustomize(found: tuple[Diagnostic, ...]) -> None:
    """Skip a case that needs kustomize where there is none."""
    if any(diagnostic.code is NO_KUSTOMIZE for diagnostic in found):
        import pytest  # noqa: PLC0415 - this is also run by interpreters that have no pytest

        pytest.skip(f"NOT TESTED: overlays need kustomize, and there is none here; {HOW_TO}")


def result(case: Case) -> dict[str, bytes]:
    """What a project gives, by paths below its folder: the trees of all environments and the findings as text."""
    diagnostics, texts, renderings = rendered(case)
    ok = all(rendering.ok for rendering in renderings)
    made = {f"{EXPECT}/{r.settings.output}/{p}": c for r in renderings if ok for p, c in r.tree.items()}
    report = text_report(diagnostics, texts)
    return made | ({DIAGNOSTICS: report.encode()} if report else {})
