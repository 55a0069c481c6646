"""News: which findings are new since the last look, and which are gone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kservec.report.words import NAMES, printable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic


class News(NamedTuple):
    """Findings that are new, that are as before, and that are gone."""

    new: tuple[Diagnostic, ...]
    known: tuple[Diagnostic, ...]
    fixed: tuple[Diagnostic, ...]


def news_of(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> News:
    """What has changed between two looks. A finding that only stands on another line is the same."""
    return News(tuple(besides(after, before)), tuple(among(after, before)), tuple(besides(before, after)))


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
