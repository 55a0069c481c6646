"""A whole run: documents in, written objects and diagnostics out. Pure: what it is given is all it knows."""

from __future__ import annotations

from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

from kservec.core.bundle import OBJECT_DECLARED, OBJECT_TWICE
from kservec.core.diagnostics import Diagnostic, has_errors
from kservec.core.records import evolve, fresh, record
from kservec.core.text.brevity import brief_finding
from kservec.core.text.reading import NUMBER
from kservec.documents.entries import ref_of
from kservec.frontend import READERS as UNITS
from kservec.frontend import Options, merged, read
from kservec.pipeline import REFERRING, errors_in, run
from kservec.workshop import Workshop, alone, stages

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.graphs.index import Index
    from kservec.core.policy import Policy
    from kservec.core.registry import Env, Plugs
    from kservec.core.schemas.schema import Schemas
    from kservec.core.staging import Staged
    from kservec.core.text.source import Document
    from kservec.core.unit import Source, Step
    from kservec.frontend import Front
    from kservec.gitops.rendered import Rendered
    from kservec.policy.units import Judge
    from kservec.spec.selection import Selection
    from kservec.workshop import Crew, Made, Witness

NAME = ("metadata", "name")


@record
class Inputs:
    """The documents of a run by what they are for, and what was found when they were read.

    `unread` are the texts of documents that could not be read. `coming`: what some of the services are compiled for
    instead.
    """

    specs: Sequence[Document]
    platform: Sequence[Document] = ()
    builtin: Sequence[Document] = ()
    options: Options = fresh(factory=Options)
    findings: Sequence[Diagnostic] = ()
    unread: Sequence[str] = ()
    coming: Coming | None = None


@record
class Coming:
    """A platform, catalog and options that come next, and the services that are compiled for them already.

    `but`: those that are not, though they are chosen.
    """

    platform: Sequence[Document] = ()
    builtin: Sequence[Document] = ()
    options: Options = fresh(factory=Options)
    only: Sequence[Selection] = ()
    but: frozenset[ObjectRef] = frozenset()
    findings: Sequence[Diagnostic] = ()


@record
class Result:
    """What a run made: objects in their total order, findings in the order of the input, where services are reached.

    With an error among the findings there are no objects and no URLs. `judge` is what a project's objects were held
    against. `staged` are the services that were compiled for what comes next, None without an upgrade.
    """

    objects: tuple[Rendered, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    urls: Mapping[ObjectRef, str] = fresh(factory=dict)
    judge: Judge | None = None
    staged: Staged | None = None

    @property
    def ok(self) -> bool:
        """Whether the run made objects, that is, found no error."""
        return not has_errors(self.diagnostics)


def compile_documents(
    inputs: Inputs, schemas: Schemas, plugs: Plugs, crew: Crew = alone, witness: Witness | None = None
) -> Result:
    """Compile documents. `crew` does the work; `witness` sees units without errors, if the crew is of this process."""
    return compile_front(front_of(inputs, schemas, plugs), inputs, schemas, crew, witness)


def compile_front(
    start: tuple[Front, Staged | None],
    inputs: Inputs,
    schemas: Schemas,
    crew: Crew = alone,
    witness: Witness | None = None,
) -> Result:
    """Compile documents, given what the passes start from and what is compiled for what comes next."""
    front, staged = start
    numbers = {d.span for d in inputs.findings if d.code is NUMBER}
    found = [*inputs.findings, *(d for d in front.diagnostics if d.span not in numbers or d.span is None)]
    shop, context = evolve(first_stage(front, inputs), witness=witness), front.context
    broken = evolve(front.broken, texts=(*front.broken.texts, *inputs.unread))
    output = Output({unit.ref: unit.source for unit in front.units})
    with closing(all_made(front, shop, crew)) as work:
        for made in work:
            for one in made:
                found += (*one.diagnostics, *output.add(one))
    for step in front.faulty:
        env = front.env_of(step.unit.ref)
        found += errors_in(step.unit, shop.index.known_in(env) if shop.index is not None else env, step.diagnostics)
    own = [d for d in context if inputs.options.share is None or inputs.options.holds(ref_of(d, schemas).namespace)]
    placed = unplaced(tuple(output.objects.values()), shop)
    said = (*output.declared(context, schemas), *misled(own, output, schemas), *placed)
    ordered = in_order(d for d in (*found, *said) if not broken.explains(d))
    if has_errors(ordered):
        return Result(diagnostics=ordered, staged=staged)
    objects = tuple(output.objects[ref] for ref in sorted(output.objects))
    return Result(objects=objects, diagnostics=ordered, urls=output.urls, judge=shop.judge, staged=staged)


def front_of(inputs: Inputs, schemas: Schemas, plugs: Plugs) -> tuple[Front, Staged | None]:
    """What the passes of a run start from, and which services are compiled for what comes next, if anything does."""
    front = read(inputs.specs, inputs.platform, inputs.builtin, inputs.options, schemas, plugs)
    coming = inputs.coming
    if coming is None:
        return front, None
    from kservec.core.staging import staged  # noqa: PLC0415 - most projects have no upgrade under way
    from kservec.spec.selection import ANY  # noqa: PLC0415 - as above

    services = ((ref_of(d, schemas), d.value) for d in inputs.specs)
    chosen = staged([(ref, value) for ref, value in services if ref.kind in UNITS], coming.only)
    options = evolve(coming.options, previous=inputs.options.previous)
    later = read(inputs.specs, coming.platform, coming.builtin, options, schemas, plugs)
    is_all = any(selection.text == ANY for selection in coming.only)
    return merged(front, later, chosen.moved - coming.but, is_all=is_all), chosen


def first_stage(front: Front, inputs: Inputs) -> Workshop:
    """The workshop of the units that refer to no others."""
    index, (units, _) = index_of(front), stages(front.units)
    called = [unit for unit in front.others if index is not None and unit.ref in index.called]
    return Workshop(env=front.env, units=[*units, *called], judge=judge_of(front), index=index, inputs=inputs)


def all_made(front: Front, shop: Workshop, crew: Crew) -> Generator[list[Made], None, None]:
    """What becomes of all units: first of those in the workshop, then of those that refer to them."""
    index, foreign = shop.index, {unit.ref for unit in front.others}
    for made in chain.from_iterable(map(crew, split(front, shop))):
        if index is not None:
            index.take(one.endpoint for one in made)
        yield [one for one in made if one.ref not in foreign] if foreign else made
    if index is not None:
        _, units = stages(front.units)
        last = Workshop(env=front.env, units=units, judge=shop.judge, witness=shop.witness)
        for part in split(front, last):
            yield from alone(evolve(part, env=index.known_in(part.env)))


def split(front: Front, shop: Workshop) -> tuple[Workshop, ...]:
    """A workshop, or two where some of its units are compiled for what comes next.

    Each has only a part of what their documents lead to, so neither can be made of these again.
    """
    if front.later is None:
        return (shop,)
    now = [unit for unit in shop.units if unit.ref not in front.moved]
    then = [unit for unit in shop.units if unit.ref in front.moved]
    return evolve(shop, units=now, inputs=None), evolve(shop, env=front.later, units=then, inputs=None)


def step_of(front: Front, ref: ObjectRef) -> Step | None:
    """One unit after all its passes, with its trees; None if there is no such unit."""
    alone = front if ref.kind in REFERRING else evolve(front, units=tuple(u for u in front.units if u.ref == ref))
    return next((step for step in steps_of(alone) if step.unit.ref == ref), None)


def steps_of(front: Front) -> Iterator[Step]:
    """Every unit after all its passes, with its trees, those that refer to others last."""
    index = index_of(front)
    first, last = stages(front.units)
    for unit in (*first, *last):
        env = front.env_of(unit.ref)
        (step,) = run([unit], index.known_in(env) if index and unit.ref.kind in REFERRING else env)
        if index is not None:
            index.take([index.endpoint(step.unit, env, is_broken=has_errors(step.diagnostics))])
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
    refused = [step.unit for step in front.faulty if step.unit.ref.kind in REFERRING]
    if not refused and not any(unit.ref.kind in REFERRING for unit in front.units):
        return None
    from kservec.core.graphs.endpoints import SERVICE  # noqa: PLC0415 - most runs have no graph
    from kservec.core.graphs.index import Index  # noqa: PLC0415 - as above

    index = Index((*front.units, *front.others), refused, (*front.diagnostics, *front.refused), front.env)
    services = (unit for unit in front.others if unit.ref.kind == SERVICE and unit.ref not in index.called)
    index.take(index.endpoint(unit, front.env, is_broken=False) for unit in services)
    return index


def in_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings in the order of the input, each once, without passwords. No two different ones compare equal."""
    shown = dict.fromkeys(map(presentable, found))
    ordered = sorted(shown, key=lambda d: (d.sort_key, d.help, d.label, str(d.subject)))
    first = {(d.code.slug, d.message): d for d in reversed(ordered) if d.once}
    return tuple(d for d in ordered if not d.once or first[d.code.slug, d.message] is d)


def presentable(finding: Diagnostic) -> Diagnostic:
    """A finding that quotes no password of a URI, and nothing at full length."""
    texts = (finding.message, finding.help, finding.label)
    if not any("://" in text for text in texts):
        return brief_finding(finding)
    from kservec.core.text.confidential import without_passwords  # noqa: PLC0415 - hardly any finding quotes a URI

    shown = tuple(map(without_passwords, texts))
    return brief_finding(evolve(finding, message=shown[0], help=shown[1], label=shown[2]))


def judge_of(front: Front) -> Judge | None:
    """What holds the objects of a project against its policy, or without a project against the node pools.

    None where there is neither a policy nor pools.
    """
    policy = policy_of(front.site)
    if policy is None and not front.site.cluster.node_pools:
        return None
    from kservec.policy.units import Judge  # noqa: PLC0415 - only projects have a policy

    if policy is not None:
        return Judge(front.site, policy)
    from kservec.policy.pools import CAPACITY_ALONE  # noqa: PLC0415 - most clusters state no node pools

    return Judge(front.site, CAPACITY_ALONE)


def policy_of(env: Env) -> Policy | None:
    """What a project demands; None without a project."""
    return env.additions.policy if env.additions is not None else None


def unplaced(objects: Sequence[Rendered], shop: Workshop) -> Sequence[Diagnostic]:
    """What does not fit onto the node pools. Of a project that is found when all its stages are through."""
    if shop.judge is None or policy_of(shop.env) is not None:
        return ()
    from kservec.policy.verdicts import verdicts  # noqa: PLC0415 - most clusters state no node pools

    return verdicts(shop.judge, tuple(objects), lambda waiver: waiver.span).diagnostics


class Output:
    """The objects of a run as they gather. `sources` are the documents of the units."""

    def __init__(self, sources: Mapping[ObjectRef, Source]) -> None:
        self.objects: dict[ObjectRef, Rendered] = {}
        self.urls: dict[ObjectRef, str] = {}
        self.sources = sources

    def add(self, made: Made) -> Iterator[Diagnostic]:
        """Keep the objects of a unit; say so of those that are there already, unless they are alike."""
        if made.url:
            self.urls[made.ref] = made.url
        for rendered in made.objects:
            known = self.objects.setdefault(rendered.ref, rendered)
            if known is not rendered and not (rendered.shared and known.text == rendered.text):
                yield self.conflict(rendered.ref, made.ref, known.owner)

    def declared(self, context: Sequence[Document], schemas: Schemas) -> Iterator[Diagnostic]:
        """Warnings about documents of the input that describe what is made here, whichever version they are of."""
        made = {(ref.group, *ref[1:]): rendered for ref, rendered in self.objects.items()} if context else {}
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

    def conflict(self, made: ObjectRef, owner: ObjectRef, other: ObjectRef) -> Diagnostic:
        """The error that names both of the user's objects that lead to one object."""
        return Diagnostic(
            code=OBJECT_TWICE,
            message=f"{owner} and {other} both lead to {made}",
            span=self.sources[owner].span(*NAME),
            label=f"leads to {made.kind} {made.name}",
            related=((self.sources[other].span(*NAME), "and so does this"),),
            help="rename one of them",
            subject=owner,
        )
