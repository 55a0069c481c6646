"""Frontend: documents become the shared values of a run and one Unit per object to compile.

Decides what each kind of document is for: compiled, part of the target cluster, or context. Knows no rule of any kind:
structure is the schemas' business, KServe's defaulting and validation are admission's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kservec.admission.admit import admit_inferenceservice
from kservec.admission.local_cache import admit_cache
from kservec.admission.servingruntime import admit_runtimes
from kservec.admission.trained_model import Trained, admit_trained_model, attach_trained_models
from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity, Span, has_errors
from kservec.core.env import Env
from kservec.core.models.local_models import CACHE, NAMESPACE_CACHE, find_cache
from kservec.core.names import GROUP, STOP
from kservec.core.records import record
from kservec.core.serving.tracking import without_tracking
from kservec.core.unit import Source, Unit
from kservec.documents.catalog import read_catalog
from kservec.documents.cluster import read_cluster
from kservec.documents.configuration import read_platform
from kservec.documents.entries import CLUSTER, OWN_GROUP, Entry, Rank, checked, entries_of, once, ref_of
from kservec.documents.facts import read_facts
from kservec.documents.metadata import odd_in_others, odd_in_service
from kservec.spec.inferenceservice import InferenceService
from kservec.spec.localmodel import LocalModelCache
from kservec.spec.trainedmodel import TrainedModel

if TYPE_CHECKING:
    from kservec.core.catalog import Catalog
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Plugs
    from kservec.core.schemas.schema import Schemas
    from kservec.core.text.source import Document
    from kservec.core.tree import Json

NAMES_SHOWN = 6

CONTEXT = Code(
    "input/context",
    Severity.NOTE,
    "documents of the input that are not output",
    "kservec writes what its specs lead to. Other documents of the input (Secrets, ServiceAccounts, runtimes, plain "
    "manifests) are read as part of the target cluster where they matter, and are applied by whoever owns them.",
)
NO_GRAPHS = Code(
    "inferencegraph/not-implemented",
    Severity.ERROR,
    "an InferenceGraph cannot be compiled yet",
    "This version of kservec compiles InferenceServices. Leave the graph out of the input until a later one can.",
)
NO_LLMS = Code(
    "llminferenceservice/not-implemented",
    Severity.ERROR,
    "an LLMInferenceService cannot be compiled yet",
    "This version of kservec compiles InferenceServices. An InferenceService with the runtime kserve-vllmserver or "
    "kserve-huggingfaceserver serves a large model today.",
)

NOT_IMPLEMENTED = {
    "InferenceGraph": NO_GRAPHS,
    "LLMInferenceService": NO_LLMS,
}
"""Kinds that lead to output but cannot be compiled yet."""
SERVICE, TRAINED_MODEL = "InferenceService", "TrainedModel"


@record
class Options:
    """What the caller says about the target.

    `absent` are kinds that it does not have (`Kind`, `Kind.group` or `group/version/Kind`). `previous` are documents of
    the last build. `names_revisions`: revisions of Knative services get names, instead of numbers in the cluster.
    """

    absent: tuple[str, ...] = ()
    previous: tuple[Document, ...] = ()
    names_revisions: bool = False


@record
class Front:
    """What the passes start from. `context` are documents of the input that are not compiled, in their order."""

    env: Env
    units: tuple[Unit, ...] = ()
    context: tuple[Document, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def read(  # noqa: PLR0913, PLR0917 - the three groups of documents differ in rank and are told apart by name
    specs: Sequence[Document],
    platform: Sequence[Document],
    builtin: Sequence[Document],
    options: Options,
    schemas: Schemas,
    plugs: Plugs,
) -> Front:
    """Everything that the passes need, and what is wrong with the documents.

    Args:
        specs: the user's documents; they override all others.
        platform: documents that describe the target cluster; later ones override earlier ones.
        builtin: the catalog that ships with kservec.
        options: what the caller says about the target cluster.
        schemas: the structure of every kind.
        plugs: the storage schemes, scalers and so on of this run.
    """
    ranked = ((builtin, Rank.BUILTIN), (platform, Rank.PLATFORM), (specs, Rank.INPUT))
    entries, found = checked((e for docs, rank in ranked for e in entries_of(docs, rank, schemas)), schemas)
    env, faults = read_env(entries, options, schemas, plugs)
    own = [entry for entry in entries if entry.rank is Rank.INPUT]
    own, repeats = once(own)
    found += [*faults, *repeats]
    units: list[Unit] = []
    for entry in sorted(own, key=lambda entry: entry.ref):
        unit, judged = read_unit(entry, env)
        found += judged
        units += [unit] if unit is not None else []
    attached, judged = with_trained_models(units, own, env)
    found += judged
    context = [entry for entry in own if not is_compiled(entry)]
    found += [*context_notes(context), *(odd for entry in context for odd in odd_in_others(entry))]
    return Front(env=env, units=tuple(attached), context=tuple(e.document for e in context), diagnostics=tuple(found))


def read_env(
    entries: Sequence[Entry], options: Options, schemas: Schemas, plugs: Plugs
) -> tuple[Env, list[Diagnostic]]:
    """The values that all units of a run share."""
    own = (entry for entry in entries if entry.ref.group == OWN_GROUP and entry.ref.kind == CLUSTER)
    facts, found = read_facts(own, plugs.secret_settings)
    config_maps = [entry for entry in entries if entry.ref.kind == "ConfigMap" and entry.ref.group == ""]
    cluster, cluster_faults = read_cluster(entries, facts, plugs.secret_settings)
    catalog, catalog_faults = read_catalog(entries, schemas)
    platform = read_platform(config_maps, facts, options.absent)
    env = Env(
        plugs=plugs,
        schemas=schemas,
        platform=platform,
        catalog=catalog,
        cluster=cluster,
        previous={ref_of(document, schemas): document.value for document in options.previous},
        names_revisions=options.names_revisions,
    )
    return env, [*found, *cluster_faults, *catalog_faults, *judge_runtimes(entries, catalog, platform)]


def judge_runtimes(entries: Iterable[Entry], catalog: Catalog, platform: PlatformConfig) -> Sequence[Diagnostic]:
    """What KServe would say to the user's runtimes in a cluster that has the others."""
    runtimes = {runtime.document: runtime for runtime in catalog.runtimes}
    own = [runtimes.pop(e.document) for e in entries if e.rank is Rank.INPUT and e.document in runtimes]
    try:
        return admit_runtimes(own, list(runtimes.values()), platform)
    except Reject as reject:
        return reject.diagnostics


def is_compiled(entry: Entry) -> bool:
    """Whether a document of the input leads to output."""
    return entry.is_kserve and entry.ref.kind in (*READERS, *NOT_IMPLEMENTED, TRAINED_MODEL)


def read_unit(entry: Entry, env: Env) -> tuple[Unit | None, Sequence[Diagnostic]]:
    """The Unit of a document that is compiled; None for other documents, and for those that are refused."""
    if not entry.is_kserve:
        return None, ()
    if (code := NOT_IMPLEMENTED.get(entry.ref.kind)) is not None:
        message = f"{entry.ref} cannot be compiled: this version of kservec does not know how"
        span = entry.document.span(("kind",))
        return None, (Diagnostic(code=code, message=message, span=span, subject=entry.ref),)
    reader = READERS.get(entry.ref.kind)
    if reader is None:
        return None, ()
    try:
        return reader(entry, env)
    except Reject as reject:
        return None, reject.diagnostics


def read_inferenceservice(entry: Entry, env: Env) -> tuple[Unit | None, Sequence[Diagnostic]]:
    """The Unit of an InferenceService.

    Raises:
        Reject: the platform's configuration cannot be used, or a value does not fit the model.
    """
    ref, document = entry.ref, entry.document
    value = with_identity(env.schemas.with_defaults(document.value, ref.api_version, ref.kind), ref)
    admitted = admit_inferenceservice(document, value, env.platform, env.plugs, env.cluster.local_caches)
    if has_errors(admitted.diagnostics):
        return None, admitted.diagnostics
    source = Source(document=document, moved=admitted.moved)
    spec = InferenceService.read(admitted.value)
    labels, annotations = without_tracking(spec.metadata.labels, spec.metadata.annotations)
    unit = Unit(
        ref=ref,
        source=source,
        spec=spec,
        mode=admitted.mode,
        labels=labels,
        annotations=annotations,
        stopped=annotations.get(STOP, "").lower() == "true",
    )
    return unit, (*admitted.diagnostics, *odd_in_service(unit, env.platform))


def read_local_model_cache(entry: Entry, env: Env) -> tuple[Unit | None, Sequence[Diagnostic]]:
    """The Unit of a cache of either kind.

    Raises:
        Reject: the platform's configuration cannot be used, or a value does not fit the model.
    """
    cache = find_cache(env.cluster.local_caches, entry.ref.namespace, entry.ref.name)
    if cache is None:
        # Its misfits were found when the caches were read.
        return None, ()
    found = tuple(admit_cache(cache, env.cluster, env.platform))
    source = Source(document=entry.document)
    spec = LocalModelCache.read(with_identity(entry.document.value, entry.ref))
    return None if has_errors(found) else Unit(ref=entry.ref, source=source, spec=spec), found


READERS: dict[str, Callable[[Entry, Env], tuple[Unit | None, Sequence[Diagnostic]]]] = {
    SERVICE: read_inferenceservice,
    CACHE: read_local_model_cache,
    NAMESPACE_CACHE: read_local_model_cache,
}
"""Kinds that units are made of."""


def with_trained_models(
    units: Sequence[Unit], entries: Iterable[Entry], env: Env
) -> tuple[Sequence[Unit], list[Diagnostic]]:
    """The units with the trained models of the input, each with its service; and what is wrong with the models."""
    models: list[Trained] = []
    services: set[ObjectRef] = set()
    found: list[Diagnostic] = []
    for entry in (entry for entry in entries if entry.is_kserve):
        if entry.ref.kind == SERVICE:
            services.add(entry.ref)
        if entry.ref.kind == TRAINED_MODEL:
            spec = TrainedModel.read(with_identity(entry.document.value, entry.ref))
            models.append(Trained(entry.ref, spec, entry.document))
    for trained in models:
        found += admit_trained_model(trained, env.plugs)
    attached, judged = attach_trained_models(units, models, services)
    return attached, [*found, *judged]


def with_identity(value: Json, ref: ObjectRef) -> Json:
    """An object as the API server keeps it: with its namespace, and without metadata that has no value."""
    metadata = value["metadata"]
    if metadata.get("namespace") == ref.namespace and None not in metadata.values():
        return value
    kept = {name: part for name, part in metadata.items() if part is not None}
    return {**value, "metadata": {**kept, "namespace": ref.namespace}}


def context_notes(context: Iterable[Entry]) -> Iterator[Diagnostic]:
    """One note per file that holds documents of others which are not output.

    Runtimes and the like are left out: what they say is in the output, and no cluster needs them any more.
    """
    files: dict[str, list[Entry]] = {}
    for entry in (entry for entry in context if entry.ref.group not in (OWN_GROUP, GROUP)):
        files.setdefault(entry.document.file, []).append(entry)
    for file, entries in sorted(files.items()):
        names = [str(entry.ref) for entry in entries]
        rest = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        message = f"read, but not output: {', '.join(names[:NAMES_SHOWN])}{rest}"
        yield Diagnostic(code=CONTEXT, message=message, span=Span(file))
