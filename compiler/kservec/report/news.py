"""News: which findings are new since the last look, and which are gone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import fresh, record
from kservec.report.words import NAMES, printable

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef


READING = ("yaml/", "schema/", "input/unreadable", "project/link-outside")
"""What the codes of errors begin with that keep a document from being read: nothing else is known of it."""
EVERYWHERE = 1_000
_match_marker = re.compile(r"---(?=[ \t\r]|\Z)").match


class News(NamedTuple):
    """Findings that are new, that are as before, that are gone, and of which nobody knows.

    `hidden`: errors keep them from being found.
    """

    new: tuple[Diagnostic, ...] = ()
    known: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    hidden: tuple[Diagnostic, ...] = ()

    @property
    def told(self) -> tuple[Diagnostic, ...]:
        """What needs no telling at the next look, should it still be there."""
        return (*self.new, *self.known, *self.hidden)


class Company(NamedTuple):
    """The service that a finding is about, or the document where it has none, and which errors this had by then."""

    place: Hashable
    errors: tuple[Diagnostic, ...] = ()


@record
class View:
    """How far a look came: what it could have found.

    `reached` is how many stages were done, `stages` the one that each finding comes from (by its identity; without one
    it comes with the first), `compiled` are the services without errors. `texts` are those that findings point into,
    `company` is what each finding of an earlier look was beside when it was last found (by its identity; without one
    that is taken from what was told before).
    """

    reached: int = EVERYWHERE
    stages: Mapping[Hashable, int] = fresh(factory=dict)
    compiled: frozenset[ObjectRef] = frozenset()
    texts: Mapping[str, str] = fresh(factory=dict)
    company: Mapping[Hashable, Company] = fresh(factory=dict)


def news_of(before: Sequence[Diagnostic], after: Sequence[Diagnostic], view: View | None = None) -> News:
    """What has changed between two looks, given how far the second came. Findings only on another line are the same.

    What is gone is fixed if whatever found it has looked again; what an error may hide is not.
    """
    view = view or View()
    new = tuple(besides(after, before))
    errors = Errors.of(new, after)
    gone = tuple(besides(before, after))
    stopped = set(stopped_since({**company_of(before, view.texts), **view.company}, Places.of(after, view.texts)))
    hidden = tuple(finding for finding in gone if errors.hide(finding, view, stopped))
    fixed = tuple(finding for finding in gone if finding not in hidden)
    return News(new, tuple(among(after, before)), fixed, hidden)


class Errors(NamedTuple):
    """Where there are errors: files, objects, files with documents that cannot be read, and those where that is new."""

    files: frozenset[str]
    subjects: frozenset[ObjectRef]
    unread: frozenset[str]
    newly_unread: frozenset[str]

    @staticmethod
    def of(new: Iterable[Diagnostic], found: Iterable[Diagnostic]) -> Errors:
        """The errors among findings, given those that are new."""
        errors = [finding for finding in found if finding.is_error]
        return Errors(
            files_of(errors),
            frozenset(error.subject for error in errors if error.subject is not None),
            files_of(filter(is_about_reading, errors)),
            files_of(filter(is_about_reading, new)),
        )

    def hide(self, gone: Diagnostic, view: View, stopped: Container[Hashable]) -> bool:
        """Whether a finding that is gone may only be hidden, given those whose service has come to other errors."""
        if view.stages.get(identity(gone), 0) > view.reached:
            return True
        files = files_of([gone])
        if is_about_reading(gone):
            return not files.isdisjoint(self.newly_unread)
        if self.unread and (gone.rests_on or gone.subject not in view.compiled or files & self.unread):
            return True
        # An error may end the search in its service, unless that was compiled. Those it had before did not hide others.
        if identity(gone) in stopped and gone.subject not in view.compiled:
            return True
        is_anywhere = bool(self.files) and not files and gone.subject is None
        return not gone.is_error and bool(is_anywhere or files & self.files or gone.subject in self.subjects)


class Places(NamedTuple):
    """The errors about each service and in each document, and the lines at which documents of a file begin."""

    errors: Mapping[Hashable, Sequence[Diagnostic]]
    beginnings: Mapping[str, Sequence[int]]

    @staticmethod
    def of(found: Sequence[Diagnostic], texts: Mapping[str, str]) -> Places:
        """The errors among findings, which point into some texts."""
        located = [finding for finding in found if finding.is_error or finding.subject is None]
        places = Places({}, {file: beginnings_in(texts.get(file, "")) for file in files_of(located)})
        errors: dict[Hashable, list[Diagnostic]] = defaultdict(list)
        for error in (finding for finding in located if finding.is_error):
            for place in dict.fromkeys((places.place_of(error), places.document_of(error))):
                errors[place].append(error)
        return places._replace(errors=errors)

    def place_of(self, finding: Diagnostic) -> Hashable:
        """What a finding is about: its service, or the document where it has none."""
        return self.document_of(finding) if finding.subject is None else finding.subject

    def document_of(self, finding: Diagnostic) -> tuple[str, int]:
        """The file and the document that a finding is in."""
        file, line = finding.span[:2] if finding.span else ("", 0)
        return file, bisect_right(self.beginnings.get(file, ()), line)


def beginnings_in(text: str) -> tuple[int, ...]:
    """The lines of a text that separate documents."""
    return tuple(number for number, line in enumerate(text.split("\n"), start=1) if _match_marker(line))


def company_of(found: Sequence[Diagnostic], texts: Mapping[str, str]) -> dict[Hashable, Company]:
    """What each finding is beside, by its identity."""
    places = Places.of(found, texts)
    errors = {place: tuple(those) for place, those in places.errors.items()}
    at = ((finding, places.place_of(finding)) for finding in found)
    return {identity(finding): Company(place, errors.get(place, ())) for finding, place in at}


def stopped_since(company: Mapping[Hashable, Company], now: Places) -> Iterator[Hashable]:
    """The findings, by identity, beside which there are errors now that were not there when they were last found."""
    for one, (place, then) in company.items():
        if any(besides(now.errors.get(place, ()), then)):
            yield one


def is_about_reading(finding: Diagnostic) -> bool:
    """Whether a finding says that a document cannot be read."""
    return finding.is_error and finding.code.slug.startswith(READING)


def files_of(found: Iterable[Diagnostic]) -> frozenset[str]:
    """The files that findings are about."""
    return frozenset(span.file for finding in found for span in finding.spans)


def besides(found: Iterable[Diagnostic], others: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings that are not among others, as often as they are there more often."""
    left = Counter(map(identity, others))
    for finding in found:
        left[identity(finding)] -= 1
        if left[identity(finding)] < 0:
            yield finding


def among(found: Iterable[Diagnostic], others: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings that are among others, too, as often as they are there."""
    left = Counter(map(identity, others))
    for finding in found:
        left[identity(finding)] -= 1
        if left[identity(finding)] >= 0:
            yield finding


def identity(finding: Diagnostic) -> Hashable:
    """What makes a finding the same: all but its line."""
    return finding.code.slug, finding.span.file if finding.span else "", finding.message, finding.subject


def fixed_lines(fixed: Iterable[Diagnostic]) -> str:
    """A line about each finding that is gone."""
    lines = (
        f"fixed: {f.span.file + ': ' if f.span else ''}{NAMES[f.code.severity]}[{f.code.slug}]: {f.message}"
        for f in fixed
    )
    return "".join(f"{printable(line)}\n" for line in lines)
