"""Diagnostics as one JSON document, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.report.words import NAMES, json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef, Span


def json_report(diagnostics: Sequence[Diagnostic]) -> str:
    """Diagnostics as JSON. Lines and columns count from 1, the end is the place after the last character.

    `location` is null where no file is to blame; its `line` is 0 where the whole file is.
    """
    listed = {"diagnostics": [entry(d) for d in diagnostics]}
    return json_text(listed)


def entry(diagnostic: Diagnostic) -> dict[str, object]:
    """One diagnostic."""
    span, subject = diagnostic.span, diagnostic.subject
    return {
        "code": diagnostic.code.slug,
        "severity": NAMES[diagnostic.code.severity],
        "title": diagnostic.code.title,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "help": diagnostic.help,
        "location": None if span is None else location(span),
        "related": [{"location": location(s), "message": text} for s, text in diagnostic.related],
        "object": None if subject is None else identity(subject),
    }


def location(span: Span) -> dict[str, object]:
    """A place."""
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def identity(ref: ObjectRef) -> dict[str, object]:
    """An object, with the names of fields that Kubernetes uses."""
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
