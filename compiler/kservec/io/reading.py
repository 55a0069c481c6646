"""Reading the files of a run."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
STDIN_NAME = "<stdin>"


class File(NamedTuple):
    """A file of the input: its name as diagnostics show it, and its content."""

    name: str
    content: bytes


def read_files(paths: Sequence[str], max_bytes: int) -> tuple[File, ...]:
    """Files, folders (the YAML and JSON files below them) and standard input, each once.

    Of folders, what is hidden is left out, and so are trees that kservec wrote. A file that is larger than `max_bytes`
    is cut just past it: enough for the parser to refuse it.

    Raises:
        OSError: a path does not exist or cannot be read, a folder holds nothing to read, or standard input is named
            twice. `filename` is the path.
    """
    if paths.count(STDIN) > 1:
        raise OSError(errno.EINVAL, "standard input can be read once only", STDIN)
    found: dict[str, File] = {}
    for path in paths:
        if path == STDIN:
            if sys.stdin is None:
                raise OSError(errno.EBADF, "standard input is closed", STDIN)
            found[STDIN] = File(STDIN_NAME, sys.stdin.buffer.read(max_bytes + 1))
        else:
            add_files(Path(path), max_bytes, found)
    return tuple(found.values())


def read_tree(folder: Path, holding: bytes, max_bytes: int) -> tuple[File, ...]:
    """Those files of a tree that kservec wrote which hold some text, by the names that its index lists.

    Raises:
        OSError: the folder has no index, or a file cannot be read.
    """
    listed = read_index((folder / INDEX).read_text(encoding="utf-8", errors="replace"))
    paths = [folder / name for name in sorted(listed) if (folder / name).is_file()]
    files = (File(shown_name(path), read_file(path, max_bytes, regular=True)) for path in paths)
    return tuple(file for file in files if holding in file.content)


def add_files(path: Path, max_bytes: int, found: dict[str, File]) -> None:
    """Add a file, or the files of a folder, to what was read, unless it is there already under another name.

    Raises:
        OSError: as `read_files`.
    """
    is_folder = path.is_dir()
    files = list(files_below(path)) if is_folder else [path]
    if not files:
        reason = "it is a tree that kservec wrote" if (path / INDEX).exists() else "no YAML or JSON file in this folder"
        raise OSError(errno.ENOENT, reason, str(path))
    for file in files:
        identity = os.path.realpath(file)
        if identity not in found:
            content = read_file(file, max_bytes, regular=is_folder)
            found[identity] = File(shown_name(file), content)


def read_file(path: Path, max_bytes: int, *, regular: bool) -> bytes:
    """The content of a file; a pipe will do unless it has to be a `regular` one, as for those found in a folder.

    Raises:
        OSError: it cannot be read, or might never end.
    """
    if regular and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        return file.read(max_bytes + 1)


def shown_name(path: Path) -> str:
    """A path as text; bytes of it that are no UTF-8 are spelt out."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def files_below(folder: Path) -> Iterator[Path]:
    """The YAML and JSON files of a folder in the order of their names. Links to folders are not followed.

    Raises:
        OSError: a folder cannot be listed.
    """
    for current, folders, files in os.walk(folder, onerror=fail):
        if INDEX in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        wanted = sorted(name for name in files if name.endswith(SUFFIXES) and not name.startswith("."))
        yield from (Path(current, name) for name in wanted)


def fail(error: OSError) -> None:
    """Make `os.walk` stop at a folder that it cannot list; left alone it would pass over it.

    Raises:
        OSError: the error.
    """
    raise error
