"""Environments on the command line: rendering all that are meant before anything is done with any."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from kservec.cli.labour import crew, few_collections
from kservec.cli.sharding import chosen_share, refuse_patched
from kservec.core.diagnostics import Severity
from kservec.core.text.source import Limits
from kservec.io.bounds import ExceededError, bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from kservec.cli.selection import Selection
    from kservec.core.diagnostics import Diagnostic
    from kservec.environments import Rendering

DAYS = ("%Y-%m-%d",)
TODAY = "kservec.today"


def rendered(selection: Selection, limits: Limits | None = None) -> list[Rendering]:
    """All environments of a selection, rendered in memory.

    Raises:
        click.UsageError: a path of the project does not exist or cannot be read.
    """
    from kservec.environments import render, stopped, together  # noqa: PLC0415 - as above

    assert selection.workspace is not None
    refuse_patched(selection)
    workspace, limits = selection.workspace, limits or Limits()
    try:
        with few_collections(), bounded(limits):
            share, workers = chosen_share(), crew(workspace=workspace)
            made = [render(workspace, name, limits=limits, crew=workers, share=share) for name in selection.names]
            return together(workspace, made)
    except ExceededError as exceeded:
        return [stopped(workspace, name, exceeded.diagnostic) for name in selection.names]
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None


def all_findings(
    selection: Selection, renderings: Sequence[Rendering], *, gate: bool = False
) -> tuple[Diagnostic, ...]:
    """What was found in the project and its environments, what several of them share once.

    Args:
        selection: the project and the environments.
        renderings: the environments, rendered.
        gate: whether findings about waivers count as the project says; else they are warnings, for they change with
            the day.
    """
    found = [d for rendering in renderings for d in rendering.diagnostics]
    if selection.workspace is not None:
        from kservec.io.named_paths import misplaced  # noqa: PLC0415 - only with a project

        found += [d for r in renderings for d in misplaced(selection.workspace, r.settings)]
    if any(rendering.excuses for rendering in renderings):
        found += waivers_found(selection, renderings, gate=gate)
    return tuple(dict.fromkeys((*selection.diagnostics, *found)))


def waivers_found(selection: Selection, renderings: Sequence[Rendering], *, gate: bool) -> Iterator[Diagnostic]:
    """What there is to say about waivers on this day: nothing in the output hangs on it."""
    from kservec.policy.judging import graded  # noqa: PLC0415 - as below
    from kservec.policy.waivers import waiver_findings  # noqa: PLC0415 - most projects have no waivers

    workspace = selection.workspace
    every = workspace is not None and len(selection.names) == len(workspace.environments)
    whole = every and chosen_share() is None
    ok = all(rendering.ok for rendering in renderings)
    found = waiver_findings([r.excuses for r in renderings], today(), whole=whole and ok)
    yield from graded(found, [r.settings.policy for r in renderings], worst=None if gate else Severity.WARNING)


def today_option(command: Callable[..., int]) -> Callable[..., int]:
    """The option that says which day it is, for waivers that end."""
    return click.option("--today", metavar="DATE", callback=keep_today, expose_value=False, type=click.DateTime(DAYS),
                        help="The day that waivers are held against, such as 2027-01-31. Default: the machine's "
                             "date. Findings say which of them have expired by then; what is rendered does not "
                             "change.")(command)  # fmt: skip


def keep_today(ctx: click.Context, parameter: click.Parameter, value: datetime | None) -> None:
    """Keep the day of the option for when findings are gathered."""
    del parameter
    if value is not None:
        ctx.meta[TODAY] = value.date().isoformat()


def today() -> str:
    """The day that waivers are held against."""
    given: str | None = click.get_current_context().meta.get(TODAY)
    return given or date.today().isoformat()


def all_sources(selection: Selection, renderings: Sequence[Rendering]) -> dict[str, str]:
    """The texts that findings point into."""
    sources = dict(selection.sources)
    for rendering in renderings:
        sources.update(rendering.texts)
    return sources
