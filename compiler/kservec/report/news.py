"""News: which findings are new since the last look, and which are gone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kservec.report.words import NAMES, printable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic


class News(NamedTuple):
    """Findings that are new, that are as before, that are gone, and of which nobody knows.

    `hidden`: an error in the same file keeps them from being found.
    """

    new: tuple[Diagnostic, ...] = ()
    known: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    hidden: tuple[Diagnostic, ...] = ()

    @property
    def told(self) -> tuple[Diagnostic, ...]:
        """What needs no telling at the next look, should it still be there."""
        return (*self.new, *self.known, *self.hidden)


def news_of(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> News:
    """What has changed between two looks. A finding that only stands on another line is the same."""
    broken = {finding.span.file for finding in after if finding.is_error and finding.span is not None}
    gone = tuple(besides(before, after))
    hidden = tuple(f for f in gone if not f.is_error and f.span is not None and f.span.file in broken)
    fixed = tuple(finding for finding in gone if finding not in hidden)
    return News(tuple(besides(after, before)), tuple(among(after, before)), fixed, hidden)


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
