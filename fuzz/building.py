"""What is made of an input, in this process: the compiler as its library runs it, and as a project runs it.

The built-in catalog is read once and shared: inputs cannot change it, and reading it would take most of the time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.inputs import INPUT, PLATFORM, PREVIOUS, PROJECT, Input
from kservec.api import (
    NO_CATALOG,
    Target,
    builtin_files,
    inputs_of,
    need_presets,
    parsed,
    plugs,
    shown_sources,
    text_of,
)
from kservec.compilation import compile_documents
from kservec.core.diagnostics import Diagnostic
from kservec.core.records import evolve
from kservec.core.text.source import Document, Limits
from kservec.environments import render, together
from kservec.gitops.layout import planned_tree
from kservec.gitops.rendered import Rendered
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import File
from kservec.io.workspace import open_workspace

LIMITS = Limits()
BUILTIN = "builtin/"
WHOLE_CATALOG = 8
"""One of so many inputs is compiled with all built-in runtimes."""
MEMORY = Path("/dev/shm")  # noqa: S108 - where it is there, a folder in memory


class Made(NamedTuple):
    """The objects of one environment, and the files that would be written."""

    objects: Sequence[Rendered]
    tree: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Built:
    """What came out: what each environment gives, the findings, and the texts that findings may point into.

    `sources` are these texts as reports may show them. `refused` is what the operating system said instead, about paths
    of the input.
    """

    made: tuple[Made, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    ok: bool = True
    refused: str = ""

    @property
    def objects(self) -> list[Rendered]:
        """The objects of all environments."""
        return [o for made in self.made for o in made.objects]

    @property
    def contents(self) -> list[tuple[dict[str, bytes], list[str]]]:
        """What two builds of the same input must have in common: bytes of files, and findings."""
        said = sorted(f"{d.code.slug} {d.message} {d.help}" for d in self.diagnostics)
        return [(dict(made.tree), said) for made in self.made] or [({}, said)]


def built(given: Input) -> Built:
    """Build an input as a project if it is one, else as plain files."""
    return built_project(given) if PROJECT in given.files else built_files(given)


def built_files(given: Input) -> Built:
    """Compile the files of an input."""
    groups = [files_of(given.below(folder)) for folder in (INPUT, PLATFORM, PREVIOUS)]
    target = Target(
        platform=groups[1],
        catalog=NO_CATALOG,
        absent=given.absent,
        previous=groups[2],
        names_revisions=given.names_revisions,
    )
    inputs, files = inputs_of(groups[0], target)
    if given.has_catalog:
        inputs = evolve(inputs, builtin=suited(given, presets=need_presets(inputs.specs)))
    result = compile_documents(inputs, packaged_schemas(), plugs())
    if any(span.file.startswith(BUILTIN) for found in result.diagnostics for span in found.spans):
        files = [*files, *builtin_files(Target())]
    return Built(
        made=(Made(result.objects, planned_tree(result.objects)),) if result.objects or result.ok else (),
        diagnostics=result.diagnostics,
        sources=shown_sources(result.diagnostics, files),
        texts=texts_in(files) if result.diagnostics else {},
        ok=result.ok,
    )


def texts_in(files: Iterable[File]) -> dict[str, str]:
    """The texts of files by their names."""
    return {file.name: text_of(file) for file in files}


def files_of(contents: Mapping[str, bytes]) -> list[File]:
    """Files by their paths."""
    return [File(path, content) for path, content in contents.items()]


def suited(given: Input, *, presets: bool) -> list[Document]:
    """The whole catalog for some inputs; for most only what their files name, which is quicker.

    Which of the two follows from the size alone: documents in another order are built with the same catalog.
    """
    text = b"".join(given.files.values())
    whole = not len(text) % WHOLE_CATALOG
    return [
        document for document, words in catalog(presets) if whole or not words or any(word in text for word in words)
    ]


@cache
def catalog(presets: bool) -> list[tuple[Document, tuple[bytes, ...]]]:
    """The documents of the built-in catalog, and the names of runtimes and of what they serve."""
    documents, _ = parsed(builtin_files(Target(), presets=presets), LIMITS)
    return [(document, tuple(served(document.value))) for document in documents]


def served(value: Any) -> Iterator[bytes]:
    """The name of a runtime and of the formats that it serves; nothing for other kinds."""
    formats = value.get("spec", {}).get("supportedModelFormats")
    if formats:
        yield value["metadata"]["name"].encode()
        yield from (entry["name"].encode() for entry in formats)


def built_project(given: Input) -> Built:
    """Render all environments of a repository, in a folder of its own."""
    with repository(given.files):
        try:
            return rendered()
        except OSError as error:
            return Built(ok=False, refused=str(error))


@contextlib.contextmanager
def repository(files: Mapping[str, bytes]) -> Iterator[None]:
    """Be in a folder with these files for a while."""
    before = Path.cwd()
    folder = Path(tempfile.mkdtemp(prefix="kservec-fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        os.chdir(folder)
        yield
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def rendered() -> Built:
    """Render the project of the current folder.

    Raises:
        OSError: a path of the project cannot be read; the commands report it as wrong usage.
    """
    workspace, file, found = open_workspace(Path(PROJECT), LIMITS.max_bytes)
    texts = {file.name: text_of(file)}
    if workspace is None:
        return Built(diagnostics=tuple(found), sources=texts, texts=texts_of(found), ok=False)
    made = together(workspace, [render(workspace, name) for name in workspace.environments])
    diagnostics = (*found, *(d for rendering in made for d in rendering.diagnostics))
    ok = all(rendering.ok for rendering in made)
    sources = {**texts, **{name: text for rendering in made for name, text in rendering.texts.items()}}
    return Built(
        made=tuple(Made(r.objects, r.tree) for r in made) if ok else (),
        diagnostics=diagnostics,
        sources=sources,
        texts=texts_of(diagnostics),
        ok=ok,
    )


def texts_of(found: Iterable[Diagnostic]) -> dict[str, str]:
    """The texts of the files that findings name, by their names."""
    return {span.file: read_text(span.file) for finding in found for span in finding.spans}


def read_text(name: str) -> str:
    """The text of a file that a finding names; that of built-in ones, too. Empty if there is none."""
    if name.startswith(BUILTIN):
        return next((text_of(file) for file in builtin_files(Target()) if file.name == name), "")
    path = Path(name)
    return text_of(File(name, path.read_bytes())) if path.is_file() else ""
