"""Regular expressions that are compiled when something is first sought by them.

A short run asks one in five of those that there are, and to compile the others took a tenth of it. What is sought in
every service, or in every line of a text, is compiled by `re` when its module is loaded: to ask that is quicker.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Pattern:
    """A regular expression for text, with flags of `re`; its methods are those of `re.Pattern`."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """What `re` makes of it.

        Raises:
            re.error: it is no regular expression.
        """
        return re.compile(self.text, self.flags)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """What fits where a text begins, or at a place in it."""
        return self.compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Whether a whole text fits."""
        return self.compiled.fullmatch(text)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first place that fits."""
        return self.compiled.search(text, start)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All places that fit."""
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        """What fits, of an expression without groups."""
        return self.compiled.findall(text)

    def sub(self, put: str | Callable[[re.Match[str]], str], text: str) -> str:
        """A text with something else in all places that fit."""
        return self.compiled.sub(put, text)
