"""Stamps: what tells that files have changed, without reading them.

Files are looked at again and again instead of waiting for notices of the operating system: those do not come from
network file systems, folders that a container mounts, or other systems' drives, and a look at a thousand files takes a
few milliseconds.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.text.file_names import is_yaml_or_json

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

HIDDEN = "."


class Stamp(NamedTuple):
    """The state of a file: when it was written in nanoseconds, its size in bytes, and which file it is."""

    modified: int
    size: int
    node: int


def stamps(paths: Iterable[str], apart: Container[str]) -> dict[str, Stamp]:
    """The stamps of files, and of all YAML and JSON in folders, by their paths. What cannot be looked at is not there.

    Args:
        paths: files and folders.
        apart: real paths of folders that are left out, as are those whose names begin with a dot.
    """
    return dict(sorted(found(paths, apart)))


def found(paths: Iterable[str], apart: Container[str]) -> Iterator[tuple[str, Stamp]]:
    """Each file with its stamp. Folders are looked into once, however many links lead to them."""
    waiting = list(paths)
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        try:
            state = os.stat(path)
            entries = list(os.scandir(path)) if os.path.isdir(path) else None
        except OSError:
            continue
        if entries is None:
            yield path, Stamp(state.st_mtime_ns, state.st_size, state.st_ino)
            continue
        real = os.path.realpath(path)
        if real not in seen and real not in apart:
            seen.add(real)
            waiting += [entry.path for entry in entries if is_input(entry)]


def is_input(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder may be read by a build: not what editors put beside the files that they write."""
    return not entry.name.startswith(HIDDEN) and (entry.is_dir() or is_yaml_or_json(entry.name))


def changed(before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> tuple[str, ...]:
    """The paths of files that are new, gone or written anew."""
    return tuple(sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)))
