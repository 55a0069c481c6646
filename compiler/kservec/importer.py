"""The importer: the dump of a cluster that runs KServe becomes the files of a project, and the recipe to hand over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.api import Target, builtin_files, compile_files, parsed, plugs, shown_sources
from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity
from kservec.core.records import evolve
from kservec.core.text.source import Limits, parse
from kservec.documents.cluster import read_cluster
from kservec.documents.entries import Rank, entries_of, ref_of
from kservec.emit import dump
from kservec.importing.cleaning import cleaned, is_plain, last_applied
from kservec.importing.facts import facts_of
from kservec.importing.fitness import Shown, misfits
from kservec.importing.handover import hand_over
from kservec.importing.recipe import recipe
from kservec.importing.referred import names_in, referred_to, words_in
from kservec.importing.sorting import KSERVE_CONFIG, owners_of, sort
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.api import Compilation
    from kservec.core.cluster import Cluster
    from kservec.core.paths import Json
    from kservec.core.text.source import Document
    from kservec.frontend import Front
    from kservec.importing.handover import HandOver
    from kservec.importing.sorting import Sorted

NOTHING = Code(
    "import/nothing",
    Severity.ERROR,
    "a dump without anything to import",
    "None of the objects in the dump is one that kservec compiles.",
)
BAD_NAME = Code(
    "import/name",
    Severity.ERROR,
    "a name in a dump that no object can have",
    "Files are called after objects, so a name that is none could lead anywhere. Nothing is written.",
)
NO_CONFIG = Code(
    "import/no-configuration",
    Severity.WARNING,
    "a dump without KServe's configuration",
    "KServe's own ConfigMap says which mode services have by default, how they are exposed, and under which domain.",
)
_is_name = re.compile(r"(?!\.)[A-Za-z0-9:._-]{1,253}").fullmatch
ENVIRONMENT = "cluster"
PROJECT = f"""\
# Made by kservec import. The options below are those under which the objects stay as KServe made them; drop them after
# the hand-over, one by one, and look at each step with kservec diff.
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
platform: [platform]
knative: {{revisionNames: server}}
security: {{podSecurity: privileged}}
environments:
  {ENVIRONMENT}: {{}}
"""
CLUSTER_FILE = "platform/cluster.yaml"
RECIPE = "HANDOVER.md"


class Imported(NamedTuple):
    """The files of a project by their paths, what was found in the dump, and what the hand-over would do.

    With an error among the findings there are no files.
    """

    files: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    hand_over: HandOver | None = None


def facts_in(files: Sequence[File]) -> tuple[Json, tuple[Diagnostic, ...]]:
    """The Cluster document of what kubectl printed: all that is in it, whoever refers to it."""
    documents, found = parsed(files, Limits())
    values = [document.value for document in documents]
    return facts_of(values, cluster_of(documents), packaged_schemas().kinds()), tuple(found)


def fitness_findings(front: Front, objects: Iterable[ObjectRef], files: Sequence[File]) -> tuple[Diagnostic, ...]:
    """What no longer fits between what is declared or rendered, and what kubectl printed of the cluster."""
    documents, found = parsed(files, Limits())
    cluster = cluster_of(documents)
    facts = facts_of([document.value for document in documents], cluster, packaged_schemas().kinds())
    kinds = frozenset(str(document.value.get("kind")) for document in documents)
    shown = Shown(facts, cluster, kinds)
    return (*found, *misfits(front.env.cluster, front.env.platform, objects, shown))


def import_dump(files: Sequence[File]) -> Imported:
    """Turn a dump into the files of a project."""
    documents, found = parsed(files, Limits())
    if any(d.is_error for d in found):
        return Imported({}, tuple(found), {})
    schemas = packaged_schemas()
    builtin, _ = parsed(builtin_files(Target()), Limits())
    objects = [(ref_of(document, schemas), document) for document in documents if is_object(document)]
    dumped = sort(objects, [document.value for document in builtin])
    found = [*found, *unfit_findings(dumped)]
    if any(d.is_error for d in found):
        return Imported({}, tuple(found), shown_sources(found, files))
    platform = platform_files(dumped, documents)
    specs = {ref: cleaned(document.value) for ref, document in dumped.specs.items()}
    compilation = compiled(specs, platform)
    made = {
        **platform,
        **{path_of(ref): dump(spec) for ref, spec in plainest(specs, dumped, platform, compilation).items()},
    }
    live = {ref: schemas.as_stored(d.value, ref.api_version, ref.kind) for ref, d in dumped.made.items()}
    tree, undecided = decided(specs, platform, compilation)
    waiting = [ref for ref, d in dumped.made.items() if belongs_to(d.value, ref.namespace, undecided)]
    moved = hand_over(values_of(tree), live, waiting)
    made |= {"kservec.yaml": PROJECT, RECIPE: recipe(moved, f"rendered/{ENVIRONMENT}")}
    return Imported(made, (*found, *compilation.diagnostics), compilation.sources, moved)


def decided(
    specs: Mapping[ObjectRef, Json], platform: Mapping[str, str], compilation: Compilation
) -> tuple[Compilation, frozenset[ObjectRef]]:
    """What those specs lead to that compile, and the others."""
    if compilation.ok:
        return compilation, frozenset()
    refused = {d.subject for d in compilation.diagnostics if d.is_error}
    kept = {ref: spec for ref, spec in specs.items() if ref not in refused}
    tried = compiled(kept, platform) if kept and len(kept) < len(specs) else compilation
    return tried, frozenset(specs.keys() - kept.keys() if tried.ok else specs)


def belongs_to(value: Json, namespace: str, specs: Iterable[ObjectRef]) -> bool:
    """Whether an object belongs to one of some specs."""
    owners = owners_of(value)
    return any((ref.kind, ref.name) in owners and ref.namespace in ("", namespace) for ref in specs)


def unfit_findings(dumped: Sorted) -> Iterator[Diagnostic]:
    """Errors about what cannot be imported: nothing of KServe's, and names that no API server has let through."""
    if not dumped.specs:
        message = "the dump holds no InferenceService, InferenceGraph or LLMInferenceService"
        yield Diagnostic(code=NOTHING, message=message, span=None, help="kservec import --help shows what to dump")
    for ref, document in sorted({**dumped.specs, **dumped.platform, **dumped.others}.items()):
        if not all(map(_is_name, (ref.kind, ref.name, ref.namespace or "-"))):
            place = document.span(("metadata", "name"))
            hint = "correct the dump: names are letters, digits, dashes and dots"
            yield Diagnostic(code=BAD_NAME, message=f"{ref} is no name of an object", span=place, help=hint)
    if dumped.specs and not any(ref.name == KSERVE_CONFIG for ref in dumped.platform):
        message = f"the dump has no ConfigMap {KSERVE_CONFIG}, so modes, domains and routes are KServe's defaults"
        yield Diagnostic(code=NO_CONFIG, message=message, span=None, help="dump config maps of all namespaces, too")


def is_object(document: Document) -> bool:
    """Whether a document is an object of Kubernetes with a name."""
    value = document.value
    metadata = value.get("metadata")
    return bool(value.get("kind") and value.get("apiVersion") and isinstance(metadata, dict) and metadata.get("name"))


def cluster_of(documents: Iterable[Document]) -> Cluster:
    """The Secrets, ServiceAccounts and namespaces of a dump, by shape."""
    schemas = packaged_schemas()
    own = (document for document in documents if is_object(document) and is_plain(document.value))
    cluster, _ = read_cluster(list(entries_of(own, Rank.INPUT, schemas)), (), plugs().secret_settings)
    return cluster


def platform_files(dumped: Sorted, documents: Sequence[Document]) -> dict[str, str]:
    """The files that describe the cluster, by their paths."""
    made = {f"platform/{file_name(ref)}": dump(cleaned(d.value)) for ref, d in dumped.platform.items()}
    configuration = [text for text in made.values() if f"name: {KSERVE_CONFIG}" in text]
    specs = [(ref.namespace, d.value) for ref, d in (*dumped.specs.items(), *dumped.platform.items()) if ref.namespace]
    named, shared = names_in(specs), words_in(configuration)
    for ref, document in dumped.others.items():
        if ref.name in shared or ref.name in set().union(*named.values()):
            made[f"platform/{file_name(ref)}"] = dump(cleaned(document.value))
    cluster = referred_to(cluster_of(documents), specs, configuration)
    facts = facts_of([document.value for document in documents], cluster, packaged_schemas().kinds())
    return {**made, CLUSTER_FILE: dump(facts)}


def path_of(ref: ObjectRef) -> str:
    """The file of a spec."""
    return f"services/{ref.namespace or '_cluster'}/{file_name(ref)}"


def file_name(ref: ObjectRef) -> str:
    """The name of an object's file; objects of the platform may be in several namespaces."""
    parts = (ref.kind.lower(), *((ref.namespace,) if ref.namespace else ()), ref.name)
    return f"{'-'.join(parts)}.yaml".replace(":", "_")


def compiled(specs: Mapping[ObjectRef, Json], platform: Mapping[str, str]) -> Compilation:
    """What specs lead to on the dump's platform."""
    described = [File(path, text.encode()) for path, text in platform.items()]
    files = [File(path_of(ref), dump(spec).encode()) for ref, spec in specs.items()]
    return compile_files(files, target=evolve(Target(), platform=described))


def plainest(
    specs: Mapping[ObjectRef, Json], dumped: Sorted, platform: Mapping[str, str], compilation: Compilation
) -> dict[ObjectRef, Json]:
    """Each spec as somebody applied it, if that leads to the same objects; else as the cluster has it."""
    candidates = {ref: applied for ref in specs if (applied := last_applied(dumped.specs[ref].value)) is not None}
    fitting = {ref: spec for ref, spec in candidates.items() if same_identity(spec, specs[ref])}
    if not fitting or not compilation.ok:
        return dict(specs)
    tried = compiled({**specs, **fitting}, platform)
    refused = {d.subject for d in tried.diagnostics if d.is_error}
    if refused:
        fitting = {ref: spec for ref, spec in fitting.items() if ref not in refused}
        tried = compiled({**specs, **fitting}, platform)
    before, after = by_owner(compilation), by_owner(tried)
    same = {ref: spec for ref, spec in fitting.items() if tried.ok and before.get(ref) == after.get(ref)}
    return {**specs, **same}


def same_identity(value: Json, other: Json) -> bool:
    """Whether two values are the same object, in the same version."""
    names = [(v.get("apiVersion"), v.get("kind"), (v.get("metadata") or {}).get("name")) for v in (value, other)]
    return names[0] == names[1]


def by_owner(compilation: Compilation) -> dict[ObjectRef, tuple[str, ...]]:
    """The texts of the objects of each spec."""
    texts: dict[ObjectRef, tuple[str, ...]] = {}
    for rendered in compilation.objects:
        texts[rendered.owner] = (*texts.get(rendered.owner, ()), rendered.text)
    return texts


def values_of(compilation: Compilation) -> dict[ObjectRef, Json]:
    """The rendered objects by identity."""
    return {rendered.ref: parse(rendered.text.encode(), "")[0][0].value for rendered in compilation.objects}
