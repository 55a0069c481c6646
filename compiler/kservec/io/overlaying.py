"""Overlays at the edge: the files of an overlay are read, kustomize is run over them, and its result traced back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span, has_errors
from kservec.core.text.source import parse
from kservec.io.kustomize import KustomizeError, NoKustomizeError, build
from kservec.io.overlay_files import read_closure
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import File, shown_name
from kservec.io.workspace import files_at
from kservec.overlays.accounts import accounts_of
from kservec.overlays.breaks import UNREACHED, after_findings, before_findings
from kservec.overlays.messages import refusal
from kservec.overlays.objects import gathered
from kservec.overlays.result import read_result
from kservec.overlays.scopes import is_namespaced_by
from kservec.overlays.wrapper import staged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kservec.core.text.document import Document
    from kservec.core.text.source import Limits
    from kservec.io.workspace import Workspace
    from kservec.overlays.closure import Closure
    from kservec.overlays.objects import Gathering
    from kservec.overlays.result import Made
    from kservec.project.settings import Settings

NO_KUSTOMIZE = Code(
    "overlay/no-kustomize",
    Severity.ERROR,
    "an overlay, and no kustomize to run",
    "Overlays are built by kustomize: by the library pykustomize (the extra `overlays`, for Python 3.14 and newer), "
    "else the program kustomize, else kubectl, which holds it.",
)


def overlaid(workspace: Workspace, settings: Settings, sources: Sequence[File], limits: Limits) -> tuple[File, ...]:
    """The files that an overlay reaches, with the documents that it makes of them; without any after an error.

    What is wrong with it comes as files, too: each with one finding and no documents.

    Args:
        workspace: the project.
        settings: the environment, which has an overlay.
        sources: the files of the project's sources, which the overlay is expected to reach.
        limits: what a file may hold.

    Raises:
        OSError: a file that the overlay refers to, or one of the platform's, cannot be read.
    """
    named = named_at(workspace, settings.name, "overlay")
    closure, found = read_closure(workspace.root, settings.overlay, named, limits, workspace.pending)
    files = files_of(workspace.root, closure)
    made: tuple[Made, ...] = ()
    if not has_errors(found):
        gathering = gathered(closure, is_namespaced_by(packaged_schemas()))
        found = (*found, *unreached(sources, files), *before_findings(closure, gathering))
        if not has_errors(found):
            made, faults = built(closure, gathering, named)
            accounts = accounts_of(documents_of(workspace, settings, limits)) if moves(gathering) else frozenset()
            found = (*found, *faults, *after_findings(made, accounts))
    # What is compiled of broken references would only be told that it is broken.
    documents = () if has_errors(found) else tuple(m.document for m in made)
    return (*with_documents(files, documents), *with_findings(found, (workspace.file, *sources, *files)))


def built(closure: Closure, gathering: Gathering, named: Span) -> tuple[tuple[Made, ...], tuple[Diagnostic, ...]]:
    """What kustomize makes of an overlay, and why it makes nothing."""
    try:
        text = build(staged(closure, packaged_schemas()))
    except (KustomizeError, NoKustomizeError) as error:
        return (), (failure(error, closure, gathering, named),)
    return read_result(text, closure, gathering.objects), ()


def with_documents(files: Sequence[File], documents: tuple[Document, ...]) -> Iterator[File]:
    """The files of an overlay, the first of them with what the overlay makes of them all."""
    for i, file in enumerate(files):
        yield file._replace(documents=() if i else documents)


def with_findings(found: Iterable[Diagnostic], files: Iterable[File]) -> Iterator[File]:
    """A file for each finding, with the content that it points into."""
    contents = {file.name: file.content for file in files}
    for diagnostic in found:
        name = diagnostic.span.file if diagnostic.span is not None else ""
        yield File(name, contents.get(name, b""), diagnostic, ())


def documents_of(workspace: Workspace, settings: Settings, limits: Limits) -> Iterator[Document]:
    """The platform's documents of an environment; what is wrong with them is told where they are compiled."""
    for file in files_at(workspace, settings.platform, limits.max_bytes):
        yield from parse(file.content, file.name, limits)[0]


def moves(gathering: Gathering) -> bool:
    """Whether any object is in another namespace than it was written in."""
    return any(known.first.place != known.last.place for known in gathering.objects)


def files_of(root: Path, closure: Closure) -> tuple[File, ...]:
    """The files that an overlay reaches, in the order of their names."""
    return tuple(File(shown_name(root / path), content) for path, content in sorted(closure.contents.items()))


def named_at(workspace: Workspace, environment: str, field: str) -> Span:
    """Where the project names the overlay of an environment, or its patches."""
    return workspace.project.document.span(("environments", environment, field))


def failure(
    error: KustomizeError | NoKustomizeError, closure: Closure, gathering: Gathering, named: Span
) -> Diagnostic:
    """The error that kustomize is not there, or found."""
    if isinstance(error, KustomizeError):
        return refusal(str(error), closure, gathering)
    message, _, hint = str(error).partition("; ")
    return Diagnostic(code=NO_KUSTOMIZE, message=message, span=named, help=hint)


def unreached(sources: Iterable[File], reached: Sequence[File]) -> Iterator[Diagnostic]:
    """A warning about each source that an overlay does not reach."""
    names = {file.name for file in reached}
    for file in sources:
        if file.name not in names and file.finding is None:
            message = f"the overlay does not reach {file.name}, so it is not compiled"
            hint = "list it under resources of a kustomization that the overlay refers to"
            yield Diagnostic(code=UNREACHED, message=message, span=Span(file.name), help=hint)
