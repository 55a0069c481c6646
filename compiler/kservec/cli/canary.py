"""kservec canary: a rollout step by step, each step an edit of a spec that is reviewed and merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.cli.edits import Edited, difference, differences, foreseen, made, show, show_refused, texts_of
from kservec.cli.selection import opened, refuse_unknown
from kservec.cli.streams import write
from kservec.core.diagnostics import Reject
from kservec.core.spelling import meant_name
from kservec.core.unit import Mode
from kservec.edits import overlaid_canary
from kservec.edits.layered import Texts
from kservec.edits.pins import refusal
from kservec.overlay_edits import in_the_way, lead_of, overlay_of, unexpected, values_of
from kservec.overlays.objects import id_of
from kservec.rollout import (
    Wanted,
    edited,
    overlaid,
    promote,
    refuse_overridden,
    roll_back,
    rollouts,
    shares,
    start,
    step,
)
from kservec.stable import stable_revision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.edits.changes import Change
    from kservec.edits.service import Service
    from kservec.io.workspace import Workspace
    from kservec.rollout import Rollout


ROLLBACK = "rollback"


class Asked(NamedTuple):
    """What a step was asked for: of which service, in which environment (empty: all), and if only to show it.

    `typed` are the values that it is to write.
    """

    name: str
    environment: str
    dry_run: bool
    typed: tuple[str, ...] = ()


class Step(NamedTuple):
    """A step of a canary: what it is called, the changes of a spec that it is, and how an overlay gets them."""

    command: str
    changes: Callable[[Workspace, Rollout], Sequence[Change]]
    laid: Callable[[Texts, Service, Sequence[Change]], Texts]


@click.group()
def canary() -> None:
    """Roll a new version out, step by step. Each step is an edit of the spec, ready for a pull request.

    With --env the edit is one of that environment's overlay, and other environments stay as they are.

    \b
      kservec canary start fraud --model s3://models/fraud/v8
      kservec canary step fraud --to 10
      kservec canary promote fraud
      kservec canary rollback fraud
      kservec canary start fraud --env prod --model s3://models/fraud/v8
    """  # noqa: D301


def service_argument(command: Callable[..., int]) -> Callable[..., int]:
    """The argument NAME, and the options for where, and to see what would be done."""
    dry = click.option("--dry-run", is_flag=True, help="Show the edit, and write nothing.")
    where = click.option("--env", "environment", default="", metavar="ENV", help="Edit the overlay of ENV alone.")
    return click.argument("name")(where(dry(command)))


def canary_option(command: Callable[..., int]) -> Callable[..., int]:
    """The option that names one of several canaries."""
    return click.option("--canary", "which", default="", metavar="NAME", help="Which canary, if there are several.")(
        command
    )


PERCENT = click.IntRange(0, 100)


@canary.command("start")
@service_argument
@click.option("--model", metavar="URI", help="Where the new version's model lies.")
@click.option("--runtime", metavar="NAME", help="The runtime of the new version.")
@click.option("--runtime-version", metavar="VERSION", help="The version of the runtime.")
@click.option("--image", metavar="IMAGE", help="The image of the model server.")
@click.option("--to", "percent", type=PERCENT, default=0, show_default=True, help="Its share of the traffic.")
@click.option("--canary", "which", default="", metavar="NAME",
              help="How the canary is called; by default as the last step of the model's URI.")  # fmt: skip
def start_canary(
    *, name: str, environment: str, dry_run: bool, percent: int, which: str, **pins: str | None
) -> int:  # fmt: skip
    """Start a canary of service NAME with another model, runtime or image."""
    given = {key: value for key, value in pins.items() if value is not None}
    if not given:
        message = "nothing differs: name a --model, --runtime, --runtime-version or --image"
        raise click.UsageError(message, click.get_current_context())
    if empty := [key for key, value in given.items() if not value.strip()]:
        raise click.UsageError(f"--{empty[0].replace('_', '-')} is empty", click.get_current_context())
    wanted = Wanted(given, percent, which)

    def changes(workspace: Workspace, rollout: Rollout) -> list[Change]:
        place = rollout.service.span("metadata", "name")
        stable = stable_revision(workspace, rollout.refs, place) if rollout.mode is Mode.KNATIVE else ""
        return start(rollout, wanted, stable)

    asked = Asked(name, environment, dry_run, tuple(given.values()))
    return carry_out(asked, Step("start", changes, overlaid_canary.started))


@canary.command("step")
@service_argument
@click.option("--to", "percent", type=PERCENT, required=True, help="The canary's share of the traffic.")
@canary_option
def step_canary(*, name: str, environment: str, dry_run: bool, percent: int, which: str) -> int:
    """Give the canary of service NAME another share of the traffic; 0 takes it all away."""
    wanted = Step("step", lambda _, rollout: step(rollout, percent, which), overlaid_canary.stepped)
    return carry_out(Asked(name, environment, dry_run), wanted)


@canary.command("promote")
@service_argument
@canary_option
def promote_canary(*, name: str, environment: str, dry_run: bool, which: str) -> int:
    """Make the canary of service NAME the stable version."""
    wanted = Step("promote", lambda _, rollout: promote(rollout, which), overlaid_canary.promoted)
    return carry_out(Asked(name, environment, dry_run), wanted)


@canary.command("rollback")
@service_argument
@canary_option
def rollback_canary(*, name: str, environment: str, dry_run: bool, which: str) -> int:
    """Take the canary of service NAME back: everything is what it was before."""
    wanted = Step(ROLLBACK, lambda _, rollout: roll_back(rollout, which), overlaid_canary.rolled_back)
    return carry_out(Asked(name, environment, dry_run), wanted)


@canary.command("status")
def canary_status() -> int:
    """List the canaries that run, with their shares of the traffic.

    Raises:
        click.ClickException: a file cannot be read.
    """
    try:
        running = running_in(opened())
    except Reject as reject:
        return show(reject.diagnostics, texts_of(reject.diagnostics), "")
    except OSError as error:
        raise click.ClickException(f"cannot read {error.filename}: {error.strerror}") from None
    for (ref, name, percent), environments in running.items():
        write(f"{ref.namespace}/{ref.name} {name or 'latest'} {percent}% ({', '.join(environments)})\n")
    return 0


def running_in(workspace: Workspace) -> dict[tuple[ObjectRef, str, int], list[str]]:
    """The environments in which a service's canary has some share of the traffic.

    Raises:
        OSError: a file cannot be read.
        Reject: specs are refused.
    """
    running: dict[tuple[ObjectRef, str, int], list[str]] = {}
    for rollout in read_rollouts(workspace):
        for environment, ref in rollout.refs.items():
            for name, percent in shares(overlaid(rollout, environment)).items():
                running.setdefault((ref, name, percent), []).append(environment)
    return running


def carry_out(asked: Asked, wanted: Step) -> int:
    """Take a step of a canary, if the project still compiles then.

    Raises:
        click.UsageError: there is no such service or environment.
        click.ClickException: a file cannot be read or written.
    """
    workspace = opened()
    if asked.environment:
        refuse_unknown(workspace, asked.environment)
    try:
        rollout = chosen(read_rollouts(workspace), asked)
        if asked.environment and workspace.environments[asked.environment].overlay:
            return carry_out_in_overlay(workspace, overlaid(rollout, asked.environment), asked, wanted)
        refuse_elsewhere(workspace, rollout, asked, wanted.command)
        changes = wanted.changes(workspace, rollout)
        refuse_overridden(rollout, changes, wanted.command)
        content = edited(rollout, changes)
    except Reject as reject:
        return show(reject.diagnostics, texts_of(reject.diagnostics), "nothing was written")
    except OSError as error:
        raise click.ClickException(f"cannot read {error.filename}: {error.strerror}") from None
    shown = difference(rollout.file.name, rollout.file.content, content)
    path = rollout.file.name.removeprefix(lead_of(workspace))
    subjects = frozenset(rollout.refs.values())
    edit = Edited(contents={path: content}, environments=rollout.environments, subjects=subjects, typed=asked.typed)
    return told(workspace, edit, shown, asked)


def carry_out_in_overlay(workspace: Workspace, rollout: Rollout, asked: Asked, wanted: Step) -> int:
    """Take a step in the overlay of one environment.

    Raises:
        OSError: a file cannot be read.
        Reject: it cannot be taken.
    """
    service = rollout.service
    overlay, before = overlay_of(workspace, asked.environment), values_of(workspace, asked.environment)
    takes_back = wanted.command == ROLLBACK and rollout.mode is Mode.KNATIVE
    texts = Texts(overlay)
    changes = overlaid_canary.taken_back(texts, service) if takes_back else wanted.changes(workspace, rollout)
    contents = wanted.laid(texts, service, changes).contents()
    refused = tuple(in_the_way(workspace, overlay, contents))
    if refused:
        raise Reject(*refused)
    called = id_of(service.value)
    assert called is not None
    expected = {**before, called: overlaid_canary.expected(service, changes)}
    edit = Edited(
        contents=contents,
        environments=(asked.environment,),
        verify=lambda project: unexpected(project, overlay, contents, expected),
        subjects=frozenset({service.ref}),
        typed=asked.typed,
    )
    return told(workspace, edit, differences(workspace, overlay.closure.contents, contents), asked)


def refuse_elsewhere(workspace: Workspace, rollout: Rollout, asked: Asked, command: str) -> None:
    """Refuse an edit of a spec that is not what was asked for: of other environments, or of no canary of theirs.

    Raises:
        Reject: it is one.
    """
    name, place = rollout.service.name, rollout.service.span("metadata", "name")
    others = [n for n in rollout.environments if n != asked.environment]
    if asked.environment and others:
        message = f"{asked.environment} has no overlay, and {', '.join(others)} would change, too"
        hint = f"leave out --env to edit them all, or give {asked.environment} an overlay in {workspace.file.name}"
        raise refusal(message, place, hint)
    if command == "start" or shares(rollout):
        return
    running = [n for n in rollout.environments if shares(overlaid(rollout, n))]
    if running:
        message = f"the canary of {name} runs in the overlay of {', '.join(running)} alone"
        hint = f"kservec canary {command} {name} --env {running[0]}"
        raise refusal(message, place, hint)


def read_rollouts(workspace: Workspace) -> list[Rollout]:
    """The services of all environments."""
    return rollouts(workspace, workspace.environments)


def chosen(found: Sequence[Rollout], asked: Asked) -> Rollout:
    """The service that a name means, `namespace/name` where several namespaces have one.

    Raises:
        click.UsageError: there is none, or there are several.
    """
    ctx, name, environment = click.get_current_context(), asked.name, asked.environment
    there = [r for r in found if not environment or environment in r.units]
    named = [r for r in there if name in names_of(r, environment)]
    if len(named) == 1:
        return named[0]
    if not named:
        where = f"environment {environment}" if environment else "the project"
        known = {text for r in there for text in names_of(r, environment) if ("/" in name) == ("/" in text)}
        near = meant_name(name, known)
        hint = f"; did you mean {near}?" if near else ""
        raise click.UsageError(f"{where} has no InferenceService {name}{hint}", ctx)
    places = ", ".join(f"{r.service.ref.namespace}/{r.service.name} in {r.file.name}" for r in named)
    raise click.UsageError(f"{name} is written in several places: {places}; edit them by hand, or name one", ctx)


def names_of(rollout: Rollout, environment: str) -> set[str]:
    """What a service may be called, in one environment or in any of them."""
    refs = [rollout.refs[environment]] if environment else rollout.refs.values()
    return {text for ref in refs for text in (ref.name, f"{ref.namespace}/{ref.name}")}


def told(workspace: Workspace, edit: Edited, shown: str, asked: Asked) -> int:
    """Make an edit, or see what would come of it where it is only to be shown, and say what was found.

    Raises:
        click.ClickException: a file cannot be read or written.
    """
    outcome = foreseen(workspace, edit) if asked.dry_run else made(workspace, edit)
    if not outcome.done:
        return show_refused(outcome)
    write(shown)
    if asked.dry_run:
        return show(outcome.found, outcome.texts, "nothing was written: a dry run")
    names = ", ".join(f"{lead_of(workspace)}{path}" for path in sorted(edit.contents))
    return show(outcome.found, outcome.texts, f"{names} edited; next: kservec build, and a pull request")
