"""Trees that shrink: what a build would take away, where that looks like a mistake. Pure.

A filter with a slip, an empty overlay or a wrong path leads to a tree without most of its objects, and whatever syncs
it deletes them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.gitops.layout import INDEX, KUSTOMIZATION
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def shrinkage(before: Collection[str], after: Collection[str]) -> str:
    """What would be lost, in words: more than half of the objects, or all of a namespace; empty if neither is.

    Args:
        before: the paths of the files that kservec wrote.
        after: the paths of the files that it is to write.
    """
    old, new = objects_in(before), objects_in(after)
    lost = len(old) - len(new)
    if lost * 2 > len(old):
        return f"{lost} of {plural(len(old), 'object')}"
    gone = sorted(folders(old) - folders(new))
    if not gone:
        return ""
    count = sum(path.split("/")[0] in gone for path in old)
    return f"everything in {', '.join(gone)} ({plural(count, 'object')})"


def objects_in(paths: Iterable[str]) -> list[str]:
    """Those paths that hold objects."""
    names = (INDEX, KUSTOMIZATION)
    return [path for path in paths if path.rpartition("/")[2] not in names and not path.startswith(f"{GITOPS_FOLDER}/")]


def folders(paths: Iterable[str]) -> set[str]:
    """The folders at the top, which are those of namespaces and of what the cluster holds."""
    return {path.split("/")[0] for path in paths if "/" in path}
