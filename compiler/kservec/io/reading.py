"""Reading the files of a run."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
    """Files, folders (the YAML and JSON files below them; hidden ones left out) and standard input, each once.

    A file that is larger than `max_bytes` is cut just past it: enough for the parser to refuse it.

    Raises:
        OSError: a path does not exist, is no regular file, or cannot be read.
    """
    found: dict[str, File] = {}
    for path in paths:
        if path == STDIN:
            found[STDIN] = File(STDIN_NAME, sys.stdin.buffer.read(max_bytes + 1))
            continue
        for file in files_below(Path(path)):
            found.setdefault(os.path.realpath(file), File(file.as_posix(), read_file(file, max_bytes)))
    return tuple(found.values())


def read_file(path: Path, max_bytes: int) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: it cannot be read, or is a device, pipe or socket, which might never end.
    """
    if not stat.S_ISREG(path.stat().st_mode) and str(path) != "/dev/stdin":
        raise OSError(f"{path}: not a regular file")
    with path.open("rb") as file:
        return file.read(max_bytes + 1)


def files_below(path: Path) -> Iterator[Path]:
    """The file itself, or the files of a folder in the order of their names. Links to folders are not followed."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        yield from (Path(folder, f) for f in sorted(files) if f.endswith(SUFFIXES) and not f.startswith("."))
