"""kservec promote: what one environment serves, another one takes over, by an edit of its overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.edits import Edited, differences, foreseen, made, show, texts_of
from kservec.cli.findings import JSON, TEXT, Findings
from kservec.cli.selection import opened, refuse_unknown
from kservec.cli.status import DIFFERENT, FAILED
from kservec.cli.streams import write
from kservec.core.diagnostics import Reject
from kservec.core.spelling import meant_name
from kservec.overlay_edits import in_the_way, unexpected, units_of
from kservec.promotion import Promotion, pairs_of, promotion
from kservec.report.json import identity, location
from kservec.report.words import json_text, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.unit import Unit
    from kservec.io.workspace import Workspace
    from kservec.promotion import Pair, Promoted


@click.command()
@click.argument("environment", metavar="ENV")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--from", "source", metavar="ENV", required=True, help="The environment that the pins are taken from.")
@click.option("--dry-run", is_flag=True, help="Show the edit, and write nothing.")
@click.option("--check", "only_check", is_flag=True, help="Say whether pins differ (exit status 3), and write nothing.")
@click.option("--format", "layout", type=click.Choice((TEXT, JSON)), default=TEXT, show_default=True,
              help="How the edit is shown.")  # fmt: skip
def promote(  # noqa: PLR0913 - the options of a command
    *, environment: str, names: tuple[str, ...], source: str, dry_run: bool, only_check: bool, layout: str
) -> int:  # fmt: skip
    """Let environment ENV serve what another one serves: models, images, runtimes and their versions.

    Edits pins in the overlay of ENV, and nothing else: where that overlay sets a pin, in its place; else in a patch
    called pins-NAMESPACE-NAME.yaml. NAMEs are services, `namespace/name` where several are called alike; all that both
    environments have if there are none.

    Exit status: 0 if all is as it should be, 1 for what cannot be promoted, 3 for differing pins with --check.

    \b
      kservec promote prod --from staging
      kservec promote prod --from staging fraud --dry-run
      kservec promote prod --from staging --check
    """  # noqa: D301
    workspace = opened()
    for name in (environment, source):
        refuse_unknown(workspace, name)
    if environment == source:
        message = f"{environment} is promoted from itself; name two environments"
        raise click.UsageError(message, click.get_current_context())
    try:
        units = units_of(workspace, source), units_of(workspace, environment)
        pairs = chosen(pairs_of(*units), names, units)
        found = promotion(workspace, (source, environment), pairs)
        if found.overlay is not None:
            refused = tuple(in_the_way(workspace, found.overlay, found.contents))
            if refused:
                raise Reject(*refused)
    except Reject as reject:
        return refuse(reject, layout)
    except OSError as error:
        raise click.ClickException(f"cannot read {error.filename}: {error.strerror}") from None
    if not found.promoted:
        return nothing(workspace, found, (source, environment), layout)
    if only_check:
        return checked(found, (source, environment), layout)
    return carried_out(workspace, found, environment, (layout, dry_run))


def chosen(pairs: Sequence[Pair], names: Sequence[str], units: tuple[Sequence[Unit], Sequence[Unit]]) -> list[Pair]:
    """The services that are meant.

    Raises:
        click.UsageError: a name means none that both environments have.
    """
    ctx = click.get_current_context()
    for name in names:
        if any(name in (pair.name, pair.target.ref.name) for pair in pairs):
            continue
        there = [any(name in full_names(unit) for unit in side) for side in units]
        near = meant_name(name, {known for pair in pairs for known in (pair.name, pair.target.ref.name)})
        if any(there):
            raise click.UsageError(f"only one of the two environments has {name}; nothing can be promoted", ctx)
        raise click.UsageError(f"neither environment has {name}" + (f"; did you mean {near}?" if near else ""), ctx)
    return [p for p in pairs if not names or p.target.ref.name in names or p.name in names]


def full_names(unit: Unit) -> tuple[str, str]:
    """What a unit may be called."""
    return unit.ref.name, f"{unit.ref.namespace}/{unit.ref.name}"


def refuse(reject: Reject, layout: str) -> int:
    """Show why nothing is promoted."""
    if layout == JSON:
        Findings(layout=JSON, notes=False).show(reject.diagnostics, {}, alone=True)
        return FAILED
    return show(reject.diagnostics, texts_of(reject.diagnostics), "nothing was written")


def nothing(workspace: Workspace, found: Promotion, environments: tuple[str, str], layout: str) -> int:
    """Say that there is nothing to promote."""
    source, target = environments
    if layout == JSON:
        write(report(found, ""))
        return 0
    shared = not any(workspace.environments[name].overlay for name in environments)
    why = "they compile the same sources, without overlays" if shared else "their pins are the same"
    remarks(found)
    write(f"nothing to promote from {source} to {target}: {why}\n", err=True)
    return 0


def checked(found: Promotion, environments: tuple[str, str], layout: str) -> int:
    """Say which pins differ."""
    source, target = environments
    write(report(found, "") if layout == JSON else "".join(f"{line_of(pin)}\n" for pin in found.promoted))
    if layout == TEXT:
        remarks(found)
        write(f"{plural(len(found.promoted), 'pin')} of {target} differ from {source}: kservec promote\n", err=True)
    return DIFFERENT


def carried_out(workspace: Workspace, found: Promotion, environment: str, options: tuple[str, bool]) -> int:
    """Edit the overlay."""
    layout, dry_run = options
    assert found.overlay is not None
    overlay = found.overlay
    shown = differences(workspace, overlay.closure.contents, found.contents)
    edited = Edited(
        contents=found.contents,
        environments=(environment,),
        verify=lambda project: unexpected(project, overlay, found.contents, found.expected),
        subjects=frozenset(pin.ref for pin in found.promoted),
    )
    outcome = foreseen(workspace, edited) if dry_run else made(workspace, edited)
    if not outcome.done:
        return refuse(Reject(*outcome.found), layout)
    if layout == JSON:
        write(report(found, shown))
        return 0
    write(shown)
    remarks(found)
    for pin in found.promoted:
        write(f"{line_of(pin)}\n", err=True)
    done = "would be promoted" if dry_run else f"promoted; next: kservec build {environment}, and a pull request"
    write(f"{plural(len(found.promoted), 'pin')} {done}\n", err=True)
    return 0


def remarks(found: Promotion) -> None:
    """Say what differs and is left as it is."""
    for remark in found.left:
        write(f"{remark}\n", err=True)


def line_of(pin: Promoted) -> str:
    """A pin in one line."""
    place = f"{pin.span.file}:{pin.span.line}"
    return f"{pin.ref.namespace}/{pin.ref.name} {pin.field}: {pin.before or '(not set)'} -> {pin.after} ({place})"


def report(found: Promotion, shown: str) -> str:
    """A promotion as JSON: its pins, the files that it edits, what is left as it is, and the edit as a diff."""
    pins = [
        {
            "object": identity(pin.ref),
            "field": pin.field,
            "before": pin.before or None,
            "after": pin.after,
            "location": location(pin.span),
        }
        for pin in found.promoted
    ]
    document = {"promoted": pins, "files": sorted(found.contents), "remarks": list(found.left), "diff": shown}
    return json_text(document)
