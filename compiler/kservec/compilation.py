"""A whole run: documents in, written objects and diagnostics out. Pure: what it is given is all it knows."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.bundle import OBJECT_DECLARED, OBJECT_TWICE
from kservec.core.diagnostics import Diagnostic, has_errors
from kservec.core.records import evolve, fresh, record
from kservec.core.text.reading import NUMBER
from kservec.documents.entries import ref_of
from kservec.emit import dump
from kservec.frontend import Options, read
from kservec.gitops.rendered import Rendered
from kservec.pipeline import REFERRING, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.graphs.index import Index
    from kservec.core.registry import Env, Plugs
    from kservec.core.schemas.schema import Schemas
    from kservec.core.text.source import Document
    from kservec.core.unit import Source, Step, Unit
    from kservec.frontend import Front
    from kservec.memory import Earlier, Memory
    from kservec.policy.units import Judge

Witness: TypeAlias = "Callable[[Unit, Env], None]"
"""Who is handed each compiled unit with its trees, which are dropped otherwise once they are text."""

NAME = ("metadata", "name")
TOGETHER = 32
"""Units that are compiled together: enough to be fast, and few enough to hardly take memory."""


@record
class Inputs:
    """The documents of a run by what they are for, and what was found when they were read.

    `unread` are the texts of documents that could not be read. `earlier` is what an earlier run made, for one that is
    run again and again; what is still true of that is not made anew.
    """

    specs: Sequence[Document]
    platform: Sequence[Document] = ()
    builtin: Sequence[Document] = ()
    options: Options = fresh(factory=Options)
    findings: Sequence[Diagnostic] = ()
    unread: Sequence[str] = ()
    earlier: Earlier | None = None


class Made(NamedTuple):
    """What one unit led to: its last step, its objects and URL, and what was found when they were written."""

    step: Step
    objects: tuple[Rendered, ...] = ()
    url: str = ""
    findings: Sequence[Diagnostic] = ()


@record
class Result:
    """What a run made: objects in their total order, findings in the order of the input, where services are reached.

    With an error among the findings there are no objects and no URLs. `judge` is what a project's objects were held
    against. `earlier` is for the next run, if this one was asked to keep it.
    """

    objects: tuple[Rendered, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    urls: Mapping[ObjectRef, str] = fresh(factory=dict)
    judge: Judge | None = None
    earlier: Earlier | None = None

    @property
    def ok(self) -> bool:
        """Whether the run made objects, that is, found no error."""
        return not has_errors(self.diagnostics)


def compile_documents(
    inputs: Inputs,
    schemas: Schemas,
    plugs: Plugs,
    each: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
    witness: Witness = lambda unit, env: None,  # noqa: ARG005
) -> Result:
    """Compile documents. `each` is told how many of how many units are done, `witness` sees those without an error."""
    front = read(inputs.specs, inputs.platform, inputs.builtin, inputs.options, schemas, plugs)
    numbers = {d.span for d in inputs.findings if d.code is NUMBER}
    found = [*inputs.findings, *(d for d in front.diagnostics if d.span not in numbers or d.span is None)]
    output = Output(judge_of(front), memory_of(inputs))
    # Units are written out and dropped before the next are compiled: what is kept of a service is its text.
    env, waiting, total, context = front.env, deque(in_stages(front.units)), len(front.units), front.context
    index = index_of(front)
    broken = evolve(front.broken, texts=(*front.broken.texts, *inputs.unread))
    del front
    while waiting:
        units = next_units(waiting)
        for made in output.made(units, index.known_in(env) if index and units[0].ref.kind in REFERRING else env):
            found += made.step.diagnostics
            is_broken = has_errors(made.step.diagnostics)
            if index is not None:
                index.add(made.step.unit, env, is_broken=is_broken)
            if not is_broken:
                found += output.add(made)
                witness(made.step.unit, env)
        each(total - len(waiting), total)
    said = (*output.declared(context, schemas), *misled(context, output, schemas))
    ordered = in_order(d for d in (*found, *said) if not broken.explains(d))
    earlier = None if output.memory is None else output.memory.kept
    if has_errors(ordered):
        return Result(diagnostics=ordered, earlier=earlier)
    objects = tuple(output.objects[ref] for ref in sorted(output.objects))
    return Result(objects=objects, diagnostics=ordered, urls=output.urls, judge=output.judge, earlier=earlier)


def step_of(front: Front, ref: ObjectRef) -> Step | None:
    """One unit after all its passes, with its trees; None if there is no such unit."""
    alone = front if ref.kind in REFERRING else evolve(front, units=tuple(u for u in front.units if u.ref == ref))
    return next((step for step in steps_of(alone) if step.unit.ref == ref), None)


def steps_of(front: Front) -> Iterator[Step]:
    """Every unit after all its passes, with its trees, those that refer to others last."""
    index, env = index_of(front), front.env
    for unit in in_stages(front.units):
        (step,) = run([unit], index.known_in(env) if index and unit.ref.kind in REFERRING else env)
        if index is not None:
            index.add(step.unit, env, is_broken=has_errors(step.diagnostics))
        yield step


def misled(context: Sequence[Document], output: Output, schemas: Schemas) -> Iterator[Diagnostic]:
    """Warnings about documents of the input that refer to what is compiled, and so will not be there."""
    if not context:
        return
    from kservec.gitops.retargeting import KINDS, retargeted  # noqa: PLC0415 - most runs have no such documents

    objects = tuple(output.objects.values())
    for document in context:
        ref = ref_of(document, schemas)
        if ref.kind in KINDS:
            yield from retargeted(document, ref, objects, is_included=False).diagnostics


def index_of(front: Front) -> Index | None:
    """What units that refer to others look them up in; None if there are no such units."""
    if not any(unit.ref.kind in REFERRING for unit in front.units):
        return None
    from kservec.core.graphs.index import Index  # noqa: PLC0415 - most runs have no graph

    return Index(front.units, front.diagnostics, front.env)


def in_stages(units: Iterable[Unit]) -> list[Unit]:
    """Units in the order in which they are compiled: those that refer to others come last."""
    return sorted(units, key=lambda unit: unit.ref.kind in REFERRING)


def next_units(waiting: deque[Unit]) -> list[Unit]:
    """The units that are compiled together next, all of one kind; they are taken away from those that wait."""
    units = [waiting.popleft()]
    while waiting and len(units) < TOGETHER and waiting[0].ref.kind == units[0].ref.kind:
        units.append(waiting.popleft())
    return units


def in_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings in the order of the input, each once, without passwords. No two different ones compare equal."""
    shown = dict.fromkeys(map(presentable, found))
    return tuple(sorted(shown, key=lambda d: (d.sort_key, d.help, d.label, str(d.subject))))


def presentable(finding: Diagnostic) -> Diagnostic:
    """A finding that quotes no password of a URI."""
    texts = (finding.message, finding.help, finding.label)
    if not any("://" in text for text in texts):
        return finding
    from kservec.core.text.confidential import without_passwords  # noqa: PLC0415 - hardly any finding quotes a URI

    shown = tuple(map(without_passwords, texts))
    return finding if shown == texts else evolve(finding, message=shown[0], help=shown[1], label=shown[2])


def memory_of(inputs: Inputs) -> Memory | None:
    """What remembers what services led to; None for a run that is not repeated."""
    if inputs.earlier is None:
        return None
    from kservec.memory import Memory  # noqa: PLC0415 - most runs are not repeated

    others = (*inputs.specs, *inputs.platform, *inputs.builtin, *inputs.options.previous)
    return Memory(inputs.earlier, others, inputs.options)


def judge_of(front: Front) -> Judge | None:
    """What holds the objects of a project against its policy; None without a policy."""
    additions = front.env.additions
    if additions is None or additions.policy is None:
        return None
    from kservec.policy.units import Judge  # noqa: PLC0415 - only projects have a policy

    return Judge(front.env, additions.policy)


class Output:
    """The objects of a run as they gather. `judge` looks at each of them as it is written, `memory` keeps them."""

    def __init__(self, judge: Judge | None = None, memory: Memory | None = None) -> None:
        self.judge = judge
        self.memory = memory
        self.objects: dict[ObjectRef, Rendered] = {}
        self.urls: dict[ObjectRef, str] = {}
        self.sources: dict[ObjectRef, Source] = {}

    def made(self, units: Sequence[Unit], env: Env) -> Iterator[Made]:
        """What units of one kind lead to; what is remembered of them is not made anew."""
        if self.memory is None:
            yield from (self.written(step, env) for step in run(units, env))
            return
        recalled = {unit.ref: made for unit in units if (made := self.memory.recalled(unit)) is not None}
        steps = {step.unit.ref: step for step in run([u for u in units if u.ref not in recalled], env)}
        for unit in units:
            made = recalled[unit.ref] if unit.ref in recalled else self.written(steps[unit.ref], env)
            self.memory.keep(made)
            yield made

    def written(self, step: Step, env: Env) -> Made:
        """A unit's manifests as text, with what is found in them; of one with errors there are none."""
        if has_errors(step.diagnostics):
            return Made(step)
        unit = step.unit
        bench = self.judge.bench(unit) if self.judge is not None else None
        objects = []
        for manifest in unit.bundle.manifests:
            rendered = Rendered(manifest.ref, dump(manifest.body.value), unit.ref, manifest.shared)
            if bench is not None:
                rendered = rendered._replace(judged=bench.judged(manifest, rendered.text))
            objects.append(rendered)
        return Made(step, tuple(objects), url_of(unit, env), bench.findings if bench is not None else ())

    def add(self, made: Made) -> Iterator[Diagnostic]:
        """Keep the objects of a unit; say so of those that are there already, unless they are alike."""
        unit = made.step.unit
        self.sources[unit.ref] = unit.source
        if made.url:
            self.urls[unit.ref] = made.url
        yield from made.findings
        for manifest, rendered in zip(unit.bundle.manifests, made.objects, strict=True):
            known = self.objects.setdefault(rendered.ref, rendered)
            if known is not rendered and not (rendered.shared and known.text == rendered.text):
                yield self.conflict(manifest, unit.ref, known.owner)

    def declared(self, context: Iterable[Document], schemas: Schemas) -> Iterator[Diagnostic]:
        """Warnings about documents of the input that describe what is made here, whichever version they are of."""
        made = {(ref.group, *ref[1:]): rendered for ref, rendered in self.objects.items()}
        for document in context:
            ref = ref_of(document, schemas)
            rendered = made.get((ref.group, *ref[1:]))
            if rendered is not None:
                yield Diagnostic(
                    code=OBJECT_DECLARED,
                    message=f"{ref} is made of {rendered.owner}, and this describes it, too",
                    span=document.span(NAME),
                    related=((self.sources[rendered.owner].span(*NAME), "it is made of this"),),
                    help="remove the document",
                    subject=rendered.owner,
                )

    def conflict(self, made: Manifest, owner: ObjectRef, other: ObjectRef) -> Diagnostic:
        """The error that names both of the user's objects that lead to one object."""
        return Diagnostic(
            code=OBJECT_TWICE,
            message=f"{owner} and {other} both lead to {made.ref}",
            span=self.sources[owner].span(*NAME),
            label=f"leads to {made.ref.kind} {made.ref.name}",
            related=((self.sources[other].span(*NAME), "and so does this"),),
            help="rename one of them",
            subject=owner,
        )


def url_of(unit: Unit, env: Env) -> str:
    """The URL that a service is reached at, as KServe writes it into the status; empty for one that is not exposed."""
    if unit.stopped or not (unit.components or unit.parts):
        return ""
    if unit.parts:
        from kservec.core.llm.settings import service_url  # noqa: PLC0415 - most runs have no such service

        return service_url(unit, env.platform)
    style = next((style for style in env.plugs.styles if style.selects(unit, env)), None)
    return style.url(unit, env) if style is not None else ""
