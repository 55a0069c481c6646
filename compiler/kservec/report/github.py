"""Diagnostics as GitHub workflow commands, which become annotations of a pull request."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Severity, Span
from kservec.report.words import NAMES, plural, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
SHOWN = 10
"""GitHub shows ten annotations of a level for each step and drops the others without a word."""


def github_report(diagnostics: Sequence[Diagnostic]) -> str:
    """Workflow commands, the worst first, and one that counts what GitHub would drop."""
    lines: list[str] = []
    for severity in sorted(Severity, reverse=True):
        found = ranked([d for d in diagnostics if d.code.severity is severity])
        rest = len(found) - SHOWN
        shown = found if rest <= 0 else found[: SHOWN - 1]
        lines += [command(d) for d in shown]
        if rest > 0:
            more = plural(len(found) - len(shown), f"more {NAMES[severity]}")
            lines.append(f"::{LEVELS[severity]}::{more}; run kservec lint to see all of them")
    return "".join(f"{line}\n" for line in lines)


def ranked(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Findings of one severity with the first of each code in front: those that repeat may be the ones not shown."""
    seen: Counter[str] = Counter()
    places: list[int] = []
    for diagnostic in found:
        places.append(seen[diagnostic.code.slug])
        seen[diagnostic.code.slug] += 1
    return [d for _, d in sorted(zip(places, found, strict=True), key=lambda pair: pair[0])]


def command(diagnostic: Diagnostic) -> str:
    """One workflow command. GitHub takes columns for spans within one line only."""
    span = diagnostic.span or Span("")
    place = {"file": span.file, "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:
        place |= {"col": span.column, "endColumn": span.end_column}
    fields = [f"{name}={escaped(str(value), ':,')}" for name, value in place.items() if value]
    fields.append(f"title={escaped(diagnostic.code.slug, ':,')}")
    text = "\n".join(printable(line) for line in (diagnostic.message, *diagnostic.help.splitlines()))
    return f"::{LEVELS[diagnostic.code.severity]} {','.join(fields)}::{escaped(text, '')}"


def escaped(text: str, special: str) -> str:
    """Text as workflow commands take it."""
    for character in f"%\r\n{special}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
