"""The library behind `import kservec`: texts or files in, typed results out."""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kservec._version import KSERVE_PROFILE
from kservec.compilation import Coming, Inputs, Result, compile_front, in_order
from kservec.compilation import front_of as staged_front
from kservec.core.records import evolve, fresh, record
from kservec.core.registry import load_plugs
from kservec.core.text.encodings import shown_text
from kservec.core.text.source import Limits, parse
from kservec.core.text.yaml_reader import TEMPLATE
from kservec.documents.broken import documents_at
from kservec.documents.entries import ref_of
from kservec.frontend import Options, read
from kservec.gitops.layout import planned_tree, stream
from kservec.gitops.rendered import Rendered
from kservec.io.packaged import packaged_catalog, packaged_profile, packaged_schemas
from kservec.io.reading import File, read_files
from kservec.workshop import alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.core.additions import Additions
    from kservec.core.catalog import Catalog
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.nodes import NodePool
    from kservec.core.registry import Env, Plugs
    from kservec.core.share import Share
    from kservec.core.text.source import Document
    from kservec.frontend import Front
    from kservec.policy.judging import Judged
    from kservec.policy.quotas import Bounds
    from kservec.spec.selection import Selection
    from kservec.workshop import Crew, Witness

Paths: TypeAlias = "str | Path | Iterable[str | Path]"
"""One path, or several."""
Pointing: TypeAlias = "Diagnostic | Judged | Bounds | NodePool"
"""What points into files."""

BUILTIN = "builtin"
PRESET = "kserve-config-llm-"
NO_CATALOG = "none"
GRAPH = "InferenceGraph"
SERVED = frozenset({"InferenceService", GRAPH, "LLMInferenceService", "TrainedModel"})
"""Kinds that nothing in other namespaces looks at, but for graphs."""


@record
class Upgrade:
    """What comes next: a version of KServe, files that are laid over the platform, and the services that have it.

    `but`: services that do not have it though they are chosen.
    """

    profile: str = KSERVE_PROFILE
    platform: Sequence[File] = ()
    only: Sequence[Selection] = ()
    but: frozenset[ObjectRef] = frozenset()


@record
class Target:
    """The cluster that is compiled for.

    `platform` are documents that describe it, later ones override; `catalog` is `builtin` or `none`; `absent` are kinds
    that it does not have; `limits` bound what a file may hold. `previous` are files of the last build, which name the
    stable revisions of canaries; `names_revisions` gives revisions of Knative services names that follow from their
    content; `additions` are what a project wants beyond KServe. `share` is the part of the services that is compiled,
    None for all. `profile` is the version of KServe; `upgrade` is what some of the services are compiled for instead.
    """

    platform: Sequence[File] = ()
    catalog: str = BUILTIN
    absent: Sequence[str] = ()
    limits: Limits = fresh(factory=Limits)
    previous: Sequence[File] = ()
    names_revisions: bool = False
    additions: Additions | None = None
    share: Share | None = None
    profile: str = KSERVE_PROFILE
    upgrade: Upgrade | None = None


@record
class Compilation:
    """A result, and the texts that its diagnostics point into by the names of their files, without Secrets' values."""

    result: Result
    sources: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether objects were made, that is, no error was found."""
        return self.result.ok

    @property
    def objects(self) -> tuple[Rendered, ...]:
        """What is to be applied, in its total order: each object's identity, text, owner and path in the tree."""
        return self.result.objects

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings in the order of the input."""
        return self.result.diagnostics

    @property
    def urls(self) -> Mapping[ObjectRef, str]:
        """Where each service that is exposed can be reached."""
        return self.result.urls

    @property
    def yaml(self) -> str:
        """All objects as one stream of documents; empty after an error."""
        return stream(self.objects)

    @property
    def tree(self) -> dict[str, bytes]:
        """The files of the rendered tree by their paths, as `kservec build --output` writes them."""
        return planned_tree(self.objects)


def compile_text(text: str, *, name: str = "input.yaml", target: Target | None = None) -> Compilation:
    """Compile the text of one file, which may hold several documents.

    Args:
        text: YAML or JSON.
        name: what diagnostics call the file.
        target: the cluster to compile for; by default one as KServe ships it, with the built-in runtimes.
    """
    return compile_files([File(name, text.encode(errors="surrogatepass"))], target=target)


def several(paths: Paths) -> list[str]:
    """Paths as a list of texts."""
    return [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]


def compile_tree(paths: Paths, *, platform: Paths = (), target: Target | None = None) -> Compilation:
    """Compile files and folders.

    Args:
        paths: a file, a folder whose YAML and JSON files are taken, or several of them.
        platform: files or folders that describe the cluster, besides those of `target`.
        target: the cluster to compile for.

    Raises:
        OSError: a path cannot be read, or a folder holds no YAML or JSON.
    """
    target = target or Target()
    described = read_files(several(platform), target.limits.max_bytes)
    files = read_files(several(paths), target.limits.max_bytes)
    return compile_files(files, target=evolve(target, platform=(*target.platform, *described)))


def compile_files(
    files: Sequence[File],
    *,
    target: Target | None = None,
    crew: Crew = alone,
    witness: Witness | None = None,
) -> Compilation:
    """Compile files that were read already. `crew` does the work.

    `witness` sees each compiled service with its trees.

    The order of `files` does not matter; that of the target's does, since later ones override.
    """
    return compiled_front(files, target=target, crew=crew, witness=witness)[1]


def compiled_front(
    files: Sequence[File],
    *,
    target: Target | None = None,
    crew: Crew = alone,
    witness: Witness | None = None,
) -> tuple[Front, Compilation]:
    """What the passes started from as well, for whoever looks at single units afterwards; else as `compile_files`."""
    inputs, files_read = inputs_of(files, target or Target())
    start = staged_front(inputs, packaged_schemas(), plugs())
    result = compile_front(start, inputs, packaged_schemas(), crew, witness)
    if result.ok and not result.objects:
        result = evolve(result, diagnostics=in_order((*result.diagnostics, *emptiness(files, target or Target()))))
    sources = shown_sources((*result.diagnostics, *noticed(result)), files_read)
    return start[0], Compilation(result=result, sources=sources)


def emptiness(files: Sequence[File], target: Target) -> Iterator[Diagnostic]:
    """What is said of a run that has nothing to compile.

    Of an environment its project says so. Of several parts the first one does, whoever of them has services.
    """
    if target.additions is not None or (target.share is not None and target.share.number > 1):
        return
    from kservec.emptiness import nothing_to_compile  # noqa: PLC0415 - nearly all runs compile something

    documents, _ = parsed(files, target.limits)
    yield from nothing_to_compile([file.name for file in files], documents, packaged_schemas())


def inputs_of(files: Iterable[File], target: Target) -> tuple[Inputs, list[File]]:
    """What a run starts from, and all files that it comes from. Presets are read only where a run has use for them."""
    own = sorted(files, key=itemgetter(0, 1))
    specs, found = parsed(own, target.limits, target.share)
    if target.share is not None and any(ref_of(d, packaged_schemas()).kind == GRAPH for d in specs):
        # Graphs look at services in all namespaces.
        specs, found = parsed(own, target.limits)
    presets = need_presets(specs)
    groups = (target.platform, builtin_files(target, presets=presets), target.previous)
    (platform, odd), (catalog, _), (previous, stale) = (parsed(group, target.limits) for group in groups)
    coming, files_coming = coming_of(target, presets=presets)
    inputs = Inputs(
        specs=specs,
        platform=platform,
        builtin=catalog,
        options=options_of(target, previous),
        findings=(*found, *odd, *stale, *(coming.findings if coming is not None else ())),
        unread=tuple(unread_texts((*found, *odd), own, target.platform)),
        coming=coming,
    )
    return inputs, [file for group in (own, *groups, files_coming) for file in group]


def coming_of(target: Target, *, presets: bool) -> tuple[Coming | None, Sequence[File]]:
    """What some services are compiled for instead, and the files that it comes from; None without an upgrade."""
    upgrade = target.upgrade
    if upgrade is None:
        return None, ()
    later = evolve(target, platform=(*target.platform, *upgrade.platform), profile=upgrade.profile, upgrade=None)
    builtin = builtin_files(later, presets=presets)
    (platform, found), (catalog, _) = (parsed(group, target.limits) for group in (later.platform, builtin))
    coming = Coming(
        platform=platform,
        builtin=catalog,
        options=options_of(later),
        only=upgrade.only,
        but=upgrade.but,
        findings=tuple(found),
    )
    return coming, (*later.platform, *builtin)


def options_of(target: Target, previous: Iterable[Document] = ()) -> Options:
    """What a target says beside documents."""
    return Options(
        absent=tuple(target.absent),
        previous=tuple(previous),
        names_revisions=target.names_revisions,
        additions=target.additions,
        share=target.share,
        profile=packaged_profile(target.profile),
    )


def noticed(result: Result) -> Iterator[Pointing]:
    """What a policy may say about objects, of which nobody knows yet whether it is reported."""
    if result.judge is not None:
        yield from (rendered.judged for rendered in result.objects if rendered.judged is not None)
        yield from result.judge.bounds.values()
        yield from result.judge.site.node_pools


def shown_sources(found: Iterable[Pointing], *groups: Iterable[File]) -> dict[str, str]:
    """The texts of the files that findings point into, without what may be secret."""
    named = {span.file for finding in found for span in finding.spans}
    if not named:
        return {}
    from kservec.core.text.confidential import showable  # noqa: PLC0415 - not needed without findings

    return {f.name: showable(text_of(f)) for group in groups for f in group if f.name in named}


def unread_texts(found: Iterable[Diagnostic], *groups: Iterable[File]) -> Iterator[str]:
    """The texts of the documents that could not be read, given what is wrong with the texts of files.

    What is passed over on purpose (a link to a folder, a pipe, a kustomization) has no error, and declares nothing.
    """
    lines: dict[str, set[int]] = {}
    # What is said of an overlay says nothing of the texts of its files.
    others = [file.finding for group in groups for file in group if file.documents is not None]
    for diagnostic in found:
        if diagnostic.is_error and diagnostic.span is not None and diagnostic not in others:
            line = 0 if diagnostic.code is TEMPLATE else diagnostic.span.line
            lines.setdefault(diagnostic.span.file, set()).add(line)
    for file in (file for group in groups for file in group if file.name in lines):
        yield from documents_at(text_of(file), lines[file.name]) if file.content else ("",)


def text_of(file: File) -> str:
    """The text of a file, whatever its bytes are; of UTF-16 what is left of it without the zeros."""
    return shown_text(file.content)


def parsed(
    files: Iterable[File], limits: Limits, share: Share | None = None
) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of files, and what is wrong with their text; of a share without services that others compile."""
    documents: list[Document] = []
    found: list[Diagnostic] = []
    for file in files:
        if file.finding is not None:
            found.append(file.finding)
            continue
        if file.documents is not None:
            documents.extend(own_share(file.documents, share))
            continue
        read, diagnostics = parse(file.content, file.name, limits)
        documents.extend(own_share(read, share))
        found.extend(diagnostics)
    return documents, found


def own_share(documents: Iterable[Document], share: Share | None) -> Iterable[Document]:
    """Documents without the services of other parts, which are dropped as they are read: memory is the part's alone.

    All other documents stay.
    """
    if share is None:
        return documents
    schemas = packaged_schemas()
    identified = ((document, ref_of(document, schemas)) for document in documents)
    return [d for d, ref in identified if not (ref.kind in SERVED and ref.namespace and not share.holds(ref.namespace))]


@cache
def plugs() -> Plugs:
    """Every plug of the compiler, loaded once a process."""
    return load_plugs()


def builtin_files(target: Target, *, presets: bool = True) -> tuple[File, ...]:
    """The documents that come with kservec, unless the target does without; with the presets of LLMs or without."""
    if target.catalog == NO_CATALOG:
        return ()
    return builtin_documents(target.profile, presets=presets)


@cache
def builtin_documents(profile: str, *, presets: bool) -> tuple[File, ...]:
    """The files of a profile with their documents, read once: half of what it takes to compile a single service."""
    files = (File(*named) for named in packaged_catalog(profile) if presets or PRESET not in named[0])
    return tuple(file._replace(documents=tuple(parse(file.content, file.name)[0])) for file in files)


def need_presets(specs: Iterable[Document]) -> bool:
    """Whether any document is an LLMInferenceService or a config of one. The presets for them are long to read."""
    kinds = (document.value.get("kind") for document in specs if isinstance(document.value, dict))
    return any(str(kind).startswith("LLMInferenceService") for kind in kinds)


def front_of(files: Sequence[File], *, target: Target | None = None) -> tuple[Front, Compilation]:
    """What the passes would start from, and what is wrong with the documents; nothing is compiled."""
    inputs, files_read = inputs_of(files, target or Target())
    front, _ = staged_front(inputs, packaged_schemas(), plugs())
    result = Result(diagnostics=in_order((*inputs.findings, *front.diagnostics)))
    return front, Compilation(result=result, sources=shown_sources(result.diagnostics, files_read))


def catalog_of(target: Target) -> tuple[Catalog, Compilation]:
    """The runtimes and storage containers of a target, the built-in ones included, and what is wrong with them."""
    env, compilation = env_of(target)
    return env.catalog, compilation


def env_of(target: Target) -> tuple[Env, Compilation]:
    """What every unit of a target is compiled with, and what is wrong with its documents."""
    platform, found = parsed(target.platform, target.limits)
    builtin, _ = parsed(builtin_files(target), target.limits)
    front = read((), platform, builtin, options_of(target), packaged_schemas(), plugs())
    result = Result(diagnostics=in_order((*found, *front.diagnostics)))
    return front.env, Compilation(result=result, sources=shown_sources(result.diagnostics, target.platform))
