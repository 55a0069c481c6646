"""Catalog: serving runtimes, storage containers and presets become the Catalog of a run.

Decides which of several definitions of one name counts. Which runtime a service gets is `choose_runtime`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kservec.core.catalog import Catalog, Preset, Runtime, StorageContainer
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.golang.expressions import finder
from kservec.core.schemas.faults import UNKNOWN_FIELD
from kservec.documents.entries import Rank, winners
from kservec.documents.secrets import metadata_of, texts
from kservec.spec.clusterstoragecontainer import StorageContainerSpec
from kservec.spec.servingruntime import ServingRuntimeSpec

if TYPE_CHECKING:
    from kservec.core.schemas.schema import Schemas
    from kservec.documents.entries import Entry

RUNTIMES = ("ClusterServingRuntime", "ServingRuntime")
STORAGE_CONTAINER = "ClusterStorageContainer"
PRESET = "LLMInferenceServiceConfig"
KINDS = frozenset((*RUNTIMES, STORAGE_CONTAINER, PRESET))

SHADOWED = Code(
    "catalog/shadowed",
    Severity.NOTE,
    "a runtime or storage container of the input takes the place of another",
    "The input defines an object of the same kind and name as the platform or the built-in catalog. Its own counts.",
)

UNREADABLE_FORMAT = Code(
    "storage/uri-format",
    Severity.ERROR,
    "a regular expression that cannot be read",
    "Regular expressions in supportedUriFormats are Go's (RE2). KServe refuses to start pods whose URI it has to hold "
    "against one that it cannot read.",
)


def read_catalog(entries: Sequence[Entry], schemas: Schemas) -> tuple[Catalog, list[Diagnostic]]:
    """The catalog of a run.

    Args:
        entries: every usable entry, weakest first.
        schemas: for the defaults of the kinds.
    """
    runtimes: list[Runtime] = []
    containers: list[StorageContainer] = []
    presets: dict[tuple[str, str], Preset] = {}
    found = list(shadows(entries))
    for entry in winners(entries, in_catalog):
        if entry.ref.kind == STORAGE_CONTAINER:
            containers.append(read_storage_container(entry, schemas))
            found += unreadable_formats(containers[-1])
        elif entry.ref.kind == PRESET:
            presets[entry.ref.namespace, entry.ref.name] = read_preset(entry, schemas)
        else:
            runtimes.append(read_runtime(entry, schemas))
    runtimes.sort(key=lambda r: (r.namespace, r.name))
    return Catalog(runtimes=tuple(runtimes), storage_containers=tuple(containers), presets=presets), found


def in_catalog(entry: Entry) -> bool:
    """Whether a document belongs into the catalog."""
    return entry.ref.kind in KINDS and entry.is_kserve


def shadows(entries: Iterable[Entry]) -> Iterable[Diagnostic]:
    """A note for each object of the input that takes the place of another."""
    weaker: dict[tuple[str, str, str, str], Entry] = {}
    for entry in filter(in_catalog, entries):
        if entry.rank is not Rank.INPUT:
            weaker[entry.identity] = entry
        elif (other := weaker.get(entry.identity)) is not None:
            where = "of the built-in catalog" if other.rank is Rank.BUILTIN else "of the platform"
            yield Diagnostic(
                code=SHADOWED,
                message=f"{entry.ref} takes the place of the one {where}",
                span=entry.document.span(("metadata", "name")),
                related=((other.document.span(("metadata", "name")), "this one is not used"),),
                subject=entry.ref,
            )


def read_runtime(entry: Entry, schemas: Schemas) -> Runtime:
    """A runtime from its document."""
    body = schemas.with_defaults(entry.document.value, entry.ref.api_version, entry.ref.kind)
    metadata = metadata_of(body)
    created = metadata.get("creationTimestamp")
    return Runtime(
        name=entry.ref.name,
        namespace=entry.ref.namespace,
        annotations=texts(metadata.get("annotations")),
        created=created if isinstance(created, str) else "",
        spec=ServingRuntimeSpec.read(body.get("spec") or {}),
        document=entry.document,
    )


def read_preset(entry: Entry, schemas: Schemas) -> Preset:
    """A preset from its document."""
    # Most runs have no presets beyond those that a schema of today fits.
    from kservec.admission.llm.conversion import convert  # noqa: PLC0415

    ref, document = entry.ref, entry.document
    if faults := preset_faults(entry, schemas):
        return Preset(name=ref.name, namespace=ref.namespace, spec={}, document=document, faults=faults)
    converted = convert(schemas.with_defaults(document.value, ref.api_version, ref.kind))
    spec = converted.value.get("spec") or {}
    return Preset(name=ref.name, namespace=ref.namespace, spec=spec, document=document, moved=converted.moved)


def preset_faults(entry: Entry, schemas: Schemas) -> tuple[Diagnostic, ...]:
    """What is wrong with the structure of a preset of the platform; others were checked with all documents.

    A platform may have presets of another version of KServe, so fields that are unknown here do not count.
    """
    if entry.rank is not Rank.PLATFORM:
        return ()
    return tuple(d for d in schemas.check(entry.document) if d.code is not UNKNOWN_FIELD)


def unreadable_formats(container: StorageContainer) -> Iterator[Diagnostic]:
    """The errors about regular expressions that Go cannot read: KServe refuses pods when it comes to one."""
    for i, form in enumerate(container.spec.supported_uri_formats):
        if form.regex and finder(form.regex) is None:
            yield Diagnostic(
                code=UNREADABLE_FORMAT,
                message=f"{form.regex!r} of ClusterStorageContainer {container.name} is no regular expression of Go's",
                span=container.document.span(("spec", "supportedUriFormats", i, "regex")),
                help="correct it as RE2 has it, which knows no look-around and no back-references",
            )


def read_storage_container(entry: Entry, schemas: Schemas) -> StorageContainer:
    """A storage container from its document."""
    body = schemas.with_defaults(entry.document.value, entry.ref.api_version, entry.ref.kind)
    return StorageContainer(
        name=entry.ref.name,
        disabled=body.get("disabled") is True,
        spec=StorageContainerSpec.read(body.get("spec") or {}),
        document=entry.document,
    )
