"""The words that all reports share, and text that is safe to show wherever it came from."""

from __future__ import annotations

from kservec.core.diagnostics import Severity
from kservec.core.patterns import Pattern

NAMES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}

_UNSHOWN = Pattern("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def json_text(document: object) -> str:
    """A document as JSON that people read, too: what could move a cursor or turn the direction of text is an escape."""
    import json  # noqa: PLC0415 - most reports are text

    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def printable(text: str) -> str:
    """Text whose control characters, which could move a terminal's cursor or hide what follows, are spelt out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
