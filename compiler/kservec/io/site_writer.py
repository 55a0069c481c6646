"""Writing a site: all of it or nothing, and never over what is not ours.

The pages are laid beside the old ones as they are made, so that they need not be held together, and the two folders are
exchanged in one step. A marker in the folder lists the files; whatever else is there stays.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kservec.io.exchange import exchange, sync, sync_tree
from kservec.io.replacement import cleared_up, keep_rest, recover
from kservec.io.tree_writer import Workplace, locked

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKER = ".kservec-report"
HEADING = "# Files of a report of kservec, which the next one replaces. Other files stay."


class ForeignFolderError(Exception):
    """A folder that holds something which no report has written; the message names it."""


def write_site(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Make a folder hold a site, and return of how many files.

    Args:
        folder: the folder; it is made if it is not there.
        files: the path below the folder and the content of each file, which are taken one by one.

    Raises:
        ForeignFolderError: the folder holds other things and no site, or one of them is where a page would be.
        OSError: the folder cannot be written.
    """
    folder = Path(os.path.realpath(folder))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    with locked(folder.parent):
        place = Workplace.of(folder)
        recover(place, folder)
        owned = owned_by(folder)
        with cleared_up(place, folder):
            written = lay(place, files)
            refuse_taken(folder, owned, written)
            keep_rest(folder, place.new, frozenset((*owned, *written)))
            sync_tree(place.new, written)
            exchange(place.new, folder, place.old)
            sync(folder.parent)
    return len(written) - 1


def owned_by(folder: Path) -> frozenset[str]:
    """The files of the site that a folder holds, the marker among them; none if it is empty or not there.

    Raises:
        ForeignFolderError: it holds something else, and no site.
        OSError: it cannot be read.
    """
    marker = folder / MARKER
    if marker.is_file() and not marker.is_symlink():
        lines = marker.read_text(encoding="utf-8", errors="replace").splitlines()
        return frozenset((MARKER, *(line for line in lines if line and not line.startswith("#"))))
    if folder.exists() and (first := min((p.name for p in folder.iterdir()), default="")):
        raise ForeignFolderError(f"it holds {first}, and no report (it has no {MARKER})")
    return frozenset()


def lay(place: Workplace, files: Iterable[tuple[str, bytes]]) -> list[str]:
    """Write files into the workplace, and the marker that lists them; their paths."""
    place.folder.mkdir()
    (place.folder / ".gitignore").write_bytes(b"*\n")
    place.new.mkdir()
    written: list[str] = []
    folders = {place.new}
    for path, content in files:
        target = place.new / path
        if target.parent not in folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            folders.add(target.parent)
        with target.open("xb") as file:
            file.write(content)
        written.append(path)
    listing = "".join(f"{line}\n" for line in (HEADING, *sorted(written)))
    (place.new / MARKER).write_bytes(listing.encode())
    return [*written, MARKER]


def refuse_taken(folder: Path, owned: frozenset[str], written: Iterable[str]) -> None:
    """Refuse to write where something lies that is not of the site before.

    Raises:
        ForeignFolderError: there is something.
    """
    for path in written:
        if path not in owned and os.path.lexists(folder / path):
            raise ForeignFolderError(f"it holds {path}, which no report has written")
