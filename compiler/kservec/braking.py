"""Braking: what a build would do to a tree in the file system, against what the project allows at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kservec.compare.objects import Side, owners_in
from kservec.compare.report import COMMITTED, Comparison, compared
from kservec.core.paths import lookup
from kservec.gitops.layout import INDEX
from kservec.io.tree_writer import content_of, owned_files
from kservec.policy.brake import brake_findings, touched

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace


def too_much(rendering: Rendering, folder: Path, workspace: Workspace, accepted: int) -> tuple[Diagnostic, ...]:
    """Errors about a build that touches more of a tree than the policy allows; none for a tree that is new.

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
    if index is None:
        return ()
    found = touched(difference(rendering, place, index))

    def locate(name: str) -> Span | None:
        document = workspace.project.document
        own = ("environments", rendering.settings.name, "policy", name)
        return document.span(own if lookup(document.value, own) is not None else ("policy", name))

    return tuple(brake_findings(folder.as_posix(), found, policy, accepted, locate))


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
