"""Patches over rendered objects: what they change, take away and add, and whether an API server would still take it.

An object stays what it is called and whose it is: its name is in the selectors, routes and scale targets of others,
which no patch follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity, has_errors
from kservec.core.digits import natural
from kservec.core.knative.revisions import revision_name
from kservec.core.text.document import Document
from kservec.core.text.source import SourceText
from kservec.documents.entries import ref_of
from kservec.emit import dump
from kservec.gitops import admissible
from kservec.gitops.rendered import Rendered
from kservec.overlays.closure import Patch
from kservec.overlays.container_slips import added_containers
from kservec.overlays.objects import Gathered, id_of
from kservec.overlays.result import RESULT_LIMITS, by_file, origin_of, path_of, without_origin
from kservec.overlays.texts import read_text
from kservec.overlays.tracing import OverlaidDocument
from kservec.passes.seal import REFUSED

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json
    from kservec.core.schemas.faults import Fault
    from kservec.core.schemas.schema import Schemas
    from kservec.overlays.closure import Closure
    from kservec.overlays.kustomization import Kustomization

KNATIVE = ("serving.knative.dev/v1", "Service")
STRUCTURE = "schema/"
"""How the codes begin that schemas find."""
MARK = "kservec.dev/rendered"
"""The annotation by which an object is found again. It never leaves kustomize."""

RENAMED = Code(
    "patches/renamed",
    Severity.ERROR,
    "a patch that renames a rendered object",
    "Other objects refer to it by its name: selectors, routes, autoscalers. Rename the service in its spec, or move it "
    "by an overlay.",
)
UNFIT = Code(
    "patches/unfit-addition",
    Severity.ERROR,
    "a patch that adds an object which cannot be rendered",
    "What patches add is written into the tree like everything else. Secrets never are, and an object of a namespace "
    "says which one.",
)


class Subject(NamedTuple):
    """A rendered object and its value."""

    rendered: Rendered
    value: Json


class Outcome(NamedTuple):
    """The objects after the patches, in their total order, and what is wrong with them.

    `spoiled` are those that are not among the objects, each with the error that tells of it, maybe of others as well.
    `traced` are those that were changed or added, as what knows where their values were written.
    """

    objects: tuple[Rendered, ...]
    diagnostics: tuple[Diagnostic, ...]
    spoiled: tuple[tuple[ObjectRef, Diagnostic], ...] = ()
    traced: tuple[tuple[ObjectRef, OverlaidDocument], ...] = ()


def subjects_of(objects: Sequence[Rendered]) -> tuple[Subject, ...]:
    """Rendered objects with their values."""
    return tuple(Subject(rendered, value_of(rendered.text)) for rendered in objects)


def value_of(text: str) -> Json:
    """The value of a text that was rendered."""
    (document,), _ = read_text(SourceText("", text), RESULT_LIMITS)
    return document.value


def marked(subjects: Sequence[Subject]) -> list[Json]:
    """The values of objects, each with a mark to find it by."""
    return [with_annotation(subject.value, str(i)) for i, subject in enumerate(subjects)]


def with_annotation(value: Json, text: str) -> Json:
    """An object with its mark."""
    metadata = value.get("metadata") or {}
    return {**value, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), MARK: text}}}


def given(subjects: Sequence[Subject]) -> list[Gathered]:
    """Rendered objects as those that patches are laid over."""
    found = [(Document(s.rendered.path, s.value), id_of(s.value)) for s in subjects]
    return [Gathered(document=document, file="", ids=(called,)) for document, called in found if called is not None]


class Patched(NamedTuple):
    """What kustomize made of one object, or added. `before` is None for what was added.

    `base` is what the values that no layer sets are traced to.
    """

    value: Json
    before: Subject | None
    base: Document
    layers: tuple[Patch | Kustomization, ...]


def patched_objects(
    text: str, subjects: Sequence[Subject], laid: Sequence[Gathered], closure: Closure
) -> Iterator[Patched]:
    """What kustomize made, object by object.

    Args:
        text: what it wrote.
        subjects: the objects that it was given.
        laid: the same, with what is laid over each, and then what is added.
        closure: what the patches reach.
    """
    documents, _ = read_text(SourceText("", text), RESULT_LIMITS)
    places = {subject.rendered.ref: i for i, subject in enumerate(subjects)}
    added = by_file(laid[len(subjects) :])
    first = closure.first.document
    for document in documents:
        plain, origin = without_origin(document.value)
        plain, mark = without_mark(plain)
        number = natural(mark)
        i = places.get(identity(plain), -1) if number is None else number
        if i >= 0:
            patches = [layer.document for layer in laid[i].layers if isinstance(layer, Patch)]
            yield Patched(plain, subjects[i], patches[-1] if patches else first, laid[i].layers)
        else:
            found = origin_of(id_of(plain), path_of(origin), added)
            base = found.document if found is not None and found.document is not None else first
            yield Patched(plain, None, base, found.layers if found is not None else ())


def identity(value: Json) -> ObjectRef:
    """The identity of an object as it is written."""
    found = id_of(value)
    metadata = value.get("metadata") or {}
    name = found.name if found is not None else ""
    return ObjectRef(str(value.get("apiVersion")), str(value.get("kind")), str(metadata.get("namespace") or ""), name)


def without_mark(value: Json) -> tuple[Json, str]:
    """An object without its mark, and the mark; empty if it has none."""
    metadata = value["metadata"]
    annotations = dict(metadata.get("annotations") or {})
    mark = str(annotations.pop(MARK, ""))
    rest = {key: part for key, part in metadata.items() if key != "annotations"}
    return {**value, "metadata": rest | ({"annotations": annotations} if annotations else {})}, mark


def outcome(made: Iterator[Patched], schemas: Schemas) -> Outcome:
    """The objects after the patches, and what is wrong with those that they changed or added."""
    objects: list[Rendered] = []
    found: list[tuple[ObjectRef, Diagnostic]] = []
    traced: list[tuple[ObjectRef, OverlaidDocument]] = []
    for one in made:
        if one.before is not None and one.value == one.before.value:
            objects.append(one.before.rendered)
            continue
        document = OverlaidDocument(one.value, one.base, one.layers)
        ref = ref_of(document, schemas)
        faults = [*identity_findings(one, document, ref), *validity_findings(document, ref, schemas)]
        faults += container_findings(one, ref)
        found += [(one.before.rendered.ref if one.before is not None else ref, fault) for fault in faults]
        if not has_errors(faults):
            objects.append(rendered_again(one, ref, schemas))
            traced.append((objects[-1].ref, document))
    told = once_a_place([fault for _, fault in found])
    at = {(fault.code, fault.span): fault for fault in told}
    spoiled = tuple((ref, at[fault.code, fault.span]) for ref, fault in found if fault.is_error)
    return Outcome(tuple(sorted(objects, key=lambda rendered: rendered.ref)), told, spoiled, tuple(traced))


def once_a_place(found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings without further ones of a kind about the same line: a suffix renames all objects at once."""
    return tuple({(one.code, one.span): one for one in reversed(found)}.values())[::-1]


def rendered_again(one: Patched, ref: ObjectRef, schemas: Schemas) -> Rendered:
    """The text of a changed or added object, as an API server would store it. What is added belongs to nobody."""
    value = schemas.as_stored(one.value, ref.api_version, ref.kind)
    if one.before is None:
        return Rendered(ref, dump(value), ref, shared=True)
    return one.before.rendered._replace(text=dump(renamed_revision(value, one.before.value)))


def renamed_revision(value: Json, before: Json) -> Json:
    """A Knative service whose revision has another name if there is something else in it: revisions never change."""
    if (value["apiVersion"], value["kind"]) != KNATIVE:
        return value
    old, new = before["spec"]["template"], value["spec"]["template"]
    name = (old.get("metadata") or {}).get("name")
    if not name or new == old or (new.get("metadata") or {}).get("name") != name:
        return value
    nameless = {**new, "metadata": {key: part for key, part in new["metadata"].items() if key != "name"}}
    named = {**new, "metadata": {**new["metadata"], "name": revision_name(value["metadata"]["name"], nameless)}}
    return {**value, "spec": {**value["spec"], "template": named}}


def identity_findings(one: Patched, document: Document, ref: ObjectRef) -> Iterator[Diagnostic]:
    """Errors about objects with another name than before, and about additions that cannot be rendered."""
    at = ("metadata", "name")
    if one.before is None:
        written = (one.value["metadata"] or {}).get("namespace")
        if ref.kind == "Secret":
            hint = "have an operator put it into the cluster, such as External Secrets"
            yield unfit(f"Secret {ref.name} would be written into the tree", document.span(at), hint)
        elif ref.namespace and not written:
            yield unfit(f"{ref.kind} {ref.name} names no namespace", document.span(at), "write metadata.namespace")
        return
    was, now = one.before.rendered.ref, identity(one.value)
    if (was.kind, was.name, was.namespace) != (now.kind, now.name, now.namespace):
        hint = "rename the service in its spec; an overlay can move it to another namespace"
        message = f"a patch makes {now} of {was}"
        at = at if was.name != now.name else ("metadata", "namespace")
        yield Diagnostic(code=RENAMED, message=message, span=document.span(at), help=hint, subject=was)


def container_findings(one: Patched, ref: ObjectRef) -> Iterator[Diagnostic]:
    """Warnings about containers that patches add by a slip."""
    for layer in one.layers if one.before is not None else ():
        if one.before is not None and isinstance(layer, Patch) and not layer.is_list:
            yield from added_containers(layer, one.before.value, one.value, ref)


def unfit(message: str, span: Span, hint: str) -> Diagnostic:
    """The error about an addition that cannot be rendered."""
    return Diagnostic(code=UNFIT, message=message, span=span, help=hint)


def validity_findings(document: Document, ref: ObjectRef, schemas: Schemas) -> Iterator[Diagnostic]:
    """What an API server would refuse in a changed or added object. What is wrong with its structure is one code."""
    for fault in admissible.refused(document.value, ref, schemas):
        if fault.code.slug.startswith(STRUCTURE):
            yield refused(fault, ref, document)
        else:
            yield refusal(fault, ref, document)


def refused(fault: Fault, ref: ObjectRef, document: Document) -> Diagnostic:
    """The error about a value that does not fit the schema."""
    refusal_hint = "an API server would refuse this object; correct the patch"
    hint = f"did you mean {fault.meant}? An API server would refuse this object" if fault.meant else refusal_hint
    return Diagnostic(
        code=REFUSED,
        message=f"{ref.kind} {ref.name}: {fault.message}",
        span=place_of(fault, document),
        help=hint,
        subject=ref,
    )


def refusal(fault: Fault, ref: ObjectRef, document: Document) -> Diagnostic:
    """The error about a value that a rule of the API server refuses."""
    return Diagnostic(
        code=fault.code,
        message=f"{ref.kind} {ref.name}: {fault.message}",
        span=place_of(fault, document),
        help=fault.help,
        subject=ref,
    )


def place_of(fault: Fault, document: Document) -> Span:
    """Where what is at fault was written: a field's name, or its value."""
    return document.key_span(fault.path) if fault.at_key else document.span(fault.path)
