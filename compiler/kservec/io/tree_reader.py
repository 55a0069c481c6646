"""Reading rendered trees: what there is at each path, and where trees lie that no environment renders into."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kservec.compare.tree_states import Entry
from kservec.core.diagnostics import Diagnostic, Span
from kservec.core.text.file_names import is_yaml_or_json
from kservec.gitops.layout import INDEX
from kservec.gitops.ownership import FOREIGN
from kservec.io.reading import shown_name
from kservec.io.tree_writer import barriers, content_of, owned_files, parents_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


def present_files(folder: Path, planned: Collection[str]) -> tuple[dict[str, Entry], dict[str, frozenset[str]]]:
    """What there is in a folder at the paths that are planned or that its index lists, and all other manifests in it.

    A link in the place of a folder counts, too, since it leads out of the tree; what is behind it does not. Also
    returns the hashes that the index lists. What is hidden or no manifest is passed over, unless it is planned.

    Raises:
        OSError: something cannot be read.
    """
    listed = owned_files(folder)
    wanted = frozenset((*planned, *listed))
    present = dict(entries_in(os.fspath(folder), wanted))
    barred = barriers(folder, planned, listed)
    missed = (path for path in wanted if path not in present and os.path.lexists(folder / path))
    within = (path for path in missed if not barred or parents_of([path]).isdisjoint(barred))
    present |= {path: Entry(content_of(folder / path)) for path in within}
    present |= dict.fromkeys(barred, Entry(None))
    return present, listed


def unindexed(folder: Path, planned: Mapping[str, bytes]) -> Iterator[Diagnostic]:
    """Errors about the files of a tree without an index that a build would not write as they are.

    Raises:
        OSError: something cannot be read.
    """
    present, _ = present_files(folder, planned)
    back = f"bring the index back: git checkout -- {shown_name(folder / INDEX)}"
    for path, entry in sorted(present.items()):
        if path not in planned:
            said, advice = "a build does not write this file", f"{back}; or move it away"
        elif entry.content != planned[path]:
            said, advice = "this is not what a build writes", f"{back}; --force overwrites it"
        else:
            continue
        message = f"{said}, and without {INDEX} nothing tells whose it is"
        yield Diagnostic(code=FOREIGN, message=message, span=Span(shown_name(folder / path)), help=advice)


def entries_in(folder: str, wanted: Collection[str], lead: str = "") -> Iterator[tuple[str, Entry]]:
    """The files below a folder that are wanted or manifests, links and the like too, by their paths with slashes.

    Hidden files and folders are passed over.

    Raises:
        OSError: something cannot be read.
    """
    if not os.path.isdir(folder):
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from entries_in(entry.path, wanted, f"{lead}{entry.name}/")
            elif (path := lead + entry.name) in wanted or is_yaml_or_json(path):
                yield path, Entry(content(entry.path) if entry.is_file(follow_symlinks=False) else None)


def content(path: str) -> bytes:
    """The content of a file.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        return file.readall()


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
