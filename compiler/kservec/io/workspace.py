"""The workspace: the folder of a project file, and the files of one environment in it."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from kservec._version import KSERVE_PROFILE
from kservec.core.diagnostics import has_errors
from kservec.core.lock import LOCK_FILE
from kservec.core.text.source import Limits
from kservec.io.packaged import packaged_profiles
from kservec.io.reading import File, is_within, read_file, read_files, shown_name
from kservec.project.reading import PROJECT_FILE, read_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.lock import Lock
    from kservec.project.reading import ReadProject
    from kservec.project.settings import Settings


class Workspace(NamedTuple):
    """A project where it lies. `root` is the folder of its file, as a path that can be shown; `file` is that file.

    `lock` is what the lock file beside it pins, None without one. `pending` are contents that files are taken to have
    instead of those on disk, by their paths in the project; None stands for a file that is taken away.
    """

    root: Path
    file: File
    project: ReadProject
    lock: Lock | None = None
    pending: Mapping[str, bytes | None] = MappingProxyType({})

    @property
    def environments(self) -> Mapping[str, Settings]:
        """The settings of every environment by its name."""
        return self.project.environments

    @property
    def kserve(self) -> str:
        """The version of KServe that the project names for all its environments."""
        return self.project.model.kserve or KSERVE_PROFILE

    @property
    def real_root(self) -> str:
        """The folder of its file without links in the path."""
        return os.path.realpath(self.root)

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
    return opened_workspace(path.parent, File(shown_name(path), read_file(path, max_bytes)), max_bytes)


def opened_workspace(root: Path, file: File, max_bytes: int) -> Opened:
    """The workspace of a project file that was read already, in its folder.

    Raises:
        OSError: the lock file beside it cannot be read.
    """
    project, found = read_project(file.content, file.name, Limits(max_bytes=max_bytes))
    if project is not None and (unknown := unknown_profiles(project)):
        project, found = None, (*found, *unknown)
    locked = root / LOCK_FILE
    lock, faults = lock_of(locked, max_bytes) if locked.is_file() else (None, ())
    if project is None or has_errors(faults):
        return Opened(None, file, (*found, *faults))
    return Opened(Workspace(root, file, project, lock), file, found)


def unknown_profiles(project: ReadProject) -> tuple[Diagnostic, ...]:
    """What is wrong with the versions of KServe that a project names."""
    named = {s.kserve for s in project.environments.values()}
    named |= {s.upgrade.kserve for s in project.environments.values() if s.upgrade is not None}
    if named <= {KSERVE_PROFILE}:
        return ()
    from kservec.project.profiles import profile_findings  # noqa: PLC0415 - most projects are for the current version

    return tuple(profile_findings(project.environments, project.document, packaged_profiles()))


def lock_of(path: Path, max_bytes: int) -> tuple[Lock | None, tuple[Diagnostic, ...]]:
    """What a lock file pins, and what is wrong with it.

    Raises:
        OSError: it cannot be read.
    """
    from kservec.project.lock import read_lock  # noqa: PLC0415 - many projects have no lock

    return read_lock(read_file(path, max_bytes), shown_name(path), Limits(max_bytes=max_bytes))


def source_files(workspace: Workspace, settings: Settings, max_bytes: int) -> tuple[File, ...]:
    """The files that an environment compiles. The project's own file and rendered trees are none of them.

    Folders may be empty: whoever deletes the last service has a project still.

    With an overlay they are those that it reaches, with what it makes of them and what is wrong with it.

    Raises:
        OSError: a path does not exist or cannot be read.
    """
    files = read_files(workspace.below(settings.sources), max_bytes, within=workspace.real_root, may_be_empty=True)
    files = as_edited(workspace, settings.sources, files)
    own = {workspace.file.name, shown_name(workspace.at(LOCK_FILE))}
    sources = tuple(file for file in files if file.name not in own)
    if not settings.overlay:
        return sources
    from kservec.io.overlaying import overlaid  # noqa: PLC0415 - loads what starts programs

    return overlaid(workspace, settings, sources, Limits(max_bytes=max_bytes))


def files_at(workspace: Workspace, paths: Iterable[str], max_bytes: int) -> tuple[File, ...]:
    """The files at paths of a project that are no sources: of the platform, of what is included, of an upgrade.

    They are in the order of the paths, which is from weak to strong where files describe the cluster.

    Raises:
        OSError: a path does not exist or cannot be read.
    """
    named = tuple(paths)
    return as_edited(workspace, named, read_files(workspace.below(named), max_bytes, within=workspace.real_root))


def as_edited(workspace: Workspace, paths: Sequence[str], files: tuple[File, ...]) -> tuple[File, ...]:
    """The files at some paths of a project as they are once what is pending is written."""
    if not workspace.pending:
        return files
    pending = {shown_name(workspace.at(path)): (path, content) for path, content in workspace.pending.items()}
    there = {file.name for file in files}
    edited: list[File] = []
    for file in files:
        content = pending[file.name][1] if file.name in pending else file.content
        if content is not None:
            edited.append(file if file.finding is not None else file._replace(content=content))
    folders = [os.path.normpath(path) for path in paths]
    for name, (path, content) in pending.items():
        if content is not None and name not in there and any(is_within(path, f) or f == "." for f in folders):
            edited.append(File(name, content))
    return tuple(edited)
