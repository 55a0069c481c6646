"""News: which findings are new since the last look, and which are gone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import fresh, record
from kservec.report.words import NAMES, printable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef


READING = ("yaml/", "schema/", "input/unreadable", "project/link-outside")
"""What the codes of errors begin with that keep a document from being read: nothing else is known of it."""
EVERYWHERE = 1_000


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


@record
class View:
    """How far a look came: what it could have found.

    `reached` is how many stages were done, `stages` the one that each finding comes from (by its identity; without one
    it comes with the first), `compiled` are the services without errors.
    """

    reached: int = EVERYWHERE
    stages: Mapping[Hashable, int] = fresh(factory=dict)
    compiled: frozenset[ObjectRef] = frozenset()


def news_of(before: Sequence[Diagnostic], after: Sequence[Diagnostic], view: View | None = None) -> News:
    """What has changed between two looks, given how far the second came. Findings only on another line are the same.

    What is gone is fixed if whatever found it has looked again; what an error may hide is not.
    """
    new = tuple(besides(after, before))
    errors = Errors.of(new, after)
    gone = tuple(besides(before, after))
    hidden = tuple(finding for finding in gone if errors.hide(finding, view or View()))
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

    def hide(self, gone: Diagnostic, view: View) -> bool:
        """Whether a finding that is gone may only be hidden."""
        if view.stages.get(identity(gone), 0) > view.reached:
            return True
        files = files_of([gone])
        if is_about_reading(gone):
            return not files.isdisjoint(self.newly_unread)
        if self.unread and (gone.rests_on or gone.subject not in view.compiled or files & self.unread):
            return True
        # Errors of a service are found stage by stage, and those that are left say that it came as far as before.
        is_anywhere = bool(self.files) and not files and gone.subject is None
        return not gone.is_error and bool(is_anywhere or files & self.files or gone.subject in self.subjects)


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
