"""Diagnostics as JUnit XML, which CI systems show as a test report: errors are failed tests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from kservec.core.diagnostics import Span
from kservec.report.text import text_report
from kservec.report.words import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic

SUITE = "kservec"
WHOLE_RUN = "(the whole run)"
PASSED = f'<testcase classname="{SUITE}" name="no errors"/>'


def junit_report(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> str:
    """A suite with a failed test for each error, or a passed one if there is none: an empty suite looks like a mishap.

    Warnings and notes are in the output of the suite. Names hold no line numbers, so that CI systems recognise a
    failure when lines move.

    Args:
        diagnostics: in the order in which they are shown.
        sources: the texts of the files that they point into, by name.
    """
    errors = [d for d in diagnostics if d.is_error]
    cases = list(failures(errors, sources)) or [PASSED]
    counts = f'tests="{len(cases)}" failures="{len(errors)}" errors="0" skipped="0"'
    body = "".join(f"    {case}\n" for case in cases)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="{SUITE}" {counts}>\n'
        f'  <testsuite name="{SUITE}" {counts}>\n{body}{remarks(diagnostics, sources)}  </testsuite>\n</testsuites>\n'
    )


def file_of(diagnostic: Diagnostic) -> str:
    """The file that is to blame."""
    return diagnostic.span.file if diagnostic.span is not None else WHOLE_RUN


def failures(errors: Sequence[Diagnostic], sources: Mapping[str, str]) -> Iterator[str]:
    """A failed test for each error; equal names are told apart by a count."""
    seen: Counter[tuple[str, str]] = Counter()
    for error in errors:
        file, name = file_of(error), f"{error.code.slug}: {error.message}"
        seen[file, name] += 1
        if seen[file, name] > 1:
            name = f"{name} ({seen[file, name]})"
        place = error.span or Span("")
        where = f" file={attribute(place.file)}" if place.file else ""
        where += f' line="{place.line}"' if place.line else ""
        body = escape(shown(error, sources))
        yield (
            f"<testcase classname={attribute(file)} name={attribute(name)}{where}>"
            f"<failure type={attribute(error.code.slug)} message={attribute(error.message)}>{body}</failure></testcase>"
        )


def remarks(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> str:
    """Warnings and notes, as output of the suite."""
    texts = [shown(d, sources) for d in diagnostics if not d.is_error]
    return f"    <system-out>{escape(chr(10).join(texts))}</system-out>\n" if texts else ""


def shown(diagnostic: Diagnostic, sources: Mapping[str, str]) -> str:
    """A finding as people read it."""
    named = {span.file: sources[span.file] for span in diagnostic.spans if span.file in sources}
    text = text_report([diagnostic], named).rstrip("\n")
    return "\n".join(map(printable, text.split("\n")))


def attribute(text: str) -> str:
    """A text as the value of an attribute."""
    return quoteattr(printable(text))
