"""What commands look into that write no tree: one environment, or files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.environments import selected
from kservec.cli.findings import TEXT, Findings
from kservec.cli.options import files_of
from kservec.cli.status import FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.api import Target
    from kservec.io.reading import File


def inputs_of(paths: Sequence[str], target: Target) -> tuple[Sequence[File], Target]:
    """What is compiled, and for which cluster: an environment, or files.

    Raises:
        click.UsageError: several environments are meant, or a path cannot be read.
        click.exceptions.Exit: the project cannot be used; what was found has been shown.
    """
    selection = selected(paths, target.limits.max_bytes)
    ctx = click.get_current_context()
    if selection is None:
        if not paths:
            raise click.UsageError("nothing to look into: name files or folders, or an environment", ctx)
        return files_of(tuple(paths), target.limits), target
    if selection.workspace is None:
        Findings(layout=TEXT, notes=False).show(selection.diagnostics, selection.sources)
        ctx.exit(FAILED)
    if len(selection.names) > 1:
        raise click.UsageError(f"which environment? Name one of {', '.join(selection.names)}", ctx)
    from kservec.environments import target_of  # noqa: PLC0415 - only with a project
    from kservec.io.named_paths import path_faults  # noqa: PLC0415 - as above
    from kservec.io.workspace import source_files  # noqa: PLC0415 - as above

    if faults := tuple(path_faults(selection.workspace, selection.names[0])):
        Findings(layout=TEXT, notes=False).show(faults, selection.sources)
        ctx.exit(FAILED)
    settings = selection.workspace.environments[selection.names[0]]
    try:
        files = source_files(selection.workspace, settings, target.limits.max_bytes)
        return files, target_of(selection.workspace, settings, target.limits)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}", ctx) from None
