"""Lists in messages: the first few by name, the rest by number, so that no text grows with what a user has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SHOWN: Final = 5


def listed(names: Iterable[str]) -> str:
    """The names of some things, the first five at most: `a, b, c, d, e and 7 more`."""
    found = list(names)
    more = len(found) - SHOWN
    return ", ".join(found[:SHOWN]) + (f" and {more} more" if more > 0 else "")
