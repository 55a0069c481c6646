"""Inclusion: plain manifests that are rendered as they are, beside what is compiled. Pure.

Decides what may be included and where it lies in the tree. Must not read files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import OBJECT_DECLARED
from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity, has_errors
from kservec.core.places import foreign
from kservec.core.schemas.faults import TYPE
from kservec.core.schemas.schema import written_help
from kservec.documents.entries import KSERVE_GROUP, OWN_GROUP, ref_of
from kservec.emit import dump
from kservec.frontend import CONTEXT
from kservec.gitops import admissible
from kservec.gitops.rendered import CLUSTER_FOLDER, INCLUDED_FOLDER, Rendered
from kservec.gitops.retargeting import KINDS, LOST, Retargeted, retargeted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.schemas.schema import Schemas
    from kservec.core.text.document import Document
    from kservec.core.tree import Json

SECRET = Code(
    "include/secret",
    Severity.ERROR,
    "a Secret among what is to be rendered",
    "What is rendered is committed to git, where a Secret's values are for everybody to read, and for ever. Include "
    "what stands for it instead: an ExternalSecret, or a SealedSecret; or leave it to SOPS, beside this tree.",
)
COMPILED = Code(
    "include/compiled-kind",
    Severity.ERROR,
    "an object of KServe's or kservec's own among what is to be rendered",
    "Objects of these kinds are compiled, or describe the target; in the cluster nothing would act on them. They "
    "belong into `sources` or `platform`.",
)
NO_OBJECT = Code(
    "include/no-object",
    Severity.ERROR,
    "a document that is no object",
    "What is rendered is applied, so it needs apiVersion, kind and metadata.name.",
)
TWICE = Code(
    "include/object-twice",
    Severity.ERROR,
    "an included object that is there already",
    "The tree would hold two descriptions of one object: one that is included, and one that is compiled or included as "
    "well. Whichever is applied last would win.",
)
SERVER_FIELDS = Code(
    "include/server-fields",
    Severity.WARNING,
    "fields of an included document that only an API server writes",
    "The document was read from a cluster. What the server wrote into it (status, uid, resourceVersion and the like) "
    "would stand in the way of the next apply, and is left out.",
)
SPOKEN_OF = frozenset({CONTEXT, LOST, OBJECT_DECLARED})
"""What is said of documents that are only read, and is wrong of those that are rendered."""
is_kind = re.compile(r"[A-Za-z][A-Za-z0-9]*").fullmatch
is_group = re.compile(r"[a-z0-9.-]*").fullmatch
OWN_FIELDS = ("status",)
OWN_METADATA = (
    "creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid",
)  # fmt: skip


class Included(NamedTuple):
    """What becomes of the documents: objects to render, what is wrong, and the document of each object."""

    objects: tuple[Rendered, ...]
    diagnostics: tuple[Diagnostic, ...]
    documents: tuple[tuple[ObjectRef, Document], ...] = ()


def included(
    documents: Sequence[Document], objects: Sequence[Rendered], schemas: Schemas, namespaces: Sequence[str]
) -> Included:
    """The documents as rendered objects.

    Args:
        documents: what is included.
        objects: what is compiled.
        schemas: the structure of the kinds that are known.
        namespaces: those that objects may be in; any if there are none.
    """
    known = {identity(o.ref): str(o.owner) for o in objects}
    made: list[Rendered] = []
    found: list[Diagnostic] = []
    used: list[tuple[ObjectRef, Document]] = []
    for document in documents:
        ref = ref_of(document, schemas)
        faults = tuple(misnamed(document, ref)) or (
            *refusals(document, ref, namespaces),
            *repeated(document, ref, known),
        )
        faults = faults or tuple(structure(document, ref, schemas))
        found += faults
        if has_errors(faults):
            continue
        known[identity(ref)] = document.file
        led = retargeted(document, ref, objects, is_included=True) if ref.kind in KINDS else Retargeted(document.value)
        found += [*led.diagnostics, *server_fields(document, ref)]
        written = schemas.as_stored(placed(led.value, ref), ref.api_version, ref.kind)
        made.append(Rendered(ref, dump(written), ref, place=folder(ref)))
        used.append((ref, document))
    return Included(tuple(made), tuple(found), tuple(used))


def identity(ref: ObjectRef) -> tuple[str, str, str, str]:
    """What makes two objects the same one: its version does not count."""
    return ref.group, ref.kind, ref.namespace, ref.name


def folder(ref: ObjectRef) -> str:
    """Where an included object lies in the tree."""
    return f"{ref.namespace or CLUSTER_FOLDER}/{INCLUDED_FOLDER}"


def misnamed(document: Document, ref: ObjectRef) -> Iterator[Diagnostic]:
    """The error about a name that YAML does not read as text, such as n."""
    metadata = document.value.get("metadata") if isinstance(document.value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if is_kind(ref.kind) and isinstance(name, bool | int | float):
        path = ("metadata", "name")
        text = document.plain(path) or str(name)
        message = f"metadata.name must be a string, and {text} without quotes is none"
        yield Diagnostic(code=TYPE, message=message, span=document.span(path), help=f'put it in quotes: "{text}"')


def refusals(document: Document, ref: ObjectRef, namespaces: Sequence[str]) -> Iterator[Diagnostic]:
    """Why a document must not be rendered at all."""
    if not is_kind(ref.kind) or not is_group(ref.group) or not ref.name:
        span, hint = document.span(("metadata",)), "write apiVersion, kind and metadata.name"
        yield Diagnostic(code=NO_OBJECT, message="this is no object that can be applied", span=span, help=hint)
    elif ref.kind == "Secret" and not ref.group:
        hint = (
            "include an ExternalSecret or a SealedSecret, or keep it in a file that SOPS encrypts and your tool reads"
        )
        yield refused(SECRET, document, ref, f"{ref} would be committed in plain text", hint)
    elif ref.group in (KSERVE_GROUP, OWN_GROUP):
        hint = "move it to a file below sources or platform, and include the others"
        yield refused(COMPILED, document, ref, f"{ref} is not rendered as it is", hint)
    elif namespaces and ref.namespace and ref.namespace not in namespaces:
        yield foreign(ref, ref, document.span(("metadata", "namespace")))


def refused(code: Code, document: Document, ref: ObjectRef, message: str, hint: str) -> Diagnostic:
    """The error about a document, at its kind."""
    return Diagnostic(code=code, message=message, span=document.span(("kind",)), help=hint, subject=ref)


def repeated(document: Document, ref: ObjectRef, known: dict[tuple[str, str, str, str], str]) -> Iterator[Diagnostic]:
    """The error about an object that is in the tree already."""
    other = known.get(identity(ref))
    if other is not None:
        yield Diagnostic(
            code=TWICE,
            message=f"{ref} is included, and comes from {other} as well",
            span=document.span(("metadata", "name")),
            help="leave one of them out; an autoscaler of your own goes with autoscalerClass: external",
            subject=ref,
        )


def structure(document: Document, ref: ObjectRef, schemas: Schemas) -> Iterator[Diagnostic]:
    """What an API server would refuse in a document."""
    for fault in admissible.refused(document.value, ref, schemas):
        span = document.key_span(fault.path) if fault.at_key else document.span(fault.path)
        related = tuple((document.span(path), text) for path, text in fault.related)
        yield Diagnostic(
            code=fault.code,
            message=fault.message,
            span=span,
            help=written_help(fault, document),
            label=fault.label,
            related=related,
            subject=ref,
        )


def server_fields(document: Document, ref: ObjectRef) -> Iterator[Diagnostic]:
    """The warning about what only a server writes."""
    there = [field for field in OWN_FIELDS if field in document.value]
    there += [f"metadata.{field}" for field in OWN_METADATA if field in document.value["metadata"]]
    if there:
        message = f"{ref} has {', '.join(there)}, which is left out"
        span, hint = document.span(("metadata", "name")), "remove what the API server wrote"
        yield Diagnostic(code=SERVER_FIELDS, message=message, span=span, help=hint, subject=ref)


def placed(value: Json, ref: ObjectRef) -> Json:
    """A document as it is written: with its namespace, without what only a server writes."""
    metadata = {k: v for k, v in value["metadata"].items() if k not in OWN_METADATA}
    if ref.namespace:
        metadata["namespace"] = ref.namespace
    return {**{k: v for k, v in value.items() if k not in OWN_FIELDS}, "metadata": metadata}
