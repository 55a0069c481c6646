"""kservec canary: a rollout step by step, each step an edit of a spec that is reviewed and merged."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec.api import text_of
from kservec.cli.environments import opened
from kservec.cli.findings import TEXT, Findings
from kservec.cli.streams import write
from kservec.core.diagnostics import Reject
from kservec.core.spelling import closest
from kservec.rollout import (
    Wanted,
    edited,
    promote,
    roll_back,
    rollouts,
    shares,
    stable_revision,
    start,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.edits.changes import Change
    from kservec.io.workspace import Workspace
    from kservec.rollout import Rollout

FAILED = 1


@click.group()
def canary() -> None:
    """Roll a new version out, step by step. Each step is an edit of the spec, ready for a pull request.

    \b
      kservec canary start fraud --model s3://models/fraud/v8
      kservec canary step fraud --to 10
      kservec canary promote fraud
      kservec canary rollback fraud
    """  # noqa: D301


def service_argument(command: Callable[..., int]) -> Callable[..., int]:
    """The argument NAME, and the option to see what would be done."""
    dry = click.option("--dry-run", is_flag=True, help="Show the edit, and write nothing.")
    return click.argument("name")(dry(command))


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
def start_canary(*, name: str, dry_run: bool, percent: int, which: str, **pins: str | None) -> int:
    """Start a canary of service NAME with another model, runtime or image."""
    given = {key: value for key, value in pins.items() if value is not None}
    if not given:
        message = "nothing differs: name a --model, --runtime, --runtime-version or --image"
        raise click.UsageError(message, click.get_current_context())
    wanted = Wanted(given, percent, which)

    def changes(workspace: Workspace, rollout: Rollout) -> list[Change]:
        stable = stable_revision(workspace, rollout) if rollout.mode.value == "Knative" else ""
        return start(rollout, wanted, stable)

    return carry_out(name, changes, dry_run=dry_run)


@canary.command("step")
@service_argument
@click.option("--to", "percent", type=PERCENT, required=True, help="The canary's share of the traffic.")
@canary_option
def step_canary(*, name: str, dry_run: bool, percent: int, which: str) -> int:
    """Give the canary of service NAME another share of the traffic; 0 takes it all away."""
    return carry_out(name, lambda _, rollout: step(rollout, percent, which), dry_run=dry_run)


@canary.command("promote")
@service_argument
@canary_option
def promote_canary(*, name: str, dry_run: bool, which: str) -> int:
    """Make the canary of service NAME the stable version."""
    return carry_out(name, lambda _, rollout: promote(rollout, which), dry_run=dry_run)


@canary.command("rollback")
@service_argument
@canary_option
def rollback_canary(*, name: str, dry_run: bool, which: str) -> int:
    """Take the canary of service NAME back: the spec is what it was before."""
    return carry_out(name, lambda _, rollout: roll_back(rollout, which), dry_run=dry_run)


@canary.command("status")
def canary_status() -> int:
    """List the canaries that run, with their shares of the traffic."""
    workspace = opened()
    for rollout in read_rollouts(workspace):
        for name, percent in shares(rollout).items():
            service = f"{rollout.service.ref.namespace}/{rollout.service.name}"
            write(f"{service} {name or 'latest'} {percent}% ({', '.join(rollout.environments)})\n")
    return 0


def carry_out(name: str, changes: Callable[[Workspace, Rollout], Sequence[Change]], *, dry_run: bool) -> int:
    """Edit the spec of a service, if the project still compiles then.

    Raises:
        click.UsageError: there is no such service.
        click.ClickException: a file cannot be read or written.
    """
    workspace = opened()
    texts: dict[str, str] = {}
    try:
        rollout = chosen(read_rollouts(workspace), name)
        texts[rollout.file.name] = text_of(rollout.file)
        content = edited(rollout, changes(workspace, rollout))
    except Reject as reject:
        return show(reject.diagnostics, texts, "nothing was written")
    except OSError as error:
        raise click.ClickException(f"cannot read {error.filename}: {error.strerror}") from None
    if dry_run:
        write(difference(rollout, content))
        return 0
    return written(workspace, rollout, content)


def read_rollouts(workspace: Workspace) -> list[Rollout]:
    """The services of all environments."""
    return rollouts(workspace, workspace.environments)


def chosen(found: Sequence[Rollout], name: str) -> Rollout:
    """The service that a name means, `namespace/name` where several namespaces have one.

    Raises:
        click.UsageError: there is none, or there are several.
    """
    ctx = click.get_current_context()
    full = [f"{r.service.ref.namespace}/{r.service.name}" for r in found]
    named = [r for r, text in zip(found, full, strict=True) if name in (text, r.service.name)]
    if len(named) == 1:
        return named[0]
    if not named:
        near = closest(name, set(full) if "/" in name else {r.service.name for r in found})
        hint = f"; did you mean {near}?" if near else ""
        raise click.UsageError(f"the project has no InferenceService {name}{hint}", ctx)
    places = ", ".join(f"{r.service.ref.namespace}/{r.service.name} in {r.file.name}" for r in named)
    raise click.UsageError(f"{name} is written in several places: {places}; edit them by hand, or name one", ctx)


def written(workspace: Workspace, rollout: Rollout, content: bytes) -> int:
    """Write the edited file, and take it back if its environments do not compile then.

    Raises:
        click.ClickException: the file cannot be written.
    """
    from kservec.environments import render  # noqa: PLC0415 - not needed for what is refused
    from kservec.io.file_writer import replace_file  # noqa: PLC0415 - as above

    path = Path(rollout.file.name)
    try:
        replace_file(path, content)
        renderings = [render(workspace, name) for name in rollout.environments]
        if not all(rendering.ok for rendering in renderings):
            replace_file(path, rollout.file.content)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename or path}: {error.strerror}") from None
    found = tuple(dict.fromkeys(d for r in renderings for d in r.diagnostics if d.is_error or concerns(d, rollout)))
    texts = {name: text for rendering in renderings for name, text in rendering.texts.items()}
    if not all(rendering.ok for rendering in renderings):
        return show(found, texts, "nothing was written, for the edited spec does not compile")
    write(difference(rollout, content))
    return show(found, texts, f"{path} edited; next: kservec build, and a pull request")


def concerns(found: Diagnostic, rollout: Rollout) -> bool:
    """Whether a finding is about the service that is rolled out."""
    return found.subject == rollout.service.ref


def difference(rollout: Rollout, content: bytes) -> str:
    """The edit as a unified diff."""
    before, after = (text.decode().splitlines(keepends=True) for text in (rollout.file.content, content))
    name = rollout.file.name
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    )


def show(found: Sequence[Diagnostic], texts: dict[str, str], outcome: str) -> int:
    """Show findings, and give the exit status that they lead to."""
    Findings(layout=TEXT, notes=False).show(found, texts, outcome=outcome)
    return FAILED if any(d.is_error for d in found) else 0
