"""Replacing a rendered tree: the new one is laid in a workplace beside the old one, and the two are exchanged.

What stays is linked, not copied. Whatever happens on the way, the workplace tells which of the two trees is whole.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from kservec.io.exchange import exchange, sync, sync_tree
from kservec.io.interrupts import no_interrupts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.io.tree_writer import Workplace, Written


def recover(place: Workplace, folder: Path) -> None:
    """Clear up after a build that was killed."""
    if place.old.exists() and not folder.exists():
        place.old.rename(folder)
    if place.folder.exists():
        shutil.rmtree(place.folder)


@contextlib.contextmanager
def cleared_up(place: Workplace, folder: Path) -> Iterator[None]:
    """Clear the workplace up after what is done inside. Interrupts that come meanwhile wait for the end of that.

    One may come just before clearing up begins: then it is begun again.
    """
    try:
        try:
            yield
        finally:
            with no_interrupts():
                recover(place, folder)
    except KeyboardInterrupt:
        with no_interrupts():
            recover(place, folder)
        raise


def replace_tree(place: Workplace, folder: Path, planned: Mapping[str, bytes], written: Written) -> None:
    """Lay the new tree in the workplace and put it in the old one's place."""
    with cleared_up(place, folder):
        place.folder.mkdir()
        (place.folder / ".gitignore").write_bytes(b"*\n")
        place.new.mkdir()
        keep_rest(folder, place.new, frozenset((*written.changed, *written.removed)))
        for path in written.changed:
            write_file(place.new / path, planned[path])
        sync_tree(place.new, written.changed)
        exchange(place.new, folder, place.old)
        sync(folder.parent)


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
