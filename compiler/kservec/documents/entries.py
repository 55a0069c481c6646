"""Entries: which object each document describes, where it ranks, and which of two documents of one object counts.

Knows identities only. What is inside a document is its reader's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity
from kservec.core.records import evolve
from kservec.core.schemas.faults import REQUIRED
from kservec.core.schemas.schema import UNKNOWN_KIND
from kservec.core.spelling import closest
from kservec.core.text.document import Document

if TYPE_CHECKING:
    from kservec.core.schemas.schema import Schemas
    from kservec.core.tree import Json

KSERVE_GROUP = "serving.kserve.io"
KSERVE_VERSIONS = f"{KSERVE_GROUP}/"
"""What the versions of the group begin with."""
OWN_GROUP = "kservec.dev"
OWN_VERSION = f"{OWN_GROUP}/v1alpha1"
CLUSTER = "Cluster"
OWN_KINDS = (CLUSTER, "Index", "Project")
DEFAULT_NAMESPACE = "default"
"""Where kubectl puts an object without a namespace unless its context says otherwise."""

READ_KINDS = {
    "": ("ConfigMap", "LimitRange", "Namespace", "ResourceQuota", "Secret", "ServiceAccount"),
    "bitnami.com": ("SealedSecret",),
    "cert-manager.io": ("Certificate",),
    "external-secrets.io": ("ExternalSecret",),
    "gateway.networking.k8s.io": ("Gateway",),
    "networking.k8s.io": ("NetworkPolicy",),
}
"""Kinds of other projects that are read, by group."""

CLUSTER_KINDS = ("Namespace", "Node", "GatewayClass")
"""Kinds without a namespace that no schema of ours states."""

OBJECT_TWICE = Code(
    "input/object-twice",
    Severity.ERROR,
    "one object is described twice",
    "Two documents of the input have the same kind, namespace and name. Applied to a cluster, the second would "
    "silently replace the first. Remove or rename one of them.",
)


class Rank(IntEnum):
    """Where a document comes from; of two that describe one object the higher rank counts, then the later one."""

    BUILTIN = 0
    PLATFORM = 1
    INPUT = 2


class Entry(NamedTuple):
    """A document with the identity of its object. Of what is no object the kind or the name is empty."""

    document: Document
    ref: ObjectRef
    rank: Rank

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What makes two objects the same one: its version does not count."""
        return self.ref.group, self.ref.kind, self.ref.namespace, self.ref.name

    @property
    def is_kserve(self) -> bool:
        """Whether KServe owns the kind."""
        return self.ref.api_version.startswith(KSERVE_VERSIONS)


def entries_of(documents: Iterable[Document], rank: Rank, schemas: Schemas) -> Iterator[Entry]:
    """An entry for every document, in their order."""
    for document in documents:
        yield Entry(document, ref_of(document, schemas), rank)


def ref_of(document: Document, schemas: Schemas) -> ObjectRef:
    """The identity of the object that a document describes; parts that are missing or no text are empty."""
    value = document.value if isinstance(document.value, dict) else {}
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    api_version = text_of(value, "apiVersion")
    kind = text_of(value, "kind") if api_version else ""
    namespace = namespace_of(api_version, kind, text_of(metadata, "namespace"), schemas)
    return ObjectRef(api_version, kind, namespace, text_of(metadata, "name"))


def text_of(holder: Mapping[str, Json], field: str) -> str:
    """A field of a map; empty if it is no text."""
    text = holder.get(field)
    return text if isinstance(text, str) else ""


def namespace_of(api_version: str, kind: str, written: str, schemas: Schemas) -> str:
    """The namespace of an object: `default` where a namespaced kind names none, and none for cluster-wide kinds."""
    known = schemas.kinds().get((api_version, kind))
    if known is not None:
        return (written or DEFAULT_NAMESPACE) if known.is_namespaced else ""
    if kind in CLUSTER_KINDS:
        return ""
    group = api_version.rpartition("/")[0]
    return written or (DEFAULT_NAMESPACE if kind in READ_KINDS.get(group, ()) else "")


class Checked(NamedTuple):
    """The entries that can be used, those of the input that cannot, and what is wrong with the structure of these."""

    usable: list[Entry]
    faulty: list[tuple[Entry, Sequence[Diagnostic]]]
    found: list[Diagnostic]


def checked(entries: Iterable[Entry], schemas: Schemas) -> Checked:
    """The entries that can be used, and what is wrong with the structure of the others.

    Built-in documents are trusted. Platform folders hold all sorts of files, so there only kinds that are read count.
    What a broken document would have replaced is left out with it, lest services be judged by that.
    """
    usable: list[Entry] = []
    faulty: list[tuple[Entry, Sequence[Diagnostic]]] = []
    found: list[Diagnostic] = []
    broken: dict[tuple[str, str, str, str], Rank] = {}
    for entry in entries:
        faults = structure_faults(entry, schemas)
        found += faults
        if faults and not is_readable(entry):
            broken[entry.identity] = entry.rank
            faulty += [(entry, faults)] if entry.rank is Rank.INPUT else []
        elif entry.ref.kind and (entry.ref.name or entry.ref.group == OWN_GROUP):
            usable.append(entry)
    if broken:
        usable = [entry for entry in usable if entry.rank >= broken.get(entry.identity, entry.rank)]
    return Checked(usable, faulty, found)


def is_readable(entry: Entry) -> bool:
    """Whether a faulty document is used as far as it goes: so much rests on KServe's configuration."""
    return entry.ref.kind == "ConfigMap" and isinstance(entry.document.value.get("data"), dict)


def structure_faults(entry: Entry, schemas: Schemas) -> Sequence[Diagnostic]:
    """What is wrong with the structure of one document."""
    ref, document = entry.ref, entry.document
    if entry.rank is Rank.BUILTIN:
        return ()
    if ref.group == OWN_GROUP:
        return own_kind_faults(entry)
    if is_read(ref, schemas):
        if is_preset(entry):
            return ()
        return [named(d, ref) for d in (*schemas.check(document), *missing_spec(entry, schemas))]
    if entry.rank is Rank.INPUT and not (ref.api_version and ref.kind):
        return schemas.check(document)
    return misspelt_kind(entry)


def missing_spec(entry: Entry, schemas: Schemas) -> tuple[Diagnostic, ...]:
    """The error about an object of KServe's without `spec`, where a spec must have something in it.

    The published definitions demand fields of a spec, and forget to demand the spec.
    """
    value, ref = entry.document.value, entry.ref
    if "spec" in value or not entry.is_kserve or not schemas.knows(ref.api_version, ref.kind):
        return ()
    if not schemas.check(Document(entry.document.file, {**value, "spec": {}})):
        return ()
    message = f"{ref} has no spec"
    span = entry.document.span(("metadata", "name"))
    return (Diagnostic(code=REQUIRED, message=message, span=span, label="spec is required here", help="add spec"),)


def misspelt_kind(entry: Entry) -> tuple[Diagnostic, ...]:
    """The error about a kind of Kubernetes' core that does not exist and is nearly one that is read: `Secrets`."""
    ref = entry.ref
    meant = closest(ref.kind, READ_KINDS[""]) if ref.api_version == "v1" and ref.kind else None
    if meant is None:
        return ()
    return (
        Diagnostic(
            code=UNKNOWN_KIND,
            message=f"unknown kind {ref.kind} in {ref.api_version}",
            span=entry.document.span(("kind",)),
            label="unknown kind",
            help=f"did you mean {meant}?",
            subject=ref._replace(kind=meant, namespace=ref.namespace or DEFAULT_NAMESPACE) if ref.name else None,
        ),
    )


def is_read(ref: ObjectRef, schemas: Schemas) -> bool:
    """Whether a kind is one of KServe's, by its group or by its name, or a kind that is read and can be checked.

    Other projects' kinds may have versions that no schema ships for; Kubernetes' own are in v1 alone.
    """
    group = ref.group
    if group == KSERVE_GROUP or ref.kind in kserve_kinds(schemas):
        return True
    return ref.kind in READ_KINDS.get(group, ()) and (group == "" or schemas.knows(ref.api_version, ref.kind))


@lru_cache(maxsize=8)
def kserve_kinds(schemas: Schemas) -> frozenset[str]:
    """The kinds of KServe that there are schemas for."""
    return frozenset(kind for api_version, kind in schemas.kinds() if api_version.startswith(KSERVE_GROUP))


def is_preset(entry: Entry) -> bool:
    """Whether it is an LLM preset of the platform: those are checked where a service uses them."""
    return entry.ref.kind == "LLMInferenceServiceConfig" and entry.rank is Rank.PLATFORM


def named(diagnostic: Diagnostic, ref: ObjectRef) -> Diagnostic:
    """The diagnostic with the object that it is about."""
    return evolve(diagnostic, subject=ref) if ref.name else diagnostic


def own_kind_faults(entry: Entry) -> tuple[Diagnostic, ...]:
    """What is wrong with the kind of a document under kservec's own group."""
    ref = entry.ref
    if ref.api_version == OWN_VERSION and ref.kind in OWN_KINDS:
        return ()
    meant = closest(ref.kind, OWN_KINDS) or CLUSTER
    return (
        Diagnostic(
            code=UNKNOWN_KIND,
            message=f"there is no {ref.kind} in {ref.api_version}",
            span=entry.document.span(("kind",)),
            help=f"did you mean {meant} in {OWN_VERSION}?",
        ),
    )


def once(entries: Iterable[Entry]) -> tuple[list[Entry], list[Diagnostic]]:
    """The entries without those whose object an earlier one describes, and an error for each of these."""
    first: dict[tuple[str, str, str, str], Entry] = {}
    kept: list[Entry] = []
    found: list[Diagnostic] = []
    for entry in entries:
        other = first.setdefault(entry.identity, entry) if entry.ref.name else entry
        if other is entry:
            kept.append(entry)
        else:
            found.append(described_twice(entry, other))
    return kept, found


def described_twice(entry: Entry, other: Entry) -> Diagnostic:
    """The error that names both documents of one object."""
    return Diagnostic(
        code=OBJECT_TWICE,
        message=f"{entry.ref} is described twice",
        span=entry.document.span(("metadata", "name")),
        label="the second of this name",
        help="remove or rename one of them",
        related=((other.document.span(("metadata", "name")), "the first is here"),),
        subject=entry.ref,
    )


def winners(entries: Iterable[Entry], wanted: Callable[[Entry], bool]) -> list[Entry]:
    """One entry for each wanted object, the last that describes it, in the order of their identities."""
    last = {entry.identity: entry for entry in entries if wanted(entry)}
    return [last[identity] for identity in sorted(last)]
