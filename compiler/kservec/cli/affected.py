"""kservec affected: the environments and services that changed files concern."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.findings import Findings
from kservec.cli.labour import few_collections
from kservec.cli.revisions import base_for, chosen_environments, git_errors
from kservec.cli.status import FAILED
from kservec.cli.streams import write

if TYPE_CHECKING:
    from kservec.committed import Base
    from kservec.compare.affected import Reach
    from kservec.io.workspace import Workspace

TEXT, JSON = FORMATS = ("text", "json")


@click.command()
@click.argument("environments", nargs=-1, metavar="[ENV]...")
@click.option(
    "--since",
    "ref",
    required=True,
    metavar="REF",
    help="What changed since HEAD left the history of this commit, uncommitted files included.",
)
@click.option("--exact", is_flag=True, help="What changed since REF itself.")
@click.option("--format", "layout", type=click.Choice(FORMATS), default=TEXT, show_default=True)
def affected(environments: tuple[str, ...], *, ref: str, exact: bool, layout: str) -> int:  # fmt: skip
    """List the environments and services that the files concern which changed since REF.

    Nothing is compiled, so it takes a moment, and tells rather too much than too little: a change of the platform or of
    the project file concerns every service of an environment. `kservec diff` tells what really changes.

    \b
      kservec affected --since origin/main
      kservec affected --since main --format json | jq -r '.environments[].name'
    """  # noqa: D301
    selection = chosen_environments(environments)
    if selection.workspace is None:
        Findings(layout=TEXT, notes=False).show(selection.diagnostics, selection.sources)
        return FAILED
    from kservec.compare.affected import as_json, as_lines  # noqa: PLC0415 - only this command needs it

    base = base_for(selection.workspace, ref, exact=exact)
    Findings(layout=TEXT, notes=False).show(base.diagnostics, {})
    found = [reach_of(base, selection.workspace, name) for name in selection.names]
    reaches = [reach for reach in found if reach is not None]
    write(as_json(base.shown, base.short, reaches) if layout == JSON else as_lines(reaches))
    return 0


def reach_of(base: Base, workspace: Workspace, name: str) -> Reach | None:
    """What changed files concern in an environment; None if nothing.

    Raises:
        click.UsageError: git or the file system refuses something.
    """
    from kservec.comparisons import reach  # noqa: PLC0415 - only this command needs it

    try:
        with git_errors(), few_collections():
            return reach(base, workspace, name)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
