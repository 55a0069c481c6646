"""Putting one folder in the place of another, and waiting until the disk has it."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

RENAME_EXCHANGE = 2
AT_FDCWD = -100
FEW = 16
"""So many files and folders are waited for one by one; beyond that it is quicker to wait for the whole file system."""


def exchange(new: Path, folder: Path, old: Path) -> None:
    """Put the new folder in the place of the present one: in one step where the system can, else by two renames.

    Afterwards `new` or `old` is the former folder.

    Raises:
        OSError: the folder cannot be renamed, as when it is a mount point. It is as it was before.
    """
    if not folder.exists():
        new.rename(folder)
    elif not exchanged(new, folder):
        folder.rename(old)
        new.rename(folder)


def exchanged(first: Path, second: Path) -> bool:
    """Exchange two folders with one system call; False where there is none.

    Raises:
        OSError: there is one, but it failed.
    """
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


def sync_tree(folder: Path, written: Sequence[str]) -> None:
    """Wait until the files that were written below a folder, and all its folders, are on the disk."""
    if sys.platform == "win32":
        return
    fresh = [*(folder / path for path in written), *(Path(current) for current, _, _ in os.walk(folder))]
    if len(fresh) > FEW and synced(folder):
        return
    for path in fresh:
        sync(path)


def synced(folder: Path) -> bool:
    """Wait for the whole file system of a folder; False where there is no system call for it."""
    if not sys.platform.startswith("linux"):
        return False
    sync_system = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if sync_system is None:
        return False
    handle = os.open(folder, os.O_RDONLY)
    try:
        return bool(sync_system(handle) == 0)
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
