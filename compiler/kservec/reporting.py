"""The report of an environment: rendered with its trees kept, compared if that is asked for, and laid out as a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.api import builtin_files, text_of
from kservec.comparisons import comparison_of
from kservec.core.text.source import Limits
from kservec.environments import render, target_of
from kservec.io.packaged import packaged_site
from kservec.site.site import site_pages
from kservec.site.subject import Compared, Subject
from kservec.surveying import capacity_of
from kservec.workshop import alone, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kservec.committed import Base
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace
    from kservec.site.writer import Page


class Witnessed(NamedTuple):
    """An environment as it was rendered, and its units with their trees, each with what it was compiled against."""

    rendering: Rendering
    units: tuple[tuple[Unit, Env], ...]


def witnessed(workspace: Workspace, name: str, each: Callable[[int, int], None]) -> Witnessed:
    """Render an environment and keep its units.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    units: list[tuple[Unit, Env]] = []
    rendering = render(workspace, name, crew=watched(alone, each), witness=lambda unit, env: units.append((unit, env)))
    return Witnessed(rendering, tuple(units))


def report_pages(
    workspace: Workspace, seen: Witnessed, found: Iterable[Diagnostic], base: Base | None = None
) -> Iterator[Page]:
    """The files of the report of an environment that has no errors.

    Args:
        workspace: the project.
        seen: the environment.
        found: what was found in it and in the project.
        base: the commit that it is compared with, if any.

    Raises:
        GitError, Reject: as `comparison_of`.
        OSError: a file of the project cannot be read.
    """
    rendering, settings = seen.rendering, seen.rendering.settings
    compared = None
    if base is not None:
        compared = Compared(shown=base.shown, commit=base.short, comparison=comparison_of(base, workspace, rendering))
    subject = Subject(
        name=settings.name,
        units=seen.units,
        objects=rendering.objects,
        diagnostics=tuple(found),
        files=texts(workspace, rendering),
        patches=settings.patches,
        tool="" if settings.gitops.tool == "none" else settings.gitops.tool,
        excuses=rendering.excuses,
        compared=compared,
        capacity=capacity_of(workspace, rendering),
    )
    templates = {name: content.decode() for name, content in packaged_site("templates").items()}
    return site_pages(subject, templates, packaged_site("assets"))


def texts(workspace: Workspace, rendering: Rendering) -> dict[str, str]:
    """The texts of all files that an environment was made of, by their names."""
    target = target_of(workspace, rendering.settings, Limits())
    files = (*builtin_files(target), workspace.file, *target.platform, *rendering.sources)
    return {file.name: text_of(file) for file in files}
