"""What a build may do to a tree that is most likely a mistake: shrink it, or restart more than the project allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.core.digits import integer
from kservec.core.records import record
from kservec.gitops.layout import INDEX

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kservec.cli.selection import Selection
    from kservec.core.diagnostics import Diagnostic
    from kservec.environments import Rendering

EVERYTHING = "all"


@record
class Allowed:
    """What a build may do to a tree that is most likely a mistake: leave nothing of it, or less than half.

    `restarts`: how many workloads may restart whatever the policy says; None lets go of the whole brake.
    """

    empty: bool = False
    shrink: bool = False
    restarts: int | None = 0


def restarts(ctx: click.Context, parameter: click.Parameter, value: str) -> int | None:
    """How many restarts an option accepts; None for `all`.

    Raises:
        click.BadParameter: it is neither a number nor `all`.
    """
    if value != EVERYTHING and not value.isdecimal():
        raise click.BadParameter(f"{value!r} is neither a number nor {EVERYTHING}", ctx, parameter)
    return None if value == EVERYTHING else integer(value)


def braked(selection: Selection, rendering: Rendering, folder: Path, accepted: int | None) -> Sequence[Diagnostic]:
    """Errors about a build that touches more of a tree than the project allows at once.

    Raises:
        click.ClickException: the tree cannot be read.
    """
    if accepted is None or selection.workspace is None or not rendering.settings.policy.brakes:
        return ()
    from kservec.braking import too_much  # noqa: PLC0415 - most projects have no brake

    try:
        return too_much(rendering, folder, selection.workspace, accepted)
    except OSError as error:
        raise click.ClickException(f"cannot read {error.filename or folder}: {error.strerror}") from None


def unbraked(selection: Selection, renderings: Sequence[Rendering]) -> list[str]:
    """Lines about new trees of projects with a brake, which has nothing to compare them with."""
    workspace = selection.workspace
    limited = [r for r in renderings if r.settings.policy.brakes and workspace is not None]
    if not limited or workspace is None:
        return []
    from kservec.braking import committed_difference  # noqa: PLC0415 - most projects have no brake

    new = [str(r.output) for r in limited if committed_difference(r, r.output, workspace) is None]
    return [
        f"hint: {folder} is new and not in git's last commit: the limits of policy had no tree to compare with"
        for folder in new
    ]


def refuse_shrinking(rendering: Rendering, folder: Path) -> None:
    """Refuse to take most of a tree away by mistake.

    Raises:
        click.UsageError: less than half of the objects would be left, or none of a namespace.
    """
    if not is_tree(folder):
        return
    from kservec.gitops.shrinking import shrinkage  # noqa: PLC0415 - not needed for a new tree
    from kservec.io.tree_writer import owned_files  # noqa: PLC0415 - as above

    if lost := shrinkage(owned_files(folder), rendering.tree):
        message = f"{folder}: {lost} would be removed; --allow-shrink does it"
        raise click.UsageError(message, click.get_current_context())


def is_tree(folder: Path) -> bool:
    """Whether a folder is a rendered tree."""
    return (folder / INDEX).exists()
