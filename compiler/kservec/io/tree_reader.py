"""Reading rendered trees: what there is at each path, and where trees lie that no environment renders into."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kservec.compare.tree_states import Entry
from kservec.gitops.layout import INDEX
from kservec.io.reading import SUFFIXES, shown_name
from kservec.io.tree_writer import content_of, is_no_folder, owned_files, parents_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


def present_files(folder: Path, planned: Collection[str]) -> tuple[dict[str, Entry], dict[str, frozenset[str]]]:
    """What there is in a folder at the paths that are planned or that its index lists, and all other manifests in it.

    A link in the place of a folder counts, too, since it leads out of the tree. Also returns the hashes that the index
    lists. What is hidden or no manifest is passed over, unless it is planned.

    Raises:
        OSError: something cannot be read.
    """
    listed = owned_files(folder)
    wanted = {**dict.fromkeys(planned), **listed}
    extra = (path for path in manifests_in(folder) if path not in wanted)
    present = {path: Entry(content_of(folder / path)) for path in (*wanted, *extra)}
    present |= {path: Entry(None) for path in parents_of(planned) if is_no_folder(folder / path)}
    return {path: entry for path, entry in present.items() if is_there(entry, folder / path)}, listed


def is_there(entry: Entry, path: Path) -> bool:
    """Whether there is something at a path."""
    return entry.content is not None or os.path.lexists(path)


def manifests_in(folder: Path) -> Iterator[str]:
    """The YAML and JSON files below a folder, links too, in no order."""
    base = os.fspath(folder)
    for current, folders, files in os.walk(base):
        folders[:] = [name for name in folders if not name.startswith(".")]
        lead = os.path.relpath(current, base)
        for name in files:
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield name if lead == "." else Path(lead, name).as_posix()


def trees_below(folders: Iterable[Path], known: Collection[Path]) -> Iterator[str]:
    """The rendered trees below folders that are none of the known ones. Hidden folders are passed over."""
    outputs = {os.path.realpath(path) for path in known}
    seen: set[str] = set()
    for folder in folders:
        for current, below, files in os.walk(folder):
            place = os.path.realpath(current)
            if place in outputs or place in seen:
                below.clear()
                continue
            below[:] = sorted(name for name in below if not name.startswith("."))
            if INDEX in files:
                seen.add(place)
                below.clear()
                yield shown_name(Path(current))
