"""Looks: an environment as it is at one time, what it is made of, and whether that has changed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from kservec.cli.environments import all_findings, all_sources
from kservec.cli.labour import few_collections
from kservec.cli.progress import Progress
from kservec.cli.selection import selected, selected_one
from kservec.cli.streams import complain
from kservec.core.diagnostics import has_errors
from kservec.core.lock import LOCK_FILE
from kservec.core.records import evolve, fresh, record
from kservec.environments import STAGES, render
from kservec.io.stamps import changed, stamps
from kservec.project.paths import inputs_of
from kservec.recall import Memory, recalling
from kservec.report.news import EVERYWHERE, View, company_of, identity
from kservec.report.words import printable
from kservec.workshop import alone, watched

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from kservec.cli.selection import Selection
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.environments import Rendering
    from kservec.io.stamps import Stamp
    from kservec.io.workspace import Workspace
    from kservec.report.news import Company
    from kservec.workshop import Crew, Made, Workshop

EVERY_SECONDS = 0.3
"""How often files are looked at; a change counts once they have stayed as they are for as long."""


@record
class Look:
    """An environment as it was at one time.

    `paths` are the files and folders that it is made of, its project file first, `apart` folders in these that it is
    not, `seen` the files as they were before it was rendered. `found` is what was found in it and in the project,
    `sources` the texts that this points into. `rendering` is None where the project cannot be used. `units` are the
    services with their trees, `again` how many of them were compiled for this look. `stages` says which stage each
    finding comes from, `company` what those of earlier looks were beside.
    """

    paths: tuple[str, ...] = ()
    apart: frozenset[str] = frozenset()
    seen: Mapping[str, Stamp] = fresh(factory=dict)
    found: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = fresh(factory=dict)
    workspace: Workspace | None = None
    rendering: Rendering | None = None
    units: tuple[tuple[Unit, Env], ...] = ()
    again: int = 0
    seconds: float = 0.0
    stages: Mapping[Hashable, int] = fresh(factory=dict)
    company: Mapping[Hashable, Company] = fresh(factory=dict)

    @property
    def view(self) -> View:
        """How far it came."""
        reached = len(self.rendering.steps) if self.rendering is not None else 0
        whole = reached > len(STAGES)
        compiled = frozenset(unit.ref for unit, _ in self.units)
        return View(
            reached=EVERYWHERE if whole else reached,
            stages=self.stages,
            compiled=compiled,
            texts=self.sources,
            company=self.company,
        )

    @property
    def ok(self) -> bool:
        """Whether there is an environment without errors."""
        return self.rendering is not None and not has_errors(self.found)

    @property
    def objects(self) -> dict[ObjectRef, str]:
        """The text of each object."""
        return {made.ref: made.text for made in self.rendering.objects} if self.rendering is not None else {}


def first(environment: str, memory: Memory) -> Look:
    """The first look, at an environment that has to be there.

    Raises:
        click.UsageError: there is no such environment, or a path of the project cannot be read.
    """
    return looked(selected_one(environment), Look(), memory)


def again(environment: str, before: Look, memory: Memory) -> Look:
    """Another look. What makes a first look impossible is shown, and may be gone at the next one."""
    seen, project = stamps(before.paths, before.apart), before.paths[0]
    try:
        if os.path.isfile(project):
            selection = selected((environment,))
            if selection is not None:
                return looked(selection, before, memory)
            problem = f"there is no environment {environment} any more"
        else:  # one further up would be another project
            problem = f"{project} is gone; it is waited for"
    except click.UsageError as error:
        problem = error.format_message()
    complain(f"error: {printable(problem)}\n")
    return evolve(before, seen=seen, rendering=None, units=())


def looked(selection: Selection, before: Look, memory: Memory) -> Look:
    """An environment as its files are now, with what is remembered of it.

    Raises:
        click.UsageError: a path of the project cannot be read.
    """
    start = time.monotonic()
    workspace = selection.workspace
    paths = before.paths if workspace is None else tuple(read_by(workspace, selection.names[0]))
    apart = before.apart if workspace is None else outputs(workspace)
    seen = stamps(paths or selection.sources, apart)
    units: list[tuple[Unit, Env]] = []
    hand = Hand()
    crew = watched(recalling(memory, "", hand), Progress())
    renderings = [] if workspace is None else [rendered(workspace, selection.names[0], crew, units)]
    named = tuple(file.name for rendering in renderings for file in rendering.sources)
    found = all_findings(selection, renderings)
    return Look(
        paths=(*(paths or selection.sources), *named),
        apart=apart,
        seen={**stamps(named, apart), **seen},
        found=found,
        sources=all_sources(selection, renderings),
        workspace=workspace,
        rendering=next(iter(renderings), None),
        units=tuple(units),
        again=hand.count,
        seconds=time.monotonic() - start,
        stages={**before.stages, **stages_of(found, selection, renderings)},
        company={**before.company, **company_of(before.found, before.sources)},
    )


def stages_of(
    found: Iterable[Diagnostic], selection: Selection, renderings: Iterable[Rendering]
) -> dict[Hashable, int]:
    """The stage that each finding comes from: 0 is the project, 1 what is compiled; what comes of all is the last."""
    known: dict[Hashable, int] = {identity(finding): 0 for finding in selection.diagnostics}
    for step, told in (each for rendering in renderings for each in enumerate(rendering.steps, start=1)):
        for finding in told:
            known.setdefault(identity(finding), step)
    return {one: known.get(one, EVERYWHERE) for one in map(identity, found)}


class Hand:
    """A crew of this process that counts the units that it is given."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, workshop: Workshop) -> Iterable[list[Made]]:
        """What becomes of all units."""
        self.count += len(workshop.units)
        return alone(workshop)


def rendered(workspace: Workspace, environment: str, crew: Crew, units: list[tuple[Unit, Env]]) -> Rendering:
    """An environment, made by a crew; its services are added to `units`.

    Raises:
        click.UsageError: a path of the project cannot be read.
    """
    try:
        with few_collections():
            keep = units.append
            return render(workspace, environment, crew=crew, witness=lambda *seen: keep(seen))
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None


def read_by(workspace: Workspace, environment: str) -> Iterator[str]:
    """The files and folders that an environment is made of, as far as its project names them."""
    yield workspace.file.name
    yield str(workspace.at(LOCK_FILE))
    yield from workspace.below(inputs_of(workspace.environments[environment]))


def outputs(workspace: Workspace) -> frozenset[str]:
    """The folders of the rendered trees, which no build reads."""
    return frozenset(os.path.realpath(workspace.at(settings.output)) for settings in workspace.environments.values())


def is_outdated(look: Look) -> bool:
    """Whether files of an environment have changed since it was looked at."""
    return stamps(look.paths, look.apart) != look.seen


def waited(look: Look) -> tuple[str, ...]:
    """Wait until files of an environment have changed and stay as they are; which ones."""
    now = before = look.seen
    while now == look.seen or now != before:
        time.sleep(EVERY_SECONDS)
        before, now = now, stamps(look.paths, look.apart)
    return changed(look.seen, now)
