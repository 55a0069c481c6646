"""kservec report: a static site that shows an environment before it is deployed."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec.cli.environments import all_findings, all_sources, today_option
from kservec.cli.findings import TEXT, Findings
from kservec.cli.folders import Folder
from kservec.cli.labour import few_collections
from kservec.cli.progress import Progress
from kservec.cli.selection import Selection, environment_names, selected_one
from kservec.cli.status import FAILED
from kservec.report.words import plural

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kservec.committed import Base
    from kservec.core.diagnostics import Diagnostic
    from kservec.io.workspace import Workspace
    from kservec.reporting import Witnessed

NEEDED = "jinja2"
NO_TEMPLATES = "the report is made with Jinja2, which is not installed: pip install 'kservec[report]'"


def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The environments that a shell may offer."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    del ctx, parameter
    return [CompletionItem(name) for name in environment_names() if name.startswith(incomplete)]


@click.command()
@click.argument("environment", metavar="ENV", shell_complete=completions)
@click.option("--output", "-o", required=True, metavar="DIR", type=Folder(path_type=Path),
              help="Folder of the site. It must be new, empty, or hold an earlier report.")  # fmt: skip
@click.option("--diff", "ref", metavar="REF", help="Also show what changes against this commit.")
@click.option("--exact", is_flag=True, help="Compare with REF itself, not with where HEAD left its history.")
@today_option
def report(*, environment: str, output: Path, ref: str | None, exact: bool) -> int:
    """Write a static site that shows the environment ENV: what runs, where each field comes from, what it needs.

    ENV is one of kservec.yaml, which also says what the cluster is like: there is no report of files alone.
    Open DIR/index.html in a browser, or put DIR onto any web server. The same inputs give the same bytes, but for
    waivers that have expired by the day (--today).

    \b
      kservec report prod --output site/
      kservec report prod --output site/ --diff main
    """  # noqa: D301
    ctx = click.get_current_context()
    if importlib.util.find_spec(NEEDED) is None:
        raise click.UsageError(NO_TEMPLATES, ctx)
    if exact and ref is None:
        raise click.UsageError("--exact goes with --diff", ctx)
    selection = selected_one(environment)
    workspace = selection.workspace
    if workspace is None:
        Findings(layout=TEXT, notes=False).show(selection.diagnostics, selection.sources)
        return FAILED
    refuse_place(output)
    base = base_for(workspace, ref, exact=exact)
    with few_collections():
        return shown(selection, rendered(workspace, environment), base, output)


def shown(selection: Selection, seen: Witnessed, base: Base | None, output: Path) -> int:
    """Write the site of a rendered environment unless it has errors, and say what was found.

    Raises:
        click.UsageError, click.ClickException, click.exceptions.Exit: as `written`, or the folder holds something of
            the project.
    """
    from kservec.cli.places import refuse_overlap  # noqa: PLC0415 - not needed for the help

    assert selection.workspace is not None
    findings = Findings(layout=TEXT, notes=False)
    refuse_overlap(selection.workspace, seen.rendering, output)
    found, sources = all_findings(selection, [seen.rendering]), all_sources(selection, [seen.rendering])
    if not seen.rendering.ok:
        findings.show(found, sources, outcome="nothing was written")
        return FAILED
    count = written(selection.workspace, seen, found, base, output)
    findings.show((*found, *(base.diagnostics if base else ())), sources, outcome=f"{output}: {plural(count, 'file')}")
    return 0


def refuse_place(output: Path) -> None:
    """Refuse a folder that must not be replaced, or holds something else than a report, before anything is rendered.

    Raises:
        click.UsageError: it is one.
    """
    from kservec.cli.places import unreplaceable  # noqa: PLC0415 - not needed for the help
    from kservec.io.site_writer import ForeignFolderError, owned_by  # noqa: PLC0415 - as above

    folder = Path(os.path.realpath(output))
    try:
        fault = unreplaceable(folder)
        if not fault:
            owned_by(folder)
    except OSError as error:
        fault = error.strerror or "it cannot be read"
    except ForeignFolderError as error:
        fault = f"{error}; choose a folder of its own"
    if fault:
        raise click.UsageError(f"--output {output}: {fault}", click.get_current_context())


def base_for(workspace: Workspace, ref: str | None, *, exact: bool) -> Base | None:
    """The commit to compare with, if any.

    Raises:
        click.UsageError: there is none of that name.
    """
    if ref is None:
        return None
    from kservec.cli.revisions import base_for as found_base  # noqa: PLC0415 - only with --diff

    return found_base(workspace, ref, exact=exact)


def rendered(workspace: Workspace, environment: str) -> Witnessed:
    """The environment in memory.

    Raises:
        click.UsageError: a path of the project does not exist or cannot be read.
    """
    from kservec.reporting import witnessed  # noqa: PLC0415 - not needed for the help

    try:
        return witnessed(workspace, environment, Progress())
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None


def written(
    workspace: Workspace, seen: Witnessed, found: tuple[Diagnostic, ...], base: Base | None, output: Path
) -> int:
    """Write the site; of how many files it is.

    Raises:
        click.ClickException: the folder cannot be written.
        click.UsageError: git refuses something, or the folder holds something in the way.
        click.exceptions.Exit: the sources of the commit have errors; they have been shown.
    """
    from kservec.cli.revisions import git_errors  # noqa: PLC0415 - not needed for the help
    from kservec.cli.writing import begin  # noqa: PLC0415 - as above
    from kservec.core.diagnostics import Reject  # noqa: PLC0415 - as above
    from kservec.io.site_writer import ForeignFolderError, write_site  # noqa: PLC0415 - as above
    from kservec.reporting import report_pages  # noqa: PLC0415 - as above

    ctx = click.get_current_context()
    begin(output)
    try:
        with git_errors():
            return write_site(output, report_pages(workspace, seen, found, base))
    except Reject as reject:
        Findings(layout=TEXT, notes=False).show(reject.diagnostics, {}, outcome="nothing was written")
        ctx.exit(FAILED)
    except ForeignFolderError as error:
        raise click.UsageError(f"--output {output}: {error}", ctx) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename or output}: {error.strerror}") from None
