"""Runs that have nothing to compile: an empty file, or one whose template rendered nothing, ends as well as any other.

Decides what is said then. Must not know how files are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.documents.entries import ref_of
from kservec.frontend import READERS, TRAINED_MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.schemas.schema import Schemas
    from kservec.core.text.source import Document

NOTHING = Code(
    "input/nothing-to-compile",
    Severity.WARNING,
    "an input without anything to compile",
    "No object comes of the input: its files are empty, hold only comments, or documents that are read, not output. "
    "Look whether the right files are named, and whether what writes them (a template, say) wrote something.",
)


def nothing_to_compile(files: Sequence[str], documents: Sequence[Document], schemas: Schemas) -> Iterator[Diagnostic]:
    """The warning about files without a document of a kind that is compiled.

    Args:
        files: the names of the files of the input.
        documents: what they hold.
        schemas: how kinds are identified.
    """
    if any(ref_of(document, schemas).kind in (*READERS, TRAINED_MODEL) for document in documents):
        return
    only = files[0] if len(files) == 1 else ""
    what, where = (
        "service" if documents else "document",
        only or (f"any of {len(files)} files" if files else "the input"),
    )
    yield Diagnostic(
        code=NOTHING,
        message=f"nothing is compiled: there is no {what} in {where}",
        span=Span(only) if only else None,
        help=f"kinds that are compiled: {', '.join(READERS)}",
    )
