"""What commands look into that write no tree: one environment, or files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.cli.findings import TEXT, refused
from kservec.cli.options import files_of
from kservec.cli.selection import selected
from kservec.core.listing import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.api import Target
    from kservec.cli.selection import Selection
    from kservec.io.reading import File
    from kservec.io.workspace import Workspace
    from kservec.project.settings import Settings


class Inputs(NamedTuple):
    """Files and the cluster they are compiled for; of an environment its project and its name, too."""

    files: Sequence[File]
    target: Target
    workspace: Workspace | None = None
    environment: str = ""

    @property
    def settings(self) -> Settings | None:
        """The settings of the environment, if it is one."""
        return self.workspace.environments[self.environment] if self.workspace is not None else None


def inputs_of(paths: Sequence[str], target: Target, layout: str = TEXT) -> Inputs:
    """What is compiled, and for which cluster: an environment, or files. `layout` is how findings are shown.

    Raises:
        click.UsageError: several environments are meant, or a path cannot be read.
        click.exceptions.Exit: the project cannot be used; what was found has been shown.
    """
    selection = selected(paths, target.limits.max_bytes)
    ctx = click.get_current_context()
    if selection is None:
        if not paths:
            raise click.UsageError("nothing to look into: name files or folders, or an environment", ctx)
        return Inputs(files_of(tuple(paths), target.limits), target)
    if selection.workspace is None:
        ctx.exit(refused(selection.diagnostics, selection.sources, layout))
    if len(selection.names) > 1:
        raise click.UsageError(f"which environment? Name one of {listed(selection.names)}", ctx)
    return inputs_of_environment(selection, selection.workspace, target, layout)


def inputs_of_environment(selection: Selection, workspace: Workspace, target: Target, layout: str) -> Inputs:
    """What one environment compiles.

    Raises:
        click.UsageError: a path cannot be read.
        click.exceptions.Exit: a path of the project is not there; it has been shown.
    """
    from kservec.environments import target_of  # noqa: PLC0415 - only with a project
    from kservec.io.named_paths import path_faults  # noqa: PLC0415 - as above
    from kservec.io.workspace import source_files  # noqa: PLC0415 - as above

    (name,) = selection.names
    ctx = click.get_current_context()
    if faults := tuple(path_faults(workspace, name)):
        ctx.exit(refused(faults, selection.sources, layout))
    settings = workspace.environments[name]
    try:
        files = source_files(workspace, settings, target.limits.max_bytes)
        return Inputs(files, target_of(workspace, settings, target.limits), workspace, name)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}", ctx) from None
