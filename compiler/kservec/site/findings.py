"""Findings as pages show them: the worst first, each with its place as a link; and those that waivers excuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import NOT_SHOWN
from kservec.report.words import NAMES
from kservec.site.names import page_of
from kservec.site.paging import MOST_ROWS, sheets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.policy.waivers import Excuse
    from kservec.site.atlas import Atlas
    from kservec.site.subject import Gathered, UnitFacts
    from kservec.site.writer import Page, Writer

MOST_EXCUSED = 12
"""Findings that are told of one waiver; it may excuse the same in every service."""


class Place(NamedTuple):
    """A place in a source file, in words, and where it is shown; without a link if the file is not there."""

    text: str
    page: str


class FindingRow(NamedTuple):
    """A finding: how bad, its code, what it says, and the places that it names, each with what is said of it.

    `excuse` is what makes it count for nothing, in words; empty where nothing does.
    """

    severity: str
    code: str
    title: str
    message: str
    help: str
    places: tuple[tuple[Place, str], ...]
    excuse: str = ""


class Told(NamedTuple):
    """A finding, and the unit that it is about, if it is about one."""

    finding: Diagnostic
    unit: UnitFacts | None


class WaiverRow(NamedTuple):
    """A waiver: what it excuses and why, until which day (empty for ever), and where somebody wrote it.

    `excused` are findings that are only left out for it; `more` are so many that are not named.
    """

    code: str
    object: str
    reason: str
    expires: str
    place: Place | None
    excused: tuple[FindingRow, ...]
    more: int


def told_findings(gathered: Gathered) -> list[Told]:
    """All findings, the worst first."""
    found = [Told(finding, facts) for facts in gathered.units for finding in facts.findings]
    found += [Told(finding, None) for finding in gathered.findings]
    return sorted(found, key=lambda told: (-told.finding.code.severity, told.finding.sort_key))


def finding_pages(gathered: Gathered, excuses: Sequence[Excuse], atlas: Atlas, writer: Writer) -> Iterator[Page]:
    """All findings with the units that they are about, and after them the waivers."""
    found = told_findings(gathered)
    rows: list[Told | Excuse] = [*found, *excuses]
    first = page_of("findings", 1 + len(found) // MOST_ROWS)
    for sheet, part in sheets("findings", rows):
        yield writer.page(
            "findings", sheet.path, sheet=sheet, rows=told_rows((row for row in part if isinstance(row, Told)), atlas),
            waivers=[waiver_row(row, atlas) for row in part if not isinstance(row, Told)], total=len(found),
            total_waivers=len(excuses), waivers_page=first,
        )  # fmt: skip


def told_rows(found: Iterable[Told], atlas: Atlas) -> list[tuple[FindingRow, UnitFacts | None]]:
    """Findings as rows, in their order, each with its unit."""
    return [(finding_row(finding, atlas), unit) for finding, unit in found]


def waiver_row(excuse: Excuse, atlas: Atlas) -> WaiverRow:
    """One waiver."""
    code, about, reason, expires = excuse.waiver[:4]
    named = finding_rows(excuse.found, atlas)[:MOST_EXCUSED]
    place = place_of(excuse.span, atlas) if excuse.span is not None else None
    return WaiverRow(code, about, reason, expires, place, tuple(named), len(excuse.found) - len(named))


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
