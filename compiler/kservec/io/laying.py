"""Laying down new files beside what is there already: nothing is ever overwritten."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kservec.scaffold.repository import Planned


class Laid(NamedTuple):
    """What became of the files: written, there already with that very text, or left as the user has them."""

    written: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    """Samples that were not written, since their folder holds something already."""


def lay(folder: Path, planned: Iterable[Planned]) -> Laid:
    """Write those files that are not there. Samples go into new folders only.

    Raises:
        OSError: a folder or a file cannot be made; what was written before stays.
    """
    files = list(planned)
    samples = {file.path.rpartition("/")[0] for file in files if file.sample}
    taken = {place for place in samples if holds_something(folder / place)}
    fates: dict[str, list[str]] = {"written": [], "same": [], "kept": [], "passed_over": []}
    for file in files:
        fates[fate(folder, file, taken)].append(file.path)
    return Laid(**{name: tuple(paths) for name, paths in fates.items()})


def fate(folder: Path, file: Planned, taken: set[str]) -> str:
    """Write one file if it is not there, and say what became of it."""
    path = folder / file.path
    if os.path.lexists(path):
        return "same" if path.is_file() and path.read_bytes() == file.text.encode() else "kept"
    if file.sample and file.path.rpartition("/")[0] in taken:
        return "passed_over"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as new:
        new.write(file.text.encode())
    return "written"


def holds_something(folder: Path) -> bool:
    """Whether there is a folder, and something in it."""
    return folder.is_dir() and any(folder.iterdir())
