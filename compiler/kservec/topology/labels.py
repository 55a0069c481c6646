"""Labels: texts that fit into a picture, whatever users wrote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.text.confidential import without_passwords

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST, LONGEST_TEXT = 60, 180
"""Characters of one line of a node, and of the text of an edge; the rest of a longer one is left out."""
MOST_LINES = 4
"""Lines that a long name is broken into."""
MOST_SHOWN = 3
"""How many of a list are named before the rest is counted."""

_find_unfit = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]").sub
_find_breaks = re.compile(r"(?<=[/.:@-])").split


def clean(text: str) -> str:
    """A text on one line without what cannot be shown, and without the passwords of URIs."""
    shown = without_passwords(text)
    return shown if shown.isprintable() else _find_unfit(" ", shown)


def line(text: str, longest: int = LONGEST) -> str:
    """A text as one line of a label: what cannot be shown becomes a space, and the end of a long one three dots."""
    shown = clean(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def told(*words: str) -> str:
    """Words as the text of an edge, those that are empty left out. Pictures break it into lines."""
    return line(" ".join(" ".join(filter(None, words)).split()), LONGEST_TEXT)


def broken(text: str) -> Iterator[str]:
    """A name or URI as lines of a label, broken where it has marks; the end of a very long one is three dots."""
    rest, lines = clean(text), 1
    while len(rest) > LONGEST and lines < MOST_LINES:
        taken = ""
        for piece in _find_breaks(rest):
            if len(taken) + len(piece) > LONGEST:
                break
            taken += piece
        taken = taken or rest[:LONGEST]
        yield taken
        rest, lines = rest[len(taken) :], lines + 1
    yield line(rest)


def listed(texts: Sequence[str]) -> str:
    """The first of some texts, as many as fit on a line, and how many more there are."""
    for shown in range(min(MOST_SHOWN, len(texts)), 0, -1):
        rest = len(texts) - shown
        told = ", ".join(texts[:shown]) + (f" and {rest} more" if rest else "")
        if len(told) <= LONGEST or shown == 1:
            return told
    return ""
