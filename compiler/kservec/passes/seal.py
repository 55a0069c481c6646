"""seal: the last look at a unit before it is written: nothing forgotten, nothing an API server would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Bundle, Manifest
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.names import INTERNAL
from kservec.core.records import evolve
from kservec.core.tree import Tree
from kservec.core.unit import Step
from kservec.core.validity.object_validity import object_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.env import Env
    from kservec.core.tree import Json
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


def seal(unit: Unit, env: Env) -> Step:
    """Report what no pass honoured and what an API server would refuse, and bring the manifests into their final form.

    Takes:   every intent that is left
    Writes:  manifests: without KServe's internal annotations, in the form that keeps a sync clean
    Reports: output/intent-left, output/*, pod/*
    """
    sealed = tuple(finished(m, env) for m in unit.bundle.manifests)
    found = (*leftovers(unit), *(d for m in sealed for d in refusals(unit, m, env)))
    return Step(evolve(unit, bundle=Bundle(sealed)), found)


def refusals(unit: Unit, made: Manifest, env: Env) -> Iterator[Diagnostic]:
    """What an API server would refuse in an object, located where the value comes from.

    The structure is only looked at where no rule found anything: it is then a fault of the compiler or its plugs.
    """
    ref, body = made.ref, made.body.value
    faults = list(object_faults(ref.api_version, ref.kind, body))
    for fault in faults:
        yield Diagnostic(
            code=fault.code,
            message=f"{ref.kind} {ref.name}: {fault.message}",
            span=made.body.span(fault.path) or unit.source.span("metadata", "name"),
            related=tuple((span, text) for path, text in fault.related if (span := made.body.span(path)) is not None),
            help=fault.help,
            subject=unit.ref,
        )
    for path, message in [] if faults else env.schemas.output_errors(body, ref.api_version, ref.kind):
        span = made.body.span(path) or unit.source.span("metadata", "name")
        yield Diagnostic(
            code=REFUSED,
            message=f"{ref.kind} {ref.name}: {message}",
            span=span,
            help="an API server would refuse this object; correct the value that it comes from",
            subject=unit.ref,
        )


def leftovers(unit: Unit) -> Iterator[Diagnostic]:
    """A diagnostic for every intent that nobody took."""
    for intent in (*unit.intents, *(i for c in unit.components for i in c.intents)):
        yield Diagnostic(
            code=FORGOTTEN,
            message=f"{type(intent).__name__} was left over",
            span=intent.origin.span(),
            help="report this as a bug",
            subject=unit.ref,
        )


def finished(made: Manifest, env: Env) -> Manifest:
    """A manifest as it is written."""
    body = made.body.value
    written = env.schemas.as_stored(without_internal(body), made.ref.api_version, made.ref.kind)
    return made if written is body else made._replace(body=Tree(written, made.body.journal))


def without_internal(body: Json) -> Json:
    """An object whose annotations, and those of its pod template, do not speak to KServe's webhooks."""
    body = stripped(body)
    template = (body.get("spec") or {}).get("template")
    if isinstance(template, dict) and "metadata" in template:
        changed = stripped(template)
        if changed is not template:
            return {**body, "spec": {**body["spec"], "template": changed}}
    return body


def stripped(owner: Json) -> Json:
    """An object, or a template, without internal annotations in its metadata."""
    metadata = owner.get("metadata") or {}
    annotations = metadata.get("annotations")
    if not annotations or not any(k.startswith(INTERNAL) for k in annotations):
        return owner
    kept = {k: v for k, v in annotations.items() if not k.startswith(INTERNAL)}
    return {**owner, "metadata": {**metadata, "annotations": kept}}
