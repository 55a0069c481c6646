"""The workshop: units in, what becomes of them out, as text and plain values that can be handed to another process.

Decides what is kept of a unit once it has gone through its passes. Must not know who works in it, nor how many: a unit
leads to the same whoever takes it, and whatever is taken with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.diagnostics import has_errors
from kservec.core.records import entity
from kservec.core.schemas.object_meta import SURELY_SMALL
from kservec.core.serving.stopping import is_down
from kservec.emit import dump
from kservec.gitops.rendered import Rendered
from kservec.pipeline import REFERRING, run

if TYPE_CHECKING:
    from kservec.compilation import Inputs
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.endpoint import Endpoint
    from kservec.core.graphs.index import Index
    from kservec.core.registry import Env
    from kservec.core.unit import Step, Unit
    from kservec.policy.units import Judge

TOGETHER = 32
"""Units that are compiled together: enough to be fast, and few enough to hardly take memory."""


class Made(NamedTuple):
    """What became of a unit: its objects as they are written, and what was found in it and in them.

    After an error there are no objects. `url` is where it is reached, empty if it is not; `endpoint` how graphs reach
    it, None if no graph asks.
    """

    ref: ObjectRef
    diagnostics: tuple[Diagnostic, ...] = ()
    objects: tuple[Rendered, ...] = ()
    url: str = ""
    endpoint: Endpoint | None = None


Witness: TypeAlias = "Callable[[Unit, Env], None]"
"""Who is handed each compiled unit with its trees, which are dropped otherwise once they are text."""


@entity
class Workshop:
    """What units are compiled with, the same for all of a stage, and the units themselves in their order.

    `judge` looks at each object as it is written; `index` is what graphs look services up in, None without graphs.
    `inputs` are the documents that it can be made of again in another process. `witness` is of this one.
    """

    env: Env
    units: Sequence[Unit]
    judge: Judge | None = None
    index: Index | None = None
    inputs: Inputs | None = None
    witness: Witness | None = None

    def made(self, batch: range) -> list[Made]:
        """What becomes of some of the units, all of one kind, in their order."""
        return [self.written(step) for step in run(self.units[batch.start : batch.stop], self.env)]

    def written(self, step: Step) -> Made:
        """A unit that has gone through its passes, as it is kept."""
        unit, is_broken = step.unit, has_errors(step.diagnostics)
        endpoint = self.index.endpoint(unit, self.env, is_broken=is_broken) if self.index is not None else None
        if is_broken:
            return Made(unit.ref, step.diagnostics, endpoint=endpoint)
        if self.witness is not None:
            self.witness(unit, self.env)
        manifests = unit.bundle.manifests
        objects = tuple([Rendered(m.ref, dump(m.body.value), unit.ref, m.shared) for m in manifests])
        found = step.diagnostics
        if max([len(rendered.text) for rendered in objects], default=0) >= SURELY_SMALL:
            found = (*found, *too_large(unit))
            if has_errors(found):
                return Made(unit.ref, found, endpoint=endpoint)
        if self.judge is None:
            return Made(unit.ref, found, objects, url_of(unit, self.env), endpoint)
        bench = self.judge.bench(unit)
        judged = [o._replace(judged=bench.judged(m, o.text)) for m, o in zip(manifests, objects, strict=True)]
        return Made(unit.ref, (*found, *bench.findings), tuple(judged), url_of(unit, self.env), endpoint)


def too_large(unit: Unit) -> Iterator[Diagnostic]:
    """What is too large for a cluster in the objects of a unit."""
    from kservec.core.validity.object_size import size_faults  # noqa: PLC0415 - hardly any object is that large
    from kservec.passes.seal import once_each, refusal  # noqa: PLC0415 - as above

    faulty = [
        (f, refusal(unit, made, f)) for made in unit.bundle.manifests for f in size_faults(made.body.value, made.ref)
    ]
    return once_each(faulty)


Crew: TypeAlias = "Callable[[Workshop], Iterable[list[Made]]]"
"""Whoever does the work: given a workshop, what becomes of all its units, in their order."""


def alone(workshop: Workshop) -> Iterator[list[Made]]:
    """The crew of this process: batch after batch."""
    return map(workshop.made, batches(workshop.units))


def watched(crew: Crew, each: Callable[[int, int], None]) -> Crew:
    """A crew that tells how many of how many units are done."""

    def watching(workshop: Workshop) -> Iterator[list[Made]]:
        done, total = 0, len(workshop.units)
        for made in crew(workshop):
            yield made
            done += len(made)
            each(done, total)

    return watching


def batches(units: Sequence[Unit]) -> Iterator[range]:
    """The units that are compiled together, by their places: neighbours of one kind."""
    start = 0
    while start < len(units):
        stop, kind = start + 1, units[start].ref.kind
        while stop < len(units) and stop < start + TOGETHER and units[stop].ref.kind == kind:
            stop += 1
        yield range(start, stop)
        start = stop


def stages(units: Iterable[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Units in the order in which they are compiled: those that refer to others come last."""
    first: list[Unit] = []
    last: list[Unit] = []
    for unit in units:
        (last if unit.ref.kind in REFERRING else first).append(unit)
    return first, last


def url_of(unit: Unit, env: Env) -> str:
    """The URL that a service is reached at, as KServe writes it into the status; empty for one that is not exposed."""
    if is_down(unit, env) or not (unit.components or unit.parts):
        return ""
    if unit.parts:
        from kservec.core.llm.settings import service_url  # noqa: PLC0415 - most runs have no such service

        return service_url(unit, env.platform)
    for style in env.plugs.styles:
        if style.selects(unit, env):
            return style.url(unit, env)
    return ""
