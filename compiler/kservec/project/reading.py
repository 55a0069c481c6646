"""Reading a project file: its text becomes the model, or located findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Reject, Severity, Span, has_errors
from kservec.core.text.source import DEFAULT_LIMITS, parse
from kservec.core.unit import Source
from kservec.project.gitops import gitops_findings
from kservec.project.paths import is_name, path_findings
from kservec.project.settings import environments_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.text.source import Document, Limits
    from kservec.project.settings import Settings
    from kservec.spec.project import Project

API_VERSION, KIND = "kservec.dev/v1alpha1", "Project"
PROJECT_FILE = "kservec.yaml"

NOT_ONE = Code(
    "project/not-one-document",
    Severity.ERROR,
    "a project file that does not hold one Project",
    f"kservec.yaml holds one document, of apiVersion {API_VERSION} and kind {KIND}.",
)


class ReadProject(NamedTuple):
    """A project: its model, its document, and the settings of its environments by their names."""

    model: Project
    document: Document
    environments: Mapping[str, Settings]


def read_project(
    content: bytes, name: str, limits: Limits = DEFAULT_LIMITS
) -> tuple[ReadProject | None, tuple[Diagnostic, ...]]:
    """The project of a file, and what is wrong with it; None where it cannot be used.

    Args:
        content: the text of the file.
        name: what findings call it.
        limits: how large it may be.
    """
    documents, found = parse(content, name, limits)
    if has_errors(found):
        return None, tuple(found)
    try:
        document = only_document(documents, name)
        model = model_of(document)
    except Reject as reject:
        return None, (*found, *reject.diagnostics)
    environments = environments_of(model)
    # What follows from a name that no environment can have is no fault of its own.
    named = {name: settings for name, settings in environments.items() if is_name(name)}
    judged = (*found, *path_findings(model, document, named), *gitops_findings(named, document))
    return None if has_errors(judged) else ReadProject(model, document, environments), judged


def only_document(documents: Sequence[Document], name: str) -> Document:
    """The one document of a project file.

    Raises:
        Reject: there is none, or more, or it is something else.
    """
    hint = f"write one document of apiVersion {API_VERSION} and kind {KIND}"
    if len(documents) != 1:
        what = "this file is empty" if not documents else "this is another document"
        span = documents[1].span(()) if len(documents) > 1 else Span(name)
        raise Reject(Diagnostic(code=NOT_ONE, message=f"{name} must hold one Project; {what}", span=span, help=hint))
    (document,) = documents
    value = document.value
    if not isinstance(value, dict) or value.get("kind") != KIND or value.get("apiVersion") != API_VERSION:
        place = document.span(("kind",)) if isinstance(value, dict) and value.get("kind") != KIND else document.span(())
        raise Reject(Diagnostic(code=NOT_ONE, message=f"{name} holds no Project", span=place, help=hint))
    return document


def model_of(document: Document) -> Project:
    """The model of a project. Pydantic is loaded here, for runs without a project need none of it.

    Raises:
        Reject: the document does not fit the model.
    """
    from kservec.documents.models import Spot, read_model  # noqa: PLC0415 - loads pydantic
    from kservec.spec.project import Project  # noqa: PLC0415 - loads pydantic

    subject = ObjectRef(API_VERSION, KIND, "", "")
    return read_model(Project, document.value, Spot(subject, Source(document=document)))
