"""Writing a rendered tree: all of it or nothing, and never over what is not ours.

A new tree is laid beside the old one, with hard links to all that stays, and the two are exchanged in one step of the file
system. Whenever the machine stops, the folder holds the old tree or the new one.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX, digest

STAGE_MARK = ".kservec-new"
OLD_MARK = ".kservec-old"
RENAME_EXCHANGE = 2
AT_FDCWD = -100


class Written(NamedTuple):
    """What a write did, as paths below the folder."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Obstacle(Exception):  # noqa: N818 - what stands in the way is no failure of the writer
    """Files that the compiler must not overwrite: edited by hand, or never its own. Paths below the folder."""

    def __init__(self, edited: tuple[str, ...], foreign: tuple[str, ...]) -> None:
        super().__init__(edited, foreign)
        self.edited = edited
        self.foreign = foreign


def write_tree(folder: Path, planned: Mapping[str, bytes], *, force: bool) -> Written:
    """Make the compiler's part of a folder equal to what is planned. Files that are not in the index stay.

    Raises:
        Obstacle: a file to write or remove was edited by hand, or is not in the index; `force` writes all the same.
        OSError: the folder cannot be written.
    """
    folder = Path(os.path.realpath(folder))
    with locked(folder.parent):
        recover(folder)
        present = owned_files(folder)
        if not force:
            refuse_obstacles(folder, planned, present)
        changed = tuple(sorted(p for p, content in planned.items() if read_or_none(folder / p) != content))
        removed = tuple(sorted(p for p in present if p not in planned and (folder / p).exists()))
        if changed or removed:
            replace_tree(folder, planned, frozenset(changed), frozenset(removed))
        return Written(changed, removed)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder: two builds into neighbours wait for each other. The lock ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def recover(folder: Path) -> None:
    """Clear up after a build that was killed."""
    old, stage = beside(folder, OLD_MARK), beside(folder, STAGE_MARK)
    if old.exists() and not folder.exists():
        old.rename(folder)
    for rest in (old, stage):
        if rest.exists():
            shutil.rmtree(rest)


def beside(folder: Path, mark: str) -> Path:
    """A hidden neighbour of a folder."""
    return folder.with_name(f".{folder.name}{mark}")


def owned_files(folder: Path) -> dict[str, str]:
    """The files that the index of a folder lists, with the hash of what was written; empty for a kustomization."""
    content = read_or_none(folder / INDEX)
    if content is None:
        return {}
    entries = read_index(content.decode(errors="replace"))
    return {path: entry.sha256 for path, entry in entries.items()} | {INDEX: ""}


def read_or_none(path: Path) -> bytes | None:
    """The content of a regular file, or None if there is none."""
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes()


def refuse_obstacles(folder: Path, planned: Mapping[str, bytes], owned: Mapping[str, str]) -> None:
    """Find what must not be overwritten.

    Raises:
        Obstacle: there is something.
    """
    edited: list[str] = []
    foreign: list[str] = []
    for path in sorted({*planned, *owned}):
        content = read_or_none(folder / path)
        if content is None and not os.path.lexists(folder / path):
            continue
        if content is not None and content == planned.get(path):
            continue
        if path not in owned:
            foreign.append(path)
        elif owned[path] and (content is None or digest(content) != owned[path]):
            edited.append(path)
    if edited or foreign:
        raise Obstacle(tuple(edited), tuple(foreign))


def replace_tree(folder: Path, planned: Mapping[str, bytes], changed: frozenset[str], removed: frozenset[str]) -> None:
    """Lay the new tree beside the old one and exchange them."""
    stage = beside(folder, STAGE_MARK)
    stage.mkdir()
    keep_rest(folder, stage, changed | removed)
    for path in sorted(changed):
        write_durably(stage / path, planned[path])
    for directory, _, _ in os.walk(stage):
        sync_folder(Path(directory))
    exchange(stage, folder)
    sync_folder(folder.parent)
    recover(folder)


def keep_rest(folder: Path, stage: Path, gone: frozenset[str]) -> None:
    """Link everything of the old tree that is not replaced or removed into the new one; empty folders are dropped."""
    if not folder.exists():
        return
    stage.chmod(folder.stat().st_mode & 0o7777)
    for directory, folders, files in os.walk(folder):
        relative = Path(directory).relative_to(folder)
        links = [f for f in folders if Path(directory, f).is_symlink()]
        for name in (*files, *links):
            path = relative / name
            if path.as_posix() not in gone:
                (stage / path).parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(folder / path, stage / path)


def link_or_copy(source: Path, target: Path) -> None:
    """A hard link, or a copy where the file system has none."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def write_durably(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the entries of a folder are on the disk."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def exchange(stage: Path, folder: Path) -> None:
    """Put the new folder in the old one's place: in one step where the system can, else by two renames."""
    if not folder.exists():
        stage.rename(folder)
    elif not exchanged(stage, folder):
        folder.rename(beside(folder, OLD_MARK))
        stage.rename(folder)


def exchanged(first: Path, second: Path) -> bool:
    """Exchange two folders with one system call; False where there is none."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(second))
