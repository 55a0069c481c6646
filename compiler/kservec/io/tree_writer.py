"""Writing a rendered tree: all of it or nothing, and never over what is not ours.

A new tree is laid beside the old one, with hard links to all that stays, and the two are exchanged in one step of the
file system. Whenever the machine stops, the folder holds the old tree or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX
from kservec.gitops.ownership import OBSTACLES, State, judge, obstacle
from kservec.io.exchange import exchange, sync, sync_tree

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kservec.core.diagnostics import Diagnostic

WORK_MARK = ".kservec"
UNLOCKABLE = (errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)


class Written(NamedTuple):
    """What a write did, as paths below the folder, sorted; or the obstacles because of which it did nothing."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    obstacles: tuple[Diagnostic, ...] = ()


class Workplace(NamedTuple):
    """A hidden neighbour of the folder in which a new tree is laid; git passes over it.

    `new` is the tree to be, `old` the former one where the two cannot be exchanged in one step.
    """

    folder: Path

    @classmethod
    def of(cls, folder: Path) -> Workplace:
        """The workplace of a folder."""
        return cls(folder.with_name(f".{folder.name}{WORK_MARK}"))

    @property
    def new(self) -> Path:
        """Where the new tree is laid."""
        return self.folder / "new"

    @property
    def old(self) -> Path:
        """Where the old tree waits for the new one to take its place."""
        return self.folder / "old"


def write_tree(folder: Path, planned: Mapping[str, bytes], *, force: bool) -> Written:
    """Make the compiler's part of a folder equal to what is planned. Files that are not in the index stay.

    Args:
        folder: the output folder; it is made if it is not there.
        planned: the content of every file by its path below the folder.
        force: whether to overwrite files that were edited by hand or are not in the index.

    Raises:
        OSError: the folder cannot be written.
    """
    shown, folder = folder, Path(os.path.realpath(folder))
    if folder.exists() and not folder.is_dir():
        # A device or a pipe must never be exchanged for a folder.
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(shown))
    with locked(folder.parent):
        recover(folder)
        states = states_of(folder, planned)
        blocked = sorted(p for p, state in states.items() if state in OBSTACLES)
        if blocked and not force:
            return Written(obstacles=tuple(obstacle(states[p], (shown / p).as_posix()) for p in blocked))
        touched = sorted(p for p, state in states.items() if state is not State.SAME)
        written = Written(tuple(p for p in touched if p in planned), tuple(p for p in touched if p not in planned))
        if touched:
            replace_tree(folder, planned, written)
        return written


def states_of(folder: Path, planned: Mapping[str, bytes]) -> dict[str, State]:
    """The state of every path that is planned or listed by the index of the folder."""
    owned = owned_files(folder)
    states = {p: State.FOREIGN for p in parents_of(planned) if is_no_folder(folder / p)}
    for path in {**planned, **owned}:
        present = content_of(folder / path)
        occupied = present is not None or os.path.lexists(folder / path)
        states[path] = judge(present, planned.get(path), owned.get(path), occupied=occupied)
    return states


def owned_files(folder: Path) -> dict[str, frozenset[str]]:
    """The files that the index of a folder lists, the index itself too, with the hashes of what was written."""
    index = content_of(folder / INDEX)
    if index is None:
        return {}
    entries = read_index(index.decode(errors="replace"))
    return {INDEX: frozenset({""})} | {p: frozenset(e.sha256 for e in several) for p, several in entries.items()}


def parents_of(paths: Iterable[str]) -> set[str]:
    """Every folder that paths lie in."""
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."}


def is_no_folder(path: Path) -> bool:
    """Whether something else than a folder is at a path; a link to one counts, since it leads out of the tree."""
    return os.path.lexists(path) and (path.is_symlink() or not path.is_dir())


def content_of(path: Path) -> bytes | None:
    """The content of a regular file, or None if there is none."""
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder: builds into it and its neighbours wait for each other. It ends with the process.

    Some network file systems cannot lock a folder; there, builds must not be run at the same time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in UNLOCKABLE:
                raise
        yield
    finally:
        os.close(handle)


def recover(folder: Path) -> None:
    """Clear up after a build that was killed."""
    place = Workplace.of(folder)
    if place.old.exists() and not folder.exists():
        place.old.rename(folder)
    if place.folder.exists():
        shutil.rmtree(place.folder)


def replace_tree(folder: Path, planned: Mapping[str, bytes], written: Written) -> None:
    """Lay the new tree in the workplace and put it in the old one's place."""
    place = Workplace.of(folder)
    try:
        place.folder.mkdir()
        (place.folder / ".gitignore").write_bytes(b"*\n")
        place.new.mkdir()
        keep_rest(folder, place.new, frozenset((*written.changed, *written.removed)))
        for path in written.changed:
            write_file(place.new / path, planned[path])
        sync_tree(place.new, written.changed)
        exchange(place.new, folder, place.old)
        sync(folder.parent)
    finally:
        recover(folder)


def keep_rest(folder: Path, stage: Path, gone: frozenset[str]) -> None:
    """Link everything of the old tree that is not replaced or removed into the new one.

    Folders that are left empty are dropped, unless they were empty before.
    """
    if not folder.exists():
        return
    for current, folders, files in os.walk(folder):
        relative = Path(current).relative_to(folder)
        links = [name for name in folders if Path(current, name).is_symlink()]
        kept = [name for name in (*files, *links) if (relative / name).as_posix() not in gone]
        if kept or not (folders or files):
            make_folder(folder, stage, relative)
        for name in kept:
            link_or_copy(folder / relative / name, stage / relative / name)


def make_folder(folder: Path, stage: Path, relative: Path) -> None:
    """Make a folder of the new tree, and those above it, with the permissions of the old ones."""
    for part in reversed((relative, *relative.parents)):
        if not (stage / part).exists():
            (stage / part).mkdir()
        shutil.copymode(folder / part, stage / part)


def link_or_copy(source: Path, target: Path) -> None:
    """A hard link, or a copy where the file system has none."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def write_file(path: Path, content: bytes) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
