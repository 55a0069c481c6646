"""What a site is made of, and what its pages say of each unit. Must not know HTML."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import ObjectRef, Severity
from kservec.core.records import evolve, fresh, record
from kservec.site.amounts import Amounts, Sized, sized, total
from kservec.site.lines import value_of
from kservec.site.names import page_of, unit_stem
from kservec.site.needs import Wanted, images_of, models_of, wanted_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.capacity.report import Report
    from kservec.compare.report import Comparison
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.paths import Json
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.gitops.rendered import Rendered
    from kservec.policy.waivers import Excuse


@record
class Compared:
    """What changes against a commit: what the user called it, its id in short, and all differences."""

    shown: str
    commit: str
    comparison: Comparison


@record
class Subject:
    """One environment as it was rendered.

    `units` are its units with their trees, each with what it was compiled against; `objects` what is rendered of them
    and besides them. `patches` says where patches over rendered objects are, `tool` who else writes into them. `files`
    are the texts of all files that were read, by their names. `excuses` are the waivers and what they excuse.
    `compared` is what is different from a commit, `capacity` whether everything fits onto nodes and into quotas, None
    where none are stated.
    """

    name: str
    units: tuple[tuple[Unit, Env], ...]
    objects: tuple[Rendered, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    files: Mapping[str, str] = fresh(factory=dict)
    patches: str = ""
    tool: str = ""
    excuses: tuple[Excuse, ...] = ()
    compared: Compared | None = None
    capacity: Report | None = None


class Counts(NamedTuple):
    """How many findings of each severity there are."""

    errors: int = 0
    warnings: int = 0
    notes: int = 0


@record
class UnitFacts:
    """What is told of a unit in more than one place.

    `objects` are those that it owns, `values` what is rendered of them. `page` is its page below the site's folder.
    """

    unit: Unit
    env: Env
    objects: tuple[Rendered, ...]
    values: tuple[tuple[ObjectRef, Json], ...]
    workloads: tuple[Sized, ...]
    images: tuple[str, ...]
    models: tuple[str, ...]
    wanted: tuple[Wanted, ...]
    findings: tuple[Diagnostic, ...]
    page: str

    @property
    def ref(self) -> ObjectRef:
        """The unit."""
        return self.unit.ref

    @cached_property
    def amounts(self) -> Amounts:
        """What its workloads take together."""
        return total(workload.amounts for workload in self.workloads)

    @property
    def counts(self) -> Counts:
        """How many findings there are about it."""
        return counts_of(self.findings)


def counts_of(found: Sequence[Diagnostic]) -> Counts:
    """How many of findings are of each severity."""
    severities = [finding.code.severity for finding in found]
    return Counts(*(severities.count(severity) for severity in sorted(Severity, reverse=True)))


class Gathered(NamedTuple):
    """The units of an environment in the order of their names, and what belongs to none: findings and objects."""

    units: tuple[UnitFacts, ...]
    findings: tuple[Diagnostic, ...]
    objects: tuple[Rendered, ...]


def gathered(subject: Subject) -> Gathered:
    """What there is to tell, by unit."""
    owned: dict[ObjectRef, list[Rendered]] = defaultdict(list)
    known = {unit.ref for unit, _ in subject.units}
    for rendered in subject.objects:
        owned[rendered.owner].append(rendered)
    owners = {rendered.ref: rendered.owner for rendered in subject.objects}
    said: dict[ObjectRef | None, list[Diagnostic]] = defaultdict(list)
    for finding in subject.diagnostics:
        about = finding.subject if finding.subject in known else owners.get(finding.subject or NO_OBJECT)
        said[about if about in known else None].append(finding)
    made = frozenset((rendered.ref.kind, rendered.ref.namespace, rendered.ref.name) for rendered in subject.objects)
    units = sorted(subject.units, key=lambda pair: (pair[0].namespace, pair[0].name, pair[0].ref))
    facts = tuple(
        evolve(found, wanted=tuple(wanted for wanted in found.wanted if wanted[:3] not in made))
        for found in (facts_of(subject, unit, env, owned[unit.ref], said[unit.ref]) for unit, env in units)
    )
    rest = tuple(rendered for rendered in subject.objects if rendered.owner not in known)
    return Gathered(facts, tuple(said[None]), rest)


NO_OBJECT = ObjectRef("", "", "", "")


def facts_of(
    subject: Subject, unit: Unit, env: Env, objects: Sequence[Rendered], findings: Sequence[Diagnostic]
) -> UnitFacts:
    """What is told of a unit in more than one place."""
    compiled = {made.ref: made.body.value for made in unit.bundle.manifests}
    values = tuple((o.ref, value_in(o, compiled, changed=bool(subject.patches))) for o in objects)
    return UnitFacts(
        unit=unit,
        env=env,
        objects=tuple(objects),
        values=values,
        workloads=sized(values),
        images=images_of(values),
        models=models_of(unit),
        wanted=wanted_by(values),
        findings=tuple(findings),
        page=page_of(unit_stem(unit.ref)),
    )


def value_in(rendered: Rendered, compiled: Mapping[ObjectRef, Json], *, changed: bool) -> Json:
    """The value of a rendered object. Only patches may change what matters here, so else its text is not read again."""
    if not changed and rendered.ref in compiled:
        return compiled[rendered.ref]
    return value_of(rendered.text)
