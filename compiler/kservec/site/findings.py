"""Findings as pages show them: the worst first, each with its place as a link."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import NOT_SHOWN
from kservec.report.words import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.site.atlas import Atlas


class Place(NamedTuple):
    """A place in a source file, in words, and where it is shown; without a link if the file is not there."""

    text: str
    page: str


class FindingRow(NamedTuple):
    """A finding: how bad, its code, what it says, and the places that it names, each with what is said of it."""

    severity: str
    code: str
    title: str
    message: str
    help: str
    places: tuple[tuple[Place, str], ...]


def finding_rows(found: Iterable[Diagnostic], atlas: Atlas) -> list[FindingRow]:
    """Findings, the worst first."""
    ordered = sorted(found, key=lambda d: (-d.code.severity, d.sort_key))
    return [finding_row(finding, atlas) for finding in ordered]


def finding_row(found: Diagnostic, atlas: Atlas) -> FindingRow:
    """One finding."""
    own = ((found.span, found.label),) if found.span is not None else ()
    places = tuple((place_of(span, atlas), text) for span, text in (*own, *found.related))
    return FindingRow(NAMES[found.code.severity], found.code.slug, found.code.title, found.message, found.help, places)


def place_of(span: Span, atlas: Atlas) -> Place:
    """A place as a link."""
    text = f"{span.file}:{span.line}" if span.line else span.file
    return Place(text or NOT_SHOWN, atlas.place(span.file, span.line))
