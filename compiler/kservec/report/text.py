"""Diagnostics as a compiler shows them: the headline, the place, the line with what is wrong underlined, what to do."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import NOT_SHOWN, Severity
from kservec.core.records import record
from kservec.report.words import NAMES, plural, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic, Span

COLOURS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m", Severity.NOTE: "\x1b[1;36m"}
BOLD, BLUE, RESET = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
LONGEST_LINE = 140
LEAD = 40
"""How much of a long line is shown before what is wrong in it."""
CUT = "…"

_split_lines = re.compile(r"\r\n|\r|\n").split


class Stretch(NamedTuple):
    """A line of text, and from where up to where in it something is underlined; all in characters."""

    text: str
    start: int
    end: int


@record
class Page:
    """What a report is written on: the lines of the files, and whether there are colours."""

    files: Mapping[str, Sequence[str]]
    colour: bool = False

    def paint(self, code: str, text: str) -> str:
        """Text in a colour, or as it is."""
        return f"{code}{text}{RESET}" if self.colour and text else text

    def line(self, span: Span) -> str | None:
        """The line that a span begins on; None if it is not known."""
        lines = self.files.get(span.file, ())
        return lines[span.line - 1] if 0 < span.line <= len(lines) else None


def text_report(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], *, colour: bool = False) -> str:
    """Diagnostics one after the other, each with its excerpt, and an empty line after each.

    Args:
        diagnostics: in the order in which they are shown.
        sources: the text of each file by its name; a file that is not there is named without its line.
        colour: whether to colour the text, as a terminal understands it.
    """
    page = Page(files={name: _split_lines(text) for name, text in sources.items()}, colour=colour)
    return "".join(f"{block(d, page)}\n" for d in diagnostics)


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """How many findings of which severity: `2 errors, 1 warning`; empty if there are none."""
    counts = Counter(d.code.severity for d in diagnostics)
    return ", ".join(plural(counts[s], NAMES[s]) for s in sorted(counts, reverse=True))


def block(diagnostic: Diagnostic, page: Page) -> str:
    """One diagnostic with its excerpts."""
    severity = diagnostic.code.severity
    head = page.paint(COLOURS[severity], f"{NAMES[severity]}[{diagnostic.code.slug}]")
    lines = [f"{head}{page.paint(BOLD, f': {printable(diagnostic.message)}')}"]
    gutter = max((len(str(s.line)) for s in diagnostic.spans), default=1)
    if diagnostic.span is not None:
        lines += excerpt(diagnostic.span, diagnostic.label, COLOURS[severity], page, gutter)
    for span, text in diagnostic.related:
        lines += excerpt(span, text, BLUE, page, gutter)
    lead = f"{' ' * gutter} {page.paint(BLUE, '=')} {page.paint(BOLD, 'help')}: "
    for text in diagnostic.help.splitlines():
        lines.append(f"{lead}{printable(text)}")
        lead = " " * (gutter + len(" = help: "))
    return "".join(f"{line}\n" for line in lines)


def excerpt(span: Span, label: str, code: str, page: Page, gutter: int) -> list[str]:
    """The place, and the line in the file with the stretch underlined; of a stretch of several lines the first.

    Nothing is underlined in a line that is not shown.
    """
    margin, bar = " " * gutter, page.paint(BLUE, "|")
    place = f"{span.file}:{span.line}:{span.column}" if span.line else span.file
    lines = [f"{margin}{page.paint(BLUE, '-->')} {printable(place)}"]
    label = printable(label)
    text = page.line(span)
    if text is None:
        return [*lines, f"{margin} {bar} {page.paint(code, label)}"] if label else lines
    number = page.paint(BLUE, str(span.line).rjust(gutter))
    if text == NOT_SHOWN:
        return [*lines, f"{margin} {bar}", f"{number} {bar} {text}" + (f": {page.paint(code, label)}" if label else "")]
    shown = visible(shortened(underlined(span, text)))
    before, carets = cells(shown.text[: shown.start]), "^" * max(1, cells(shown.text[shown.start : shown.end]))
    pointer = page.paint(code, f"{carets} {label}".rstrip())
    body = f"{number} {bar} {shown.text}".rstrip()
    return [*lines, f"{margin} {bar}", body, f"{margin} {bar} {' ' * before}{pointer}"]


def underlined(span: Span, text: str) -> Stretch:
    """A line, and what of the span lies on it."""
    start = min(span.column - 1, len(text))
    last = len(text.rstrip()) if span.end_line > span.line else span.end_column - 1
    return Stretch(text, start, max(start, min(last, len(text))))


def shortened(line: Stretch) -> Stretch:
    """A part of a line that is short enough to show, with marks where it was cut."""
    text, start, end = line
    if len(text) <= LONGEST_LINE:
        return line
    cut = max(0, start - LEAD)
    left = CUT if cut else ""
    right = CUT if cut + LONGEST_LINE < len(text) else ""
    shown = f"{left}{text[cut + len(left) : cut + LONGEST_LINE - len(right)]}{right}"
    return Stretch(shown, start - cut, min(end - cut, len(shown)))


def visible(line: Stretch) -> Stretch:
    """The line with a blank for each control character."""
    return line._replace(text="".join(c if c.isprintable() else " " for c in line.text))


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: East Asian characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)
