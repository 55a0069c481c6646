"""Whose a file of a rendered tree is, and what must not be overwritten. Pure.

The index says which files kservec wrote and with what content. A file that differs from it was edited by hand; a file
that it does not list belongs to somebody else.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.gitops.layout import digest

if TYPE_CHECKING:
    from collections.abc import Collection

EDITED = Code(
    "output/edited-by-hand",
    Severity.ERROR,
    "a rendered file was changed after kservec wrote it",
    "The rendered tree is made from the specs, so a build would lose this change. Make it in the spec or the "
    "platform's documents, then restore the file from version control, or build with --force.",
)
FOREIGN = Code(
    "output/foreign-file",
    Severity.ERROR,
    "a file that kservec did not write is in the way",
    "The build wants to write a file of this name, but the tree's index does not list the one that is there. Move it "
    "away, choose another output folder, or build with --force.",
)

CONFLICT = Code(
    "output/merge-conflict",
    Severity.ERROR,
    "a rendered file holds the marks of a merge conflict",
    "Two branches changed this file and git could not merge it. There is nothing to resolve by hand: merge the specs, "
    "then build with --force, which makes the tree anew from them.",
)
REWRITTEN = Code(
    "output/line-ends-converted",
    Severity.ERROR,
    "git converted the line ends of a rendered file",
    "The file differs in its line ends alone. Add a line for the folder of the tree, such as `rendered/** -text`, to "
    ".gitattributes and check the files out anew.",
)
CONVERTED = "its line ends were converted"
has_conflict = re.compile(rb"^(?:<{7}|>{7})(?:[ \r\n]|\Z)", re.MULTILINE).search
"""Finds a mark of a merge conflict: one is enough, for a file that was half mended is no better."""

ATTRIBUTES = ".gitattributes"


class State(Enum):
    """What is to be done with one path of the tree."""

    SAME = auto()
    WRITE = auto()
    REMOVE = auto()
    EDITED = auto()
    CONFLICT = auto()
    REWRITTEN = auto()
    FOREIGN = auto()
    FOLDER = auto()


def judge(present: bytes | None, planned: bytes | None, written: Collection[str] | None, *, occupied: bool) -> State:
    """The state of a path.

    Args:
        present: the content of the file that is there; None if there is no regular file.
        planned: what is to be there; None for a file that is to go.
        written: the hashes that the index knows, an empty one if it lists the path without; None if it does not.
        occupied: whether something is there, be it a file, a link or a folder.
    """
    if present == planned and (present is not None or not occupied):
        return State.SAME
    if occupied and written is None:
        is_ours = present is not None and is_rewritten(present, planned, None)
        return State.REWRITTEN if is_ours else State.FOREIGN
    if occupied and written and "" not in written and (present is None or digest(present) not in written):
        return edited(present or b"", planned, written)
    return State.REMOVE if planned is None else State.WRITE


def edited(present: bytes, planned: bytes | None, written: Collection[str]) -> State:
    """The state of a file that the index lists with another content."""
    if has_conflict(present):
        return State.CONFLICT
    return State.REWRITTEN if is_rewritten(present, planned, written) else State.EDITED


def is_rewritten(present: bytes, planned: bytes | None, written: Collection[str] | None) -> bool:
    """Whether a file differs from what is planned, or from what was written, in its line ends alone."""
    if b"\r\n" not in present:
        return False
    restored = present.replace(b"\r\n", b"\n")
    return restored == planned or bool(written and digest(restored) in written)


def keeping_lines(folder: str) -> str:
    """What keeps git from converting line ends in a folder, as it was named."""
    above, _, name = folder.rpartition("/")
    is_outside = folder.startswith("/") or ".." in folder.split("/")
    pattern, file = (name, f"{above}/{ATTRIBUTES}") if is_outside else (folder, ATTRIBUTES)
    return f"put `{pattern}/** -text` into {file} and check the files out anew"


OBSTACLES = {
    State.EDITED: (EDITED, "this file was changed after kservec wrote it", "--force overwrites it"),
    State.CONFLICT: (CONFLICT, "this file holds a merge conflict", "--force makes it anew from the specs"),
    State.FOREIGN: (FOREIGN, "this file was not written by kservec", "move it away; --force overwrites it"),
    State.FOLDER: (FOREIGN, "a folder lies where kservec writes a file", "move it away; nothing overwrites a folder"),
    State.REWRITTEN: (REWRITTEN, CONVERTED, ""),
}
"""States in which a path must not be written: the code, what is wrong, and what to do, if that is always the same."""


def obstacle(state: State, folder: str, path: str) -> Diagnostic:
    """The error about a path below a folder that must not be written."""
    code, message, advice = OBSTACLES[state]
    return Diagnostic(code=code, message=message, span=Span(f"{folder}/{path}"), help=advice or keeping_lines(folder))
