"""Lists in messages: the first few by name, the rest by number, so that no text grows with what a user has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kservec.core.spelling import by_likeness
from kservec.core.visible import visible

SHOWN: Final = 5


def listed(names: Iterable[str]) -> str:
    """The names of some things, the first five at most: `a, b, c, d, e and 7 more`."""
    found = list(names)
    more = len(found) - SHOWN
    return ", ".join(map(visible, found[:SHOWN])) + (f" and {more} more" if more > 0 else "")


def listed_near(word: str, names: Iterable[str], command: str = "") -> str:
    """The same; of too many names those that are most like a word, and the command that lists all of them."""
    found = list(names)
    if len(found) <= SHOWN:
        return listed(found)
    return listed(by_likeness(word, found)) + (f" ({command} lists them all)" if command else "")
