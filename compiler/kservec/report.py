"""Diagnostics as text for people, as JSON, and as GitHub annotations. Pure: values in, strings out."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Severity, Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic

NAMES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
COLOURS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m", Severity.NOTE: "\x1b[1;36m"}
BOLD, BLUE, RESET = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
LONGEST_LINE = 160
GITHUB_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
GITHUB_SHOWN = 10


class Style(NamedTuple):
    """Whether text is coloured."""

    colour: bool = False

    def paint(self, code: str, text: str) -> str:
        """Text in a colour, or as it is."""
        return f"{code}{text}{RESET}" if self.colour and text else text


def text_report(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], style: Style = Style()) -> str:  # noqa: B008
    """Diagnostics as a compiler shows them: the headline, the place, the line with a caret, and what to do.

    `sources` holds the text of each file by its name; a file that is not there is named without its line.
    """
    blocks = [block(d, sources, style) for d in diagnostics]
    return "\n".join((*blocks, summary(diagnostics, style))) if blocks else ""


def block(diagnostic: Diagnostic, sources: Mapping[str, str], style: Style) -> str:
    """One diagnostic with its excerpt."""
    severity = diagnostic.code.severity
    head = style.paint(COLOURS[severity], f"{NAMES[severity]}[{diagnostic.code.slug}]")
    lines = [f"{head}{style.paint(BOLD, f': {diagnostic.message}')}"]
    gutter = max((len(str(s.line)) for s in spans_of(diagnostic)), default=1)
    if diagnostic.span is not None:
        lines += excerpt(diagnostic.span, diagnostic.label, sources, style, gutter)
    for span, text in diagnostic.related:
        lines += excerpt(span, text, sources, style, gutter)
    if diagnostic.help:
        lines.append(f"{' ' * gutter} {style.paint(BLUE, '=')} {style.paint(BOLD, 'help')}: {diagnostic.help}")
    return "\n".join(lines) + "\n"


def spans_of(diagnostic: Diagnostic) -> list[Span]:
    """Every place that a diagnostic points at."""
    return [s for s in (diagnostic.span, *(s for s, _ in diagnostic.related)) if s is not None]


def excerpt(span: Span, label: str, sources: Mapping[str, str], style: Style, gutter: int) -> list[str]:
    """The place, and the source line with the stretch underlined."""
    arrow, bar = style.paint(BLUE, "-->"), style.paint(BLUE, "|")
    place = f"{span.file}:{span.line}:{span.column}" if span.line else span.file
    lines = [f"{' ' * gutter}{arrow} {place}"]
    text = source_line(span, sources)
    if text is None:
        return [*lines, f"{' ' * gutter} {bar} {label}"] if label else lines
    shown, start = visible(text, span.column - 1)
    width = span.end_column - span.column if span.end_line == span.line else len(text) - span.column + 1
    carets = "^" * max(1, min(width, len(shown) - start))
    number = style.paint(BLUE, str(span.line).rjust(gutter))
    pointer = style.paint(COLOURS[Severity.ERROR], f"{carets} {label}".rstrip())
    return [*lines, f"{' ' * gutter} {bar}", f"{number} {bar} {shown}", f"{' ' * gutter} {bar} {' ' * start}{pointer}"]


def source_line(span: Span, sources: Mapping[str, str]) -> str | None:
    """The line that a span begins on, without control characters; None if it is not known."""
    text = sources.get(span.file)
    if text is None or not span.line:
        return None
    lines = text.splitlines()
    if span.line > len(lines):
        return None
    return "".join(c if c.isprintable() else " " for c in lines[span.line - 1])


def visible(text: str, column: int) -> tuple[str, int]:
    """A stretch of a line that is short enough to show, and where the column is in it."""
    if len(text) <= LONGEST_LINE:
        return text, column
    start = max(0, column - LONGEST_LINE // 4)
    return text[start : start + LONGEST_LINE], column - start


def summary(diagnostics: Sequence[Diagnostic], style: Style) -> str:
    """How many findings of which severity."""
    counts = Counter(d.code.severity for d in diagnostics)
    parts = [plural(counts[s], NAMES[s]) for s in sorted(counts, reverse=True)]
    return style.paint(BOLD, ", ".join(parts)) + "\n"


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def json_report(diagnostics: Sequence[Diagnostic]) -> str:
    """Diagnostics as one JSON document; lines and columns count from 1, null where there is no place."""
    return json.dumps({"diagnostics": [json_entry(d) for d in diagnostics]}, indent=2, ensure_ascii=False) + "\n"


def json_entry(diagnostic: Diagnostic) -> dict[str, object]:
    """One diagnostic as JSON."""
    span, subject = diagnostic.span, diagnostic.subject
    return {
        "code": diagnostic.code.slug,
        "severity": NAMES[diagnostic.code.severity],
        "message": diagnostic.message,
        "help": diagnostic.help,
        "location": json_span(span) if span is not None else None,
        "related": [{"location": json_span(s), "message": t} for s, t in diagnostic.related],
        "object": None if subject is None else subject._asdict(),
    }


def json_span(span: Span) -> dict[str, object]:
    """A place as JSON."""
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def github_report(diagnostics: Sequence[Diagnostic]) -> str:
    """Diagnostics as GitHub workflow commands, the worst first: GitHub shows ten of each level a step."""
    lines: list[str] = []
    for severity in sorted(Severity, reverse=True):
        found = [d for d in diagnostics if d.code.severity is severity]
        lines += [github_line(d) for d in found[:GITHUB_SHOWN]]
        if len(found) > GITHUB_SHOWN:
            rest = plural(len(found) - GITHUB_SHOWN, f"more {NAMES[severity]}")
            lines.append(f"::notice::{rest}; run kservec lint to see all of them")
    return "".join(f"{line}\n" for line in lines)


def github_line(diagnostic: Diagnostic) -> str:
    """One workflow command."""
    span = diagnostic.span or Span("")
    place = {"file": span.file, "line": span.line, "col": span.column, "endLine": span.end_line}
    fields = [f"{k}={escaped(str(v), ':,')}" for k, v in place.items() if v]
    fields.append(f"title={escaped(diagnostic.code.slug, ':,')}")
    text = f"{diagnostic.message}\n{diagnostic.help}" if diagnostic.help else diagnostic.message
    return f"::{GITHUB_LEVELS[diagnostic.code.severity]} {','.join(fields)}::{escaped(text, '')}"


def escaped(text: str, special: str) -> str:
    """Text as GitHub's workflow commands take it."""
    for character in f"%\r\n{special}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
