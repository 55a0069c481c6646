"""The workspace: the folder of a project file, and the files of one environment in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.text.source import Limits
from kservec.io.reading import File, read_file, read_files, shown_name
from kservec.project.reading import PROJECT_FILE, read_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.project.reading import ReadProject
    from kservec.project.settings import Settings


class Workspace(NamedTuple):
    """A project where it lies. `root` is the folder of its file, as a path that can be shown; `file` is that file."""

    root: Path
    file: File
    project: ReadProject

    @property
    def environments(self) -> Mapping[str, Settings]:
        """The settings of every environment by its name."""
        return self.project.environments

    def at(self, path: str) -> Path:
        """Where a path of the project lies."""
        return self.root / path

    def below(self, paths: Iterable[str]) -> list[str]:
        """Where several paths of the project lie."""
        return [str(self.at(path)) for path in paths]


class Opened(NamedTuple):
    """A workspace, unless its project cannot be used; and what was found in its file."""

    workspace: Workspace | None
    file: File
    diagnostics: tuple[Diagnostic, ...]


def find_project(folder: Path) -> Path | None:
    """The project file of a folder or of the nearest one above it; None if there is none. Paths are kept short."""
    absolute = Path(os.path.abspath(folder))
    for above in (absolute, *absolute.parents):
        if (above / PROJECT_FILE).is_file():
            return Path(os.path.relpath(above / PROJECT_FILE, folder))
        if (above / ".git").exists():
            return None
    return None


def open_workspace(path: Path, max_bytes: int) -> Opened:
    """Read a project file.

    Raises:
        OSError: it cannot be read.
    """
    file = File(shown_name(path), read_file(path, max_bytes))
    project, found = read_project(file.content, file.name)
    return Opened(Workspace(path.parent, file, project) if project is not None else None, file, found)


def source_files(workspace: Workspace, settings: Settings, max_bytes: int) -> tuple[File, ...]:
    """The files that an environment compiles. The project's own file and rendered trees are none of them.

    With an overlay they are those that it reaches, with what it makes of them and what is wrong with it.

    Raises:
        OSError: a path does not exist or cannot be read.
    """
    files = read_files(workspace.below(settings.sources), max_bytes)
    sources = tuple(file for file in files if file.name != workspace.file.name)
    if not settings.overlay:
        return sources
    from kservec.io.overlaying import overlaid  # noqa: PLC0415 - loads what starts programs

    return overlaid(workspace, settings, sources, Limits(max_bytes=max_bytes))


def include_files(workspace: Workspace, settings: Settings, max_bytes: int) -> tuple[File, ...]:
    """The files whose manifests are rendered as they are.

    Raises:
        OSError: a path does not exist or cannot be read.
    """
    return read_files(workspace.below(settings.include), max_bytes) if settings.include else ()


def platform_files(workspace: Workspace, settings: Settings, max_bytes: int) -> tuple[File, ...]:
    """The files that describe the cluster of an environment, weakest first.

    Raises:
        OSError: a path does not exist or cannot be read.
    """
    return read_files(workspace.below(settings.platform), max_bytes)
