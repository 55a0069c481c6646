"""Frontend: documents become the shared values of a run and one Unit per object to compile.

Decides what each kind of document is for: compiled, part of the target cluster, or context. Knows no rule of any kind:
structure is the schemas' business, KServe's defaulting and validation are admission's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from kservec import readers
from kservec.admission.servingruntime import admit_runtimes
from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity, Span, has_errors
from kservec.core.models.local_models import CACHE, NAMESPACE_CACHE
from kservec.core.names import GROUP
from kservec.core.profile import CURRENT, Profile
from kservec.core.records import evolve, fresh, record
from kservec.core.registry import Env
from kservec.core.unit import Step, Unit
from kservec.documents.broken import Broken, broken_documents
from kservec.documents.catalog import PRESET, read_catalog
from kservec.documents.cluster import WANTED, read_cluster
from kservec.documents.configuration import read_platform
from kservec.documents.entries import CLUSTER, OWN_GROUP, Entry, Rank, checked, entries_of, is_read, once, ref_of
from kservec.documents.facts import read_facts
from kservec.documents.metadata import odd_in_others

if TYPE_CHECKING:
    from kservec.core.additions import Additions
    from kservec.core.catalog import Catalog
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Plugs
    from kservec.core.schemas.schema import Schemas
    from kservec.core.share import Share
    from kservec.core.text.source import Document
    from kservec.documents.facts import Facts

NAMES_SHOWN = 6

CONTEXT = Code(
    "input/context",
    Severity.NOTE,
    "documents of the input that are not output",
    "kservec writes what its specs lead to. Other documents of the input (Secrets, ServiceAccounts, runtimes, plain "
    "manifests) are read as part of the target cluster where they matter, and are applied by whoever owns them.",
)
TRAINED_MODEL, LLM, GRAPH = "TrainedModel", "LLMInferenceService", "InferenceGraph"

Reader: TypeAlias = "Callable[[Entry, Env], tuple[Unit | None, Sequence[Diagnostic]]]"


@record
class Options:
    """What the caller says about the target.

    `absent` are kinds that it does not have (`Kind`, `Kind.group` or `group/version/Kind`). `previous` are documents of
    the last build. `names_revisions`: revisions of Knative services get names, instead of numbers in the cluster.
    `additions`: what a project wants beyond KServe. `share`: the part of the units that is compiled, None for all.
    `profile`: the version of KServe.
    """

    absent: tuple[str, ...] = ()
    previous: tuple[Document, ...] = ()
    names_revisions: bool = False
    additions: Additions | None = None
    share: Share | None = None
    profile: Profile = CURRENT

    def holds(self, namespace: str) -> bool:
        """Whether what is in a namespace is compiled."""
        return self.share is None or self.share.holds(namespace)


@record
class Front:
    """What the passes start from. `context` are documents of the input that are not compiled, in their order.

    `broken` is what was declared and cannot be used. `others` are the units of other parts, which graphs may refer to,
    and `refused` what is wrong with those that became none; both only where a part is compiled that has graphs.
    `faulty` are units that were refused when they were read, in which passes may find further errors. `later`
    is what the services in `moved` are compiled for instead; `is_all`: all are meant, so it is what the cluster is.
    """

    env: Env
    units: tuple[Unit, ...] = ()
    context: tuple[Document, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: Broken = fresh(factory=Broken)
    others: tuple[Unit, ...] = ()
    refused: tuple[Diagnostic, ...] = ()
    faulty: tuple[Step, ...] = ()
    later: Env | None = None
    moved: frozenset[ObjectRef] = frozenset()
    is_all: bool = False

    @property
    def site(self) -> Env:
        """What objects are held against: the cluster as it is, or as it comes where that is meant for all services."""
        return self.later if self.later is not None and self.is_all else self.env

    def env_of(self, ref: ObjectRef) -> Env:
        """What a service is compiled for."""
        return self.later if self.later is not None and ref in self.moved else self.env


def merged(front: Front, later: Front, moved: frozenset[ObjectRef], *, is_all: bool) -> Front:
    """What the passes start from where some services are compiled for what comes next.

    Of those all that was found is what was found there; what is wrong with the coming platform itself counts, too.
    """
    units = [u for u in front.units if u.ref not in moved] + [u for u in later.units if u.ref in moved]
    faulty = [s for s in front.faulty if s.unit.ref not in moved] + [s for s in later.faulty if s.unit.ref in moved]
    described = {unit.ref for unit in (*front.units, *later.units)}
    now = (d for d in front.diagnostics if d.subject not in moved)
    then = (d for d in later.diagnostics if d.subject in moved or d.subject not in described)
    return evolve(
        front,
        units=tuple(sorted(units, key=lambda unit: unit.ref)),
        diagnostics=(*now, *then),
        faulty=tuple(faulty),
        later=later.env,
        moved=moved,
        is_all=is_all,
    )


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
    entries, unfit, found = checked((e for docs, rank in ranked for e in entries_of(docs, rank, schemas)), schemas)
    entries, later = served(entries, options.profile)
    env, faults = read_env(entries, options, schemas, plugs)
    own = [entry for entry in entries if entry.rank is Rank.INPUT]
    own, repeats = once(own)
    own, strange = brought_in(own, env)
    found += [*later, *faults, *repeats, *strange]
    broken = broken_documents(entries, found)
    ordered = sorted(own, key=lambda entry: entry.ref)
    units, faulty, judged = read_units((e for e in ordered if options.holds(e.ref.namespace)), env)
    found += judged
    if unfit and not options.profile.fields:
        as_meant, judged = read_as_meant([(e, d) for e, d in unfit if options.holds(e.ref.namespace)], env)
        faulty += as_meant
        found += judged
    has_graphs = any(map(is_graph, (*units, *(step.unit for step in faulty))))
    foreign = [e for e in ordered if not options.holds(e.ref.namespace)] if has_graphs else ()
    others, _, refused = read_units(foreign, env)
    attached, judged = with_trained(units, own, env)
    found += [*judged, *judge_configs(own, env)]
    context = [entry for entry in own if not is_compiled(entry)]
    found += [*context_notes(context), *(odd for entry in context for odd in odd_in_others(entry))]
    return Front(
        env=with_neighbours(env, units),
        units=tuple(attached),
        context=tuple(e.document for e in context),
        diagnostics=tuple(found),
        broken=broken,
        others=tuple(others),
        refused=tuple(refused),
        faulty=tuple(faulty),
    )


def read_units(entries: Iterable[Entry], env: Env) -> tuple[list[Unit], list[Step], list[Diagnostic]]:
    """The units of documents, those that were refused and may have further errors, and what is wrong with all."""
    units: list[Unit] = []
    faulty: list[Step] = []
    found: list[Diagnostic] = []
    for entry in entries:
        unit, judged = read_unit(entry, env)
        found += judged
        if unit is not None and has_errors(judged):
            faulty.append(Step(unit, tuple(judged)))
        elif unit is not None:
            units.append(unit)
    return units, faulty, found


def read_as_meant(
    entries: Iterable[tuple[Entry, Sequence[Diagnostic]]], env: Env
) -> tuple[list[Step], list[Diagnostic]]:
    """Units of documents that would fit their schemas as they are evidently meant, and what else is wrong with them."""
    from kservec.documents.mending import mended  # noqa: PLC0415 - most runs have no such documents
    from kservec.recovery import own_errors  # noqa: PLC0415 - as above

    refused: list[Step] = []
    found: list[Diagnostic] = []
    for entry, faults in entries:
        is_unit = entry.is_kserve and entry.ref.kind in READERS and env.schemas.knows(*entry.ref[:2])
        document = mended(entry.document, env.schemas) if is_unit else None
        if document is None:
            continue
        unit, judged = read_unit(entry._replace(document=document), env)
        own = own_errors(judged, faults)
        found += own
        if unit is not None:
            refused.append(Step(unit, (*faults, *own)))
    return refused, found


def is_graph(unit: Unit) -> bool:
    """Whether a unit may refer to services in all namespaces."""
    return unit.ref.kind == GRAPH


def served(entries: list[Entry], profile: Profile) -> tuple[list[Entry], Sequence[Diagnostic]]:
    """The entries that a version of KServe has all fields of, and what is wrong with the others."""
    if not profile.fields:
        return entries, ()
    from kservec.documents.served import known_entries  # noqa: PLC0415 - most runs are for the version that has all

    return known_entries(entries, profile)


def brought_in(entries: list[Entry], env: Env) -> tuple[list[Entry], Sequence[Diagnostic]]:
    """The entries whose models a version of KServe can bring in, and what is wrong with the others."""
    if not env.profile.schemes:
        return entries, ()
    from kservec.documents.served import known_uris  # noqa: PLC0415 - as above

    return known_uris(entries, env)


def with_trained(units: Sequence[Unit], entries: Sequence[Entry], env: Env) -> tuple[Sequence[Unit], list[Diagnostic]]:
    """The units with the trained models of the input, if there are any, and what is wrong with the models."""
    if not any(entry.ref.kind == TRAINED_MODEL and entry.is_kserve for entry in entries):
        return units, []
    from kservec.readers.trained_model import with_trained_models  # noqa: PLC0415 - most runs have none

    return with_trained_models(units, entries, env)


def judge_configs(entries: Sequence[Entry], env: Env) -> list[Diagnostic]:
    """What KServe would say to the user's configs of LLMInferenceServices, if there are any."""
    configs = [entry for entry in entries if entry.ref.kind == PRESET and entry.is_kserve]
    if not configs:
        return []
    from kservec.readers.llminferenceservice import config_findings  # noqa: PLC0415 - most runs have none

    return [found for entry in configs for found in config_findings(entry, env)]


def with_neighbours(env: Env, units: Sequence[Unit]) -> Env:
    """The shared values with the LLMInferenceServices of the run, if there are any."""
    if not any(unit.ref.kind == LLM for unit in units):
        return env
    from kservec.core.llm.neighbours import neighbourhood  # noqa: PLC0415 - most runs have none of them

    return evolve(env, neighbours=neighbourhood(units, env.catalog, env.platform))


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
    if options.absent or facts or any(entry.rank is not Rank.BUILTIN for entry in config_maps):
        found += without_effect(config_maps, facts, options, platform, schemas)
    env = Env(
        plugs=plugs,
        schemas=schemas,
        platform=platform,
        catalog=catalog,
        cluster=cluster,
        previous={ref_of(document, schemas): document.value for document in options.previous},
        names_revisions=options.names_revisions,
        additions=options.additions,
        profile=options.profile,
    )
    return env, [*found, *cluster_faults, *catalog_faults, *judge_runtimes(entries, catalog, platform)]


def without_effect(
    config_maps: Sequence[Entry], facts: Sequence[Facts], options: Options, platform: PlatformConfig, schemas: Schemas
) -> Iterator[Diagnostic]:
    """Warnings about what is said of the target cluster and is most likely misspelt: nothing asks for it."""
    # Most runs have no platform of their own, and need none of this.
    from kservec.documents.absent import unknown_absent  # noqa: PLC0415
    from kservec.documents.known_settings import unknown_settings  # noqa: PLC0415
    from kservec.documents.misnamed_configs import misnamed_configs  # noqa: PLC0415

    yield from unknown_absent(options.absent, facts, schemas.kinds())
    yield from misnamed_configs(config_maps)
    yield from unknown_settings(platform.texts.values())


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
    return entry.ref.kind in COMPILED and entry.is_kserve


def describes_cluster(ref: ObjectRef, schemas: Schemas) -> bool:
    """Whether a document of the platform is read, by the object that it describes."""
    if ref.group == OWN_GROUP:
        return ref.kind == CLUSTER
    is_service = ref.group == GROUP and ref.kind in SERVICES
    return ref.kind in WANTED or (is_read(ref, schemas) and not is_service)


def read_unit(entry: Entry, env: Env) -> tuple[Unit | None, Sequence[Diagnostic]]:
    """The Unit of a document that is compiled; None for other documents, and for those of which nothing can be made."""
    if not entry.is_kserve:
        return None, ()
    if entry.ref.kind not in READERS:
        return None, ()
    try:
        return reader_of(entry.ref.kind)(entry, env)
    except Reject as reject:
        return None, reject.diagnostics


READERS = {
    "InferenceService": "inferenceservice",
    "InferenceGraph": "inferencegraph",
    "LLMInferenceService": "llminferenceservice",
    CACHE: "local_model_cache",
    NAMESPACE_CACHE: "local_model_cache",
}
"""Kinds that units are made of, and the modules among `readers` that make them."""
COMPILED = frozenset((*READERS, TRAINED_MODEL))
SERVICES = READERS.keys() - {CACHE, NAMESPACE_CACHE} | {TRAINED_MODEL}
"""Kinds that count among the input alone."""


@cache
def reader_of(kind: str) -> Reader:
    """What makes units of a kind. It is loaded when it is first asked for: most runs have one kind."""
    read: Reader = import_module(f"{readers.__name__}.{READERS[kind]}").read
    return read


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
