"""Whole numbers in users' text, however many digits they have.

Decides what number digits make. Must not know what the number is for.
"""

from __future__ import annotations

from typing import Final

MOST_DIGITS: Final = 400
"""How many digits count. No field takes near as many, and Python refuses to read some thousands."""
INT64: Final = 1 << 63
"""What is too large for a number of 64 bits."""


def integer(text: str) -> int:
    """The number that digits make, with a sign or without; of endless ones a number that is beyond all limits, too.

    Raises:
        ValueError: it is no whole number.
    """
    if len(text) <= MOST_DIGITS:
        return int(text)
    sign = -1 if text[0] == "-" else 1
    return sign * int(text.removeprefix("+").removeprefix("-").lstrip("0")[:MOST_DIGITS] or "0")


def natural(text: str) -> int | None:
    """The number that a text of ASCII digits alone is; None for any other text."""
    return integer(text) if text.isascii() and text.isdigit() else None
