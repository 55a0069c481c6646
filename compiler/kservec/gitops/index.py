"""The index of a rendered tree: which files are the compiler's, what was in them, and who they belong to.

One line a file, sorted, no totals: additions in two branches merge as text. Reading takes line by line and tolerates
the marks of an unresolved merge, where either side counts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.golang.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER = '{"apiVersion":"kservec.dev/v1alpha1","kind":"Index","files":{'
FOOTER = "}}"


class Entry(NamedTuple):
    """What the index knows of a file. A kustomization follows from the list of files and has neither."""

    sha256: str = ""
    owner: str = ""


def index_text(entries: Mapping[str, Entry]) -> str:
    """The text of an index."""
    lines = [f"{json.dumps(path)}: {entry_text(entry)}" for path, entry in sorted(entries.items())]
    return "\n".join((HEADER, *([",\n".join(lines)] if lines else []), FOOTER, ""))


def entry_text(entry: Entry) -> str:
    """One entry, as a JSON object without what is empty."""
    return json.dumps({k: v for k, v in entry._asdict().items() if v}, separators=(", ", ": "))


def read_index(text: str) -> dict[str, tuple[Entry, ...]]:
    """The entries of an index by path, as far as its lines can be read.

    A path has several entries where a merge conflict left both sides. Paths that leave the folder are left out.
    """
    entries: dict[str, tuple[Entry, ...]] = {}
    for line in text.splitlines():
        try:
            pair = decode(f"{{{line.strip().rstrip(',')}}}")
        except ValueError:
            continue
        for path, fields in pair.items():
            if isinstance(fields, dict) and is_inside(path):
                entry = Entry(str(fields.get("sha256", "")), str(fields.get("owner", "")))
                entries[path] = (*entries.get(path, ()), entry)
    return entries


def is_inside(path: str) -> bool:
    """Whether a path stays below the folder that it is relative to."""
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and "\\" not in path and not {"", ".", ".."} & set(parts)
