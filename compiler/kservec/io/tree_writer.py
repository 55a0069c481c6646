"""Writing a rendered tree: all of it or nothing, and never over what is not ours.

A new tree is laid beside the old one, with hard links to all that stays, and the two are exchanged in one step of the
file system. Whenever the machine stops, the folder holds the old tree or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX
from kservec.gitops.ownership import OBSTACLES, State, judge, obstacle

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

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
        place = Workplace.of(folder)
        if place.folder.exists():
            clear_up(place, folder)
        states = states_of(folder, planned)
        blocked = sorted(p for p, state in states.items() if blocks(state, force=force))
        if blocked:
            return Written(obstacles=tuple(obstacle(states[p], shown.as_posix(), p) for p in blocked))
        touched = sorted(p for p, state in states.items() if state is not State.SAME)
        written = Written(tuple(p for p in touched if p in planned), tuple(p for p in touched if p not in planned))
        if touched:
            replace(place, folder, planned, written)
        return written


def clear_up(place: Workplace, folder: Path) -> None:
    """Finish or undo what a build that was killed has left."""
    from kservec.io.replacement import recover  # noqa: PLC0415 - few builds are killed

    recover(place, folder)


def replace(place: Workplace, folder: Path, planned: Mapping[str, bytes], written: Written) -> None:
    """Put a new tree in the place of the old one."""
    from kservec.io.replacement import replace_tree  # noqa: PLC0415 - a tenth of a build that changes nothing

    replace_tree(place, folder, planned, written)


def obstacles_in(folder: Path, planned: Mapping[str, bytes], *, force: bool) -> tuple[Diagnostic, ...]:
    """What is in the way of a tree: files that were edited by hand, or that kservec did not write.

    Raises:
        OSError: something cannot be read.
    """
    states = sorted(states_of(Path(os.path.realpath(folder)), planned).items())
    return tuple(obstacle(s, folder.as_posix(), p) for p, s in states if blocks(s, force=force))


def blocks(state: State, *, force: bool) -> bool:
    """Whether a path in this state keeps a tree from being written. Force overwrites files, and never a folder."""
    return state is State.FOLDER or (state in OBSTACLES and not force)


def states_of(folder: Path, planned: Mapping[str, bytes]) -> dict[str, State]:
    """The state of every path that is planned or listed by the index of the folder, and of what bars the way to one."""
    owned = owned_files(folder)
    barred = barriers(folder, planned, owned)
    states = dict.fromkeys(barred, State.FOREIGN)
    for path in {**planned, **owned}:
        if barred and not parents_of([path]).isdisjoint(barred):
            states[path] = judge(None, planned.get(path), owned.get(path), occupied=False)
            continue
        if is_own_folder(folder / path):
            states[path] = folder_state(folder, path, planned, owned)
            continue
        present = content_of(folder / path)
        occupied = present is not None or os.path.lexists(folder / path)
        states[path] = judge(present, planned.get(path), owned.get(path), occupied=occupied)
    return states


def is_own_folder(path: Path) -> bool:
    """Whether a folder is at a path, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def folder_state(folder: Path, path: str, planned: Collection[str], owned: Collection[str]) -> State:
    """The state of a path where a folder lies: one that only holds what kservec wrote makes room for a file."""
    if path not in planned:
        return State.SAME
    for current, folders, files in os.walk(folder / path):
        place = PurePosixPath(Path(current).relative_to(folder).as_posix())
        is_link = any(Path(current, name).is_symlink() for name in folders)
        if is_link or not (folders or files) or any(str(place / name) not in owned for name in files):
            return State.FOLDER
    return State.WRITE


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


def barriers(folder: Path, planned: Iterable[str], owned: Iterable[str]) -> frozenset[str]:
    """What lies where a folder of planned or listed files belongs and is none: nothing behind it is in the tree.

    Where nothing is planned any more only links count: a build writes no folder there, and must not follow one.
    """
    due = parents_of(planned)
    left = parents_of(owned) - due
    return frozenset(
        (*(p for p in due if is_no_folder(folder / p)), *(p for p in left if (folder / p).is_symlink())),
    )


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
