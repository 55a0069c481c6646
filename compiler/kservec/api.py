"""The library behind `import kservec`: texts or files in, typed results out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kservec._version import KSERVE_PROFILE
from kservec.compilation import Inputs, Rendered, Result, compile_documents, in_order
from kservec.core.records import evolve, fresh, record
from kservec.core.registry import load_plugs
from kservec.core.text.source import Limits, parse
from kservec.documents.confidential import showable
from kservec.frontend import Options, read
from kservec.gitops.layout import planned_tree, stream
from kservec.io.packaged import packaged_catalog, packaged_schemas
from kservec.io.reading import File, read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kservec.core.catalog import Catalog
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.registry import Plugs
    from kservec.core.text.source import Document

Paths: TypeAlias = "str | Path | Iterable[str | Path]"
"""One path, or several."""

BUILTIN = "builtin"
NO_CATALOG = "none"


@record
class Target:
    """The cluster that is compiled for.

    `platform` are documents that describe it, later ones override; `catalog` is `builtin` or `none`; `absent` are kinds
    that it does not have; `limits` bound what a file may hold. `previous` are files of the last build, which name the
    stable revisions of canaries; `names_revisions` gives revisions of Knative services names that follow from their
    content.
    """

    platform: Sequence[File] = ()
    catalog: str = BUILTIN
    absent: Sequence[str] = ()
    limits: Limits = fresh(factory=Limits)
    previous: Sequence[File] = ()
    names_revisions: bool = False


@dataclass(frozen=True, slots=True)
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
    each: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Compilation:
    """Compile files that were read already. `each` is told how many of how many services are done.

    The order of `files` does not matter; that of the target's does, since later ones override.
    """
    target = target or Target()
    groups = (sorted(files), target.platform, builtin_files(target), target.previous)
    (specs, found), (platform, odd), (catalog, _), (previous, stale) = (parsed(g, target.limits) for g in groups)
    options = Options(absent=tuple(target.absent), previous=tuple(previous), names_revisions=target.names_revisions)
    inputs = Inputs(specs=specs, platform=platform, builtin=catalog, options=options, findings=(*found, *odd, *stale))
    result = compile_documents(inputs, packaged_schemas(), plugs(), each)
    return Compilation(result, shown_sources(result.diagnostics, *groups))


def shown_sources(found: Iterable[Diagnostic], *groups: Iterable[File]) -> dict[str, str]:
    """The texts of the files that findings point into, without the values of Secrets."""
    named = {span.file for diagnostic in found for span in diagnostic.spans}
    contents = {f.name: f.content for group in groups for f in group if f.name in named}
    return {name: showable(content.decode("utf-8-sig", "replace")) for name, content in contents.items()}


def parsed(files: Iterable[File], limits: Limits) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of files, and what is wrong with their text."""
    documents: list[Document] = []
    found: list[Diagnostic] = []
    for file in files:
        read, diagnostics = parse(file.content, file.name, limits)
        documents.extend(read)
        found.extend(diagnostics)
    return documents, found


@cache
def plugs() -> Plugs:
    """Every plug of the compiler, loaded once a process."""
    return load_plugs()


def builtin_files(target: Target) -> tuple[File, ...]:
    """The documents that come with kservec, unless the target does without."""
    if target.catalog == NO_CATALOG:
        return ()
    return tuple(File(name, content) for name, content in packaged_catalog(KSERVE_PROFILE))


def catalog_of(target: Target) -> tuple[Catalog, Compilation]:
    """The runtimes and storage containers of a target, the built-in ones included, and what is wrong with them."""
    platform, found = parsed(target.platform, target.limits)
    builtin, _ = parsed(builtin_files(target), target.limits)
    front = read((), platform, builtin, Options(absent=tuple(target.absent)), packaged_schemas(), plugs())
    result = Result(diagnostics=in_order((*found, *front.diagnostics)))
    return front.env.catalog, Compilation(result, shown_sources(result.diagnostics, target.platform))
