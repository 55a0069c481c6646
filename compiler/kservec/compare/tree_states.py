"""What a rendered tree in the file system is, held against what a build writes: file by file. Pure.

The index of the tree is never trusted: it does not decide whether a file is right, it only tells what to call one that
is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.objects import UNREADABLE, Side, changed_objects, holds_objects
from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.gitops.layout import digest
from kservec.gitops.ownership import (
    CONFLICT,
    CONVERTED,
    EDITED,
    FOREIGN,
    REWRITTEN,
    has_conflict,
    is_rewritten,
    keeping_lines,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kservec.compare.objects import Changed

OUT_OF_DATE = Code(
    "output/out-of-date",
    Severity.ERROR,
    "a rendered file is not what a build writes now",
    "The specs, the platform or kservec changed since the tree was built. Build it, and commit the tree with the "
    "change that made it stale. After a merge of two branches each tree can be right and the merged one stale.",
)
MISSING = Code(
    "output/missing-file",
    Severity.ERROR,
    "a file of the rendered tree is missing",
    "A build writes it. It was deleted, was not committed, or git ignores it.",
)
STALE = Code(
    "output/stale-file",
    Severity.ERROR,
    "a file of the rendered tree that a build would remove",
    "The object is not rendered any more, and the file would keep it in the cluster. Build, which removes it.",
)
ORPHAN = Code(
    "output/orphan-tree",
    Severity.ERROR,
    "a rendered tree of no environment",
    "No environment of kservec.yaml renders into this folder, so nothing keeps it up to date, and whatever syncs it "
    "goes on running what is in it. Remove the folder, and what points to it, or bring the environment back.",
)
ADVICE = {
    OUT_OF_DATE: ("this file is not what a build writes", "kservec build"),
    MISSING: ("this file is missing", "kservec build, and commit it"),
    STALE: ("this file is not rendered any more", "kservec build removes it"),
    EDITED: ("this file was changed after kservec wrote it", "change the spec; kservec build --force restores it"),
    CONFLICT: ("this file holds a merge conflict", "merge the specs; kservec build --force makes the tree anew"),
    FOREIGN: ("kservec did not write this file", "move it out of the tree, or name it in include"),
}


class Entry(NamedTuple):
    """What there is at a path: the content of a regular file; None for a link, a folder and the like."""

    content: bytes | None


class Flaw(NamedTuple):
    """A file that is not as a build would write it, and the objects that differ in it if both sides hold some."""

    code: Code
    path: str
    changes: tuple[Changed, ...] = ()

    def diagnostic(self, folder: str) -> Diagnostic:
        """The flaw as a finding about a file of a folder."""
        message, advice = ADVICE[self.code] if self.code is not REWRITTEN else (CONVERTED, keeping_lines(folder))
        fields = [f"{change.ref}: {d.path}" for change in self.changes for d in change.differences]
        shown = f" ({', '.join(fields[:3])}{' ...' if len(fields) > 3 else ''})" if fields else ""
        return Diagnostic(code=self.code, message=f"{message}{shown}", span=Span(f"{folder}/{self.path}"), help=advice)


def flaws(
    present: Mapping[str, Entry], planned: Mapping[str, bytes], listed: Mapping[str, Collection[str]]
) -> Iterator[Flaw]:
    """What is wrong with a tree, in the order of the paths.

    Args:
        present: what there is at each path that is planned or listed, and every other manifest in the folder.
        planned: the files that a build writes.
        listed: the hashes of files by the tree's own index.
    """
    for path in sorted({**present, **planned}):
        there, due = present.get(path), planned.get(path)
        if there is None:
            yield Flaw(MISSING, path)
        elif there.content is None or there.content != due:
            code = code_of(there.content, due, listed.get(path))
            yield Flaw(code, path, fields_of(path, there.content, due))


def code_of(content: bytes | None, due: bytes | None, hashes: Collection[str] | None) -> Code:
    """What a file that is not as it should be is called."""
    if content is not None and has_conflict(content):
        return CONFLICT
    if content is not None and is_rewritten(content, due, hashes):
        return REWRITTEN
    if hashes is None or content is None:
        return FOREIGN
    if "" in hashes or digest(content) in hashes:
        return STALE if due is None else OUT_OF_DATE
    return EDITED


def fields_of(path: str, content: bytes | None, due: bytes | None) -> tuple[Changed, ...]:
    """The objects of a file that differ, before and after a build."""
    if content is None or due is None or not holds_objects(path):
        return ()
    changes, found = changed_objects(Side({path: content}, {}), Side({path: due}, {}), "")
    return () if any(d.code is UNREADABLE for d in found) else changes


def orphan(folder: str, project: str) -> Diagnostic:
    """The finding about a tree that no environment renders into."""
    message = f"{folder} is a rendered tree, and no environment of {project} renders into it"
    return Diagnostic(code=ORPHAN, message=message, span=Span(folder), help=f"remove it: git rm -r {folder}")
