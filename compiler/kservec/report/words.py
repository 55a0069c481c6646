"""The words that all reports share, and text that is safe to show wherever it came from."""

from __future__ import annotations

from kservec.core.diagnostics import Severity

NAMES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def printable(text: str) -> str:
    """Text whose control characters, which could move a terminal's cursor or hide what follows, are spelt out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
