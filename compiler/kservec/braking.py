"""Braking: what a build would do to a tree in the file system, against what the project allows at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kservec.committed import base_of, committed_tree, differing
from kservec.compare.objects import Side, owners_in
from kservec.compare.report import COMMITTED, Comparison, compared
from kservec.core.paths import lookup
from kservec.gitops.layout import INDEX
from kservec.io.git import GitError
from kservec.io.tree_writer import content_of, owned_files
from kservec.policy.brake import brake_findings, touched

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace


def too_much(rendering: Rendering, folder: Path, workspace: Workspace, accepted: int) -> tuple[Diagnostic, ...]:
    """Errors about a build that touches more of a tree than the policy allows; none for a tree that is new.

    A tree that was deleted is not new: the one that is committed counts.

    Args:
        rendering: the environment as it is to be.
        folder: where its tree is.
        workspace: the project, whose document says the limits.
        accepted: how many restarts the user accepts.

    Raises:
        OSError: the tree cannot be read.
    """
    policy, place = rendering.settings.policy, Path(os.path.realpath(folder))
    index = content_of(place / INDEX)
    change = (
        committed_difference(rendering, folder, workspace) if index is None else difference(rendering, place, index)
    )
    if change is None:
        return ()
    found = touched(change)

    def locate(name: str) -> Span | None:
        document = workspace.project.document
        own = ("environments", rendering.settings.name, "policy", name)
        return document.span(own if lookup(document.value, own) is not None else ("policy", name))

    return tuple(brake_findings(folder.as_posix(), found, policy, accepted, locate))


def committed_difference(rendering: Rendering, folder: Path, workspace: Workspace) -> Comparison | None:
    """What changes against the tree that the last commit has; None where there is none, or git is not at hand."""
    if os.path.realpath(folder) != os.path.realpath(rendering.output):
        return None
    try:
        base = base_of(workspace, "HEAD", exact=True)
        blobs = committed_tree(base, rendering.settings)
        if blobs is None:
            return None
        before, after = differing(base, blobs, rendering.tree)
        index = base.repository.contents([blobs[INDEX].identity])[blobs[INDEX].identity]
    except GitError:
        return None
    sides = Side(before, owners_in(index, before)), Side(after, owners_in(rendering.tree[INDEX], after))
    settings = rendering.settings
    return compared(Comparison(settings.name, settings.output, COMMITTED), *sides, rendering.objects)


def difference(rendering: Rendering, folder: Path, index: bytes) -> Comparison:
    """What changes in a tree.

    Raises:
        OSError: it cannot be read.
    """
    present = {path: content_of(folder / path) for path in owned_files(folder)}
    tree = rendering.tree
    before = {path: old for path, old in present.items() if old is not None and tree.get(path) != old}
    after = {path: new for path, new in tree.items() if present.get(path) != new}
    sides = Side(before, owners_in(index, before)), Side(after, owners_in(tree[INDEX], after))
    settings = rendering.settings
    return compared(Comparison(settings.name, settings.output, COMMITTED), *sides, rendering.objects)
