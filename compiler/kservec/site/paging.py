"""Long tables and texts over several pages, so that no page grows with the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kservec.site.names import page_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

MOST_ROWS = 200
MOST_LINES = 1_000


class Sheet(NamedTuple):
    """One of the pages that something is spread over: which it is, of how many, and the files of its neighbours."""

    path: str
    number: int
    of: int
    before: str = ""
    after: str = ""


def sheets(stem: str, rows: Sequence[T], most: int = MOST_ROWS) -> Iterator[tuple[Sheet, Sequence[T]]]:
    """Rows over as many pages as they need, at least one."""
    count = max(1, -(-len(rows) // most))
    for number in range(1, count + 1):
        yield sheet(stem, number, count), rows[(number - 1) * most : number * most]


def sheet(stem: str, number: int, count: int) -> Sheet:
    """One of several pages with its neighbours. Links of neighbours are relative, since all are in one folder."""
    name = stem.rpartition("/")[2]
    before = page_of(name, number - 1) if number > 1 else ""
    after = page_of(name, number + 1) if number < count else ""
    return Sheet(page_of(stem, number), number, count, before, after)
