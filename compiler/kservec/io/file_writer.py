"""Writing a single file: all of it or nothing; and whether it could be written."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Give a file another content in one step, following links; its mode stays.

    Raises:
        OSError: the file cannot be written. It names this file, not the one that takes its place.
    """
    try:
        replace(path.resolve(), content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def replace(path: Path, content: bytes) -> None:
    """The same for a path without links.

    Raises:
        OSError: as above, of whichever file.
    """
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            os.chmod(beside, path.stat().st_mode & 0o7777)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def refuse_unwritable(path: Path) -> None:
    """Look whether a file could be replaced or taken away, and leave all as it is.

    That is up to its folder: a file that is read-only is replaced as any other.

    Raises:
        OSError: it could not, as far as that can be told; the error is the one that `replace_file` would raise.
    """
    target = path.resolve()
    if target.is_dir():
        raise unwritable(errno.EISDIR, path)
    if not target.parent.is_dir():
        raise unwritable(errno.ENOTDIR if target.parent.exists() else errno.ENOENT, path)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise unwritable(errno.EROFS if is_mounted_read_only(target.parent) else errno.EACCES, path)


def unwritable(number: int, path: Path) -> OSError:
    """The error of the system that a file cannot be written."""
    return OSError(number, os.strerror(number), str(path))


def is_mounted_read_only(folder: Path) -> bool:
    """Whether nobody can write into a folder, where the system tells."""
    return hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
