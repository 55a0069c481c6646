"""seal: the last look at a unit before it is written: nothing forgotten, nothing an API server would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.pods.templates import KINDS_WITH_PODS, TEMPLATES
from kservec.core.records import evolve
from kservec.core.schemas.faults import ENUM, PATTERN, RANGE, TYPE, value_at
from kservec.core.unit import Step
from kservec.core.validity.object_validity import LONG_LABEL, LONG_SERVICE_NAME, object_faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec.core.bundle import Manifest
    from kservec.core.registry import Env
    from kservec.core.schemas.faults import Fault
    from kservec.core.unit import Unit

FORGOTTEN = Code(
    "output/intent-left",
    Severity.ERROR,
    "a wish of the spec was not honoured",
    "No part of the compiler acted on this field. This is a gap in kservec; please report it.",
)
REFUSED = Code(
    "output/refused",
    Severity.ERROR,
    "an object that an API server would refuse",
    "The object that the service leads to does not fit the schema of its kind. The place shown is the value's origin.",
)


OF_VALUES = frozenset((ENUM, PATTERN, RANGE, TYPE))
"""Codes of what may be wrong with the structure of a single value."""
KIND_ABSENT = Code(
    "platform/kind-absent",
    Severity.ERROR,
    "an object of a kind that the cluster does not have",
    "The target cluster is said to lack the kind (`absent` of a Cluster document, or --absent), and what is compiled "
    "needs an object of it.",
)


def seal(unit: Unit, env: Env) -> Step:
    """Report what no pass honoured, what an API server would refuse, and what could never start.

    Where a rule found an error in an object, of its structure only single values are told of, as they were written:
    anything else may follow from that error.

    Takes:   every intent that is left
    Writes:  nothing
    Reports: output/intent-left, output/*, pod/*, platform/kind-absent
    """
    found = leftovers(unit)
    absent, schemas = env.platform.absent, env.schemas
    sound: list[Manifest] = []
    faulty: list[tuple[Fault, Diagnostic]] = []
    in_pods: list[tuple[Fault, Diagnostic]] = []
    elsewhere: list[tuple[Fault, Diagnostic]] = []
    for made in unit.bundle.manifests:
        ref, body = made.ref, made.body.value
        misfitting = in_pods if (ref.group, ref.kind) in TEMPLATES else elsewhere
        # The kinds of the core are always there: a bare Service means Knative's.
        if absent and ref.group and not env.platform.has(ref.api_version, ref.kind):
            found.append(absent_kind(unit, made))
        faults = [(fault, refusal(unit, made, fault)) for fault in object_faults(ref.api_version, ref.kind, body)]
        faulty += faults
        if faults and any(refused.is_error for _, refused in faults):
            misfitting += values_apart(unit, made, env, [refused for _, refused in faults])
            continue
        if not schemas.fits(body, ref.api_version, ref.kind):
            misfitting += misfits(unit, made, env)
        elif ref.kind in KINDS_WITH_PODS:
            sound.append(made)
    found += lacking_keys(unit, sound, env)
    if faulty or in_pods or elsewhere:
        # What a Service has from the pods is told of in the pods.
        found += once_each(but_one_name(unit, [*faulty, *without_echoes(unit, [*in_pods, *elsewhere])]))
    return Step(unit, tuple(found))


def values_apart(unit: Unit, made: Manifest, env: Env, faulty: Sequence[Diagnostic]) -> list[tuple[Fault, Diagnostic]]:
    """What does not fit of the values that somebody wrote into an object, at places that no rule is about already."""
    if env.schemas.fits(made.body.value, made.ref.api_version, made.ref.kind):
        return []
    told = {place for refused in faulty for place in refused.spans}
    return [one for one in misfits(unit, made, env) if one[1].as_written and one[1].span not in told]


def without_echoes(unit: Unit, misfitting: Sequence[tuple[Fault, Diagnostic]]) -> list[tuple[Fault, Diagnostic]]:
    """What does not fit, without what is made of a text that is told of where it is written.

    As is the protocol of a Service's port, which it has of the container.
    """
    if not misfitting:  # finding a place in the text takes time and memory
        return []
    nowhere = unit.source.span("metadata", "name")
    written = {(fault.code, fault.once) for fault, refused in misfitting if fault.once and refused.span != nowhere}
    return [
        (fault, refused)
        for fault, refused in misfitting
        if refused.span != nowhere or fault.over or (fault.code, fault.once) not in written
    ]


def but_one_name(unit: Unit, faulty: Sequence[tuple[Fault, Diagnostic]]) -> Iterator[tuple[Fault, Diagnostic]]:
    """What is wrong, where of all texts that are too long by the unit's name one is told of, names before labels.

    Each has this and that around the name. A name that is short enough for the one with most around it is so for all.
    """
    if not any(fault.over for fault, _ in faulty):
        yield from faulty
        return
    place = unit.source.span("metadata", "name")
    made = [fault for fault, told in faulty if fault.over and (told.span == place or fault.code is LONG_SERVICE_NAME)]
    made.sort(key=lambda fault: (fault.code is not LONG_SERVICE_NAME, -fault.over))
    for fault, refused in faulty:
        if fault not in made:
            yield fault, refused
        elif fault is made[0]:
            yield fault, evolve(refused, help=shorter(unit.name, max(each.over for each in made)))


def shorter(name: str, over: int) -> str:
    """What to do about a text that has too many characters, and a name in it."""
    room = len(name) - over
    return f"choose a name of {room} characters or less" if room > 0 else "shorten what else it is made of, too"


def lacking_keys(unit: Unit, sound: Iterable[Manifest], env: Env) -> list[Diagnostic]:
    """Keys that pods of objects refer to, and that are not in the Secrets and ConfigMaps that are declared."""
    if not (env.cluster.secrets or env.cluster.config_maps):
        return []
    from kservec.core.validity.declared_keys import missing_keys  # noqa: PLC0415 - many runs declare none

    return [missing for made in sound for missing in missing_keys(unit, made, env)]


def once_each(faulty: Iterable[tuple[Fault, Diagnostic]]) -> Iterator[Diagnostic]:
    """What is wrong, without what further containers and objects have from the same field.

    As do the modelcar and the init container that fetches its image, and the pods of a canary.
    """
    said = set()
    for fault, refused in faulty:
        key = (LONG_LABEL if fault.over else fault.code, refused.span, fault.once)
        if not fault.once or key not in said:
            yield refused
        said.add(key)


def absent_kind(unit: Unit, made: Manifest) -> Diagnostic:
    """The error about an object that the cluster could not keep."""
    message = f"{unit.ref} leads to {made.ref}, and the cluster has no {made.ref.kind}"
    span = made.body.span(()) or unit.source.span("metadata", "name")
    hint = f"take {made.ref.kind} out of what is absent, or change what asks for it"
    return Diagnostic(code=KIND_ABSENT, message=message, span=span, help=hint, subject=unit.ref)


def refusal(unit: Unit, made: Manifest, fault: Fault) -> Diagnostic:
    """What an API server would refuse in an object by one of its rules, located where the value comes from."""
    body = made.body
    return Diagnostic(
        code=fault.code,
        message=f"{made.ref.kind} {made.ref.name}: {fault.message}",
        span=body.span(fault.path) or unit.source.span("metadata", "name"),
        related=tuple((span, text) for path, text in fault.related if (span := body.span(path)) is not None),
        help=fault.help,
        subject=unit.ref,
    )


def misfits(unit: Unit, made: Manifest, env: Env) -> Iterator[tuple[Fault, Diagnostic]]:
    """What does not fit the schema of an object's kind, located where the value comes from."""
    ref, body = made.ref, made.body
    for fault in env.schemas.output_faults(body.value, ref.api_version, ref.kind):
        remedy = fault.help if fault.once and fault.help else "correct the value that it comes from"
        place = body.span(fault.path)
        is_single = fault.code in OF_VALUES and not isinstance(value_at(body.value, fault.path), dict | list)
        yield (
            fault,
            Diagnostic(
                code=REFUSED,
                message=f"{ref.kind} {ref.name}: {fault.message}",
                span=place or unit.source.span("metadata", "name"),
                help=f"an API server would refuse this object; {remedy}",
                subject=unit.ref,
                as_written=is_single and place is not None,
            ),
        )


def leftovers(unit: Unit) -> list[Diagnostic]:
    """A diagnostic for every intent that nobody took."""
    left = [*unit.intents]
    for component in unit.components:
        left += component.intents
    return [
        Diagnostic(
            code=FORGOTTEN,
            message=f"{type(intent).__name__} was left over",
            span=intent.origin.span(),
            help="report this as a bug",
            subject=unit.ref,
        )
        for intent in left
    ]
