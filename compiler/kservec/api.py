"""The library behind `import kservec`: texts or files in, typed results out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from kservec._version import KSERVE_PROFILE
from kservec.compilation import Inputs, Result, compile_documents
from kservec.core.diagnostics import has_errors
from kservec.core.registry import load_plugs
from kservec.core.source import Limits, parse
from kservec.documents.confidential import showable
from kservec.frontend import Options, read
from kservec.io.packaged import packaged_catalog, packaged_schemas
from kservec.io.reading import File, read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.catalog import Catalog
    from kservec.core.registry import Plugs
    from kservec.core.source import Document

BUILTIN = "builtin"
NO_CATALOG = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The cluster that is compiled for.

    `platform` are documents that describe it, later ones override; `catalog` is `builtin` or `none`; `absent` are kinds
    that it does not have; `limits` bound what a file may hold.
    """

    platform: Sequence[File] = ()
    catalog: str = BUILTIN
    absent: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Compilation:
    """A result, and the texts that its diagnostics point into."""

    result: Result
    sources: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether objects were made, that is, no error was found."""
        return self.result.ok

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings in the order of the input."""
        return self.result.diagnostics

    @property
    def yaml(self) -> str:
        """All objects as one stream of documents; empty after an error."""
        return "".join(f"---\n{o.text}" for o in self.result.objects)


def compile_text(text: str, *, name: str = "input.yaml", target: Target | None = None) -> Compilation:
    """Compile the text of one file, which may hold several documents.

    Args:
        text: YAML or JSON.
        name: what diagnostics call the file.
        target: the cluster to compile for; by default one as KServe ships it, with the built-in runtimes.
    """
    return compile_files([File(name, text.encode())], target=target)


def compile_tree(
    paths: Iterable[str | Path], *, platform: Iterable[str | Path] = (), target: Target | None = None
) -> Compilation:
    """Compile files and folders.

    Args:
        paths: files, or folders whose YAML and JSON files are taken.
        platform: files or folders that describe the cluster, besides those of `target`.
        target: the cluster to compile for.

    Raises:
        OSError: a path cannot be read.
    """
    target = target or Target()
    described = (*target.platform, *read_files([str(p) for p in platform], target.limits.max_bytes))
    files = read_files([str(p) for p in paths], target.limits.max_bytes)
    return compile_files(files, target=Target(
        platform=described, catalog=target.catalog, absent=target.absent, limits=target.limits
    ))  # fmt: skip


def compile_files(
    files: Sequence[File],
    *,
    target: Target | None = None,
    each: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Compilation:
    """Compile files that were read already. `each` is told how many of how many services are done."""
    target = target or Target()
    builtin = [File(n, c) for n, c in packaged_catalog(KSERVE_PROFILE)] if target.catalog == BUILTIN else []
    groups = [parsed(group, target.limits) for group in (files, target.platform, builtin)]
    found = tuple(d for _, diagnostics in groups for d in diagnostics)
    specs, platform, catalog = (documents for documents, _ in groups)
    inputs = Inputs(specs=specs, platform=platform, builtin=catalog, options=Options(absent=tuple(target.absent)))
    result = compile_documents(inputs, packaged_schemas(), plugs(), each)
    if found:
        everything = tuple(sorted({*found, *result.diagnostics}, key=lambda d: d.sort_key))
        result = Result(() if has_errors(everything) else result.objects, everything)
    texts = {f.name: f.content for f in (*files, *target.platform, *builtin)} if result.diagnostics else {}
    return Compilation(result, {n: showable(c.decode(errors="replace")) for n, c in texts.items()})


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


def catalog_of(target: Target) -> Catalog:
    """The runtimes and storage containers of a target, the built-in ones included."""
    builtin = [File(n, c) for n, c in packaged_catalog(KSERVE_PROFILE)] if target.catalog == BUILTIN else []
    platform, _ = parsed(target.platform, target.limits)
    catalog, _ = parsed(builtin, target.limits)
    return read((), platform, catalog, Options(absent=tuple(target.absent)), packaged_schemas(), plugs()).env.catalog
