"""kservec diff: what changes against a commit, by object and field, and what that does to pods and traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.environments import all_findings, all_sources, rendered
from kservec.cli.findings import Findings
from kservec.cli.labour import cache_option, few_collections, jobs_option
from kservec.cli.options import known_profile
from kservec.cli.revisions import base_for, chosen, git_errors
from kservec.cli.status import DIFFERENT, FAILED
from kservec.cli.streams import write
from kservec.core.text.source import Limits
from kservec.io.bounds import ExceededError, bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kservec.cli.selection import Selection
    from kservec.committed import Base
    from kservec.compare.report import Comparison, Report
    from kservec.environments import Rendering

TEXT, JSON, MARKDOWN = FORMATS = ("text", "json", "markdown")


def upgrade_options(command: Callable[..., int]) -> Callable[..., int]:
    """The options that say what an upgrade would bring."""
    profile = click.option("--profile", "coming", metavar="VERSION", callback=known_profile,
                           help="Show what compiling for this version of KServe would do.")  # fmt: skip
    platform = click.option("--platform", "over", multiple=True, metavar="PATH", type=click.Path(),
                            help="Show what this file or folder over the platform would do. Repeatable.")  # fmt: skip
    only = click.option("--only", multiple=True, metavar="SELECTION",
                        help="Show it for these services alone: a namespace, a label as tier=dev, or "
                             "namespace/Kind/name. Repeatable.")  # fmt: skip
    return profile(platform(only(command)))


@click.command()
@click.argument("arguments", nargs=-1, metavar="[REF] [ENV]...")
@click.option("--exact", is_flag=True, help="Compare with REF itself, not with where HEAD left its history.")
@click.option(
    "--format",
    "layout",
    type=click.Choice(FORMATS),
    default=TEXT,
    show_default=True,
    help="Markdown is for a comment on a pull request.",
)
@upgrade_options
@click.option("--exit-code", is_flag=True, help="Exit with 3 if anything is different.")
@jobs_option
@cache_option
@click.option("--notes/--no-notes", default=False, show_default=True, help="Show notes about the input, too.")
def diff(  # noqa: PLR0913 - click hands over one argument an option
    arguments: tuple[str, ...], *, exact: bool, layout: str, exit_code: bool, notes: bool, coming: str | None,
    over: tuple[str, ...], only: tuple[str, ...],
) -> int:  # fmt: skip
    """Show what changes against the commit REF, by object and field; which pods restart, and which traffic moves.

    The tree that was committed where HEAD left the history of REF is compared with what a build makes now, uncommitted
    files and all. Without REF it is the tree of HEAD: what the next commit changes. ENV are names of environments, all
    of them if there are none. Where no tree was committed, one is built of the sources of that commit.

    With --profile or --platform it is shown what an upgrade would do, by the line of the catalog or platform that it
    comes from: against what is on disk, or against REF. --only shows it for some of the services.

    \b
      kservec diff
      kservec diff main prod
      kservec diff origin/main --format markdown > comment.md
      kservec diff --profile 0.21
      kservec diff --platform platform/next --only team-a
    """  # noqa: D301
    selection, ref = chosen(arguments)
    findings = Findings(layout=TEXT, notes=notes)
    if selection.workspace is None:
        findings.show(selection.diagnostics, selection.sources)
        return FAILED
    if coming or over or only:
        from kservec.cli.previews import selections, show_upgrade, wanted_of  # noqa: PLC0415 - seldom wanted

        if exact and ref not in arguments:
            raise click.UsageError("--exact goes with REF", click.get_current_context())
        base = base_for(selection.workspace, ref, exact=exact) if ref in arguments else None
        return show_upgrade(selection, base, wanted_of(coming, over, selections(only)), layout, exit_code=exit_code)
    base = base_for(selection.workspace, ref, exact=exact)
    renderings = rendered(selection)
    found, sources = all_findings(selection, renderings), all_sources(selection, renderings)
    if not all(rendering.ok for rendering in renderings):
        findings.show(found, sources)
        return FAILED
    findings.show((*found, *base.diagnostics), sources)
    report = reported(selection, base, renderings, every=len(arguments) == 0 or arguments == (ref,))
    if report is None:
        return FAILED
    write(text_of(report, layout))
    return DIFFERENT if exit_code and report.differs else 0


def reported(selection: Selection, base: Base, renderings: Sequence[Rendering], *, every: bool) -> Report | None:
    """The comparison of environments, with those that there are no more if all are meant; None if that failed.

    Raises:
        click.UsageError: git or the file system refuses something.
    """
    from kservec.compare.report import Report  # noqa: PLC0415 - only this command compares
    from kservec.core.diagnostics import Reject  # noqa: PLC0415 - as above

    try:
        with git_errors(), few_collections(), bounded(Limits()):
            comparisons = compared_all(selection, base, renderings, every=every)
    except Reject as reject:
        Findings(layout=TEXT, notes=False).show(reject.diagnostics, {})
        return None
    except ExceededError as exceeded:
        Findings(layout=TEXT, notes=False).show((exceeded.diagnostic,), {})
        return None
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    return Report(base.shown, base.short, tuple(comparisons))


def compared_all(selection: Selection, base: Base, renderings: Sequence[Rendering], *, every: bool) -> list[Comparison]:
    """The comparison of each environment.

    Raises:
        GitError, Reject, OSError: as `comparison_of`.
    """
    from kservec.comparisons import comparison_of, removed  # noqa: PLC0415 - only this command compares

    assert selection.workspace is not None
    comparisons = [comparison_of(base, selection.workspace, rendering) for rendering in renderings]
    known = selection.workspace.environments
    gone = [removed(base, old) for name, old in base.environments.items() if every and name not in known]
    return [*comparisons, *(comparison for comparison in gone if comparison is not None)]


def text_of(report: Report, layout: str) -> str:
    """A comparison in a format."""
    from kservec.compare.json_report import json_report  # noqa: PLC0415 - only this command compares
    from kservec.compare.markdown_report import markdown_report  # noqa: PLC0415 - as above
    from kservec.compare.text_report import text_report  # noqa: PLC0415 - as above

    return {TEXT: text_report, JSON: json_report, MARKDOWN: markdown_report}[layout](report)
