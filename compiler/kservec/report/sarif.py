"""Diagnostics as SARIF 2.1.0, the format that code scanning reads: GitHub, GitLab, Azure DevOps, editors.

Every finding is placed at the line of the input. Its fingerprint does not depend on lines, so that a finding stays the
same one when text is added above it. What GitHub would refuse for its size or drop unseen is left out, the least bad
first, and that is told.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kservec._version import __version__
from kservec.core.diagnostics import Severity, Span
from kservec.report.words import NAMES, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec.core.diagnostics import Code, Diagnostic, ObjectRef

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HOME = "https://github.com/kservec/kservec"
ROOT = "%SRCROOT%"
"""What files are relative to: the top of the repository."""
NOWHERE = "kservec.yaml"
"""Where a finding is shown that no file is to blame for: GitHub refuses findings without a place."""
MOST_RESULTS = 5_000
"""GitHub shows no more, and takes 25,000."""
MOST_BYTES = 9_500_000
"""GitHub takes 10 MB after compression; here it is counted before."""
FINGERPRINT = "kservec/v1"


def sarif_report(diagnostics: Sequence[Diagnostic]) -> str:
    """One SARIF log with one run. Lines and columns count from 1, in code points; ends are after the last character."""
    ranked = sorted(diagnostics, key=lambda d: -d.code.severity)[:MOST_RESULTS]
    codes = sorted({d.code for d in ranked})
    results = list(within(MOST_BYTES, results_of(ranked, {code: i for i, code in enumerate(codes)})))
    run = {
        "tool": {"driver": driver(codes)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "the top of the repository"}}},
        "invocations": [invocation(len(diagnostics) - len(results))],
        "results": results,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=True, separators=(",", ":")) + "\n"


def driver(codes: Sequence[Code]) -> dict[str, Any]:
    """The tool, and what its codes mean."""
    return {
        "name": "kservec",
        "informationUri": HOME,
        "semanticVersion": __version__,
        "rules": [rule(code) for code in codes],
    }


def rule(code: Code) -> dict[str, Any]:
    """What one code means, and what to do about it."""
    uri = f"{HOME}/blob/v{__version__}/docs/diagnostics.md#{code.slug.replace('/', '')}"
    return {
        "id": code.slug,
        "name": "".join(part.capitalize() for part in re.split("[/-]", code.slug)),
        "shortDescription": {"text": f"{code.title[:1].upper()}{code.title[1:]}."},
        "fullDescription": {"text": code.about or code.title},
        "help": {"text": code.about or code.title, "markdown": f"{code.about or code.title}\n\n[{code.slug}]({uri})"},
        "helpUri": uri,
        "defaultConfiguration": {"level": NAMES[code.severity]},
        "properties": {"tags": [code.slug.partition("/")[0]], "problem.severity": severity_word(code.severity)},
    }


def severity_word(severity: Severity) -> str:
    """A severity as GitHub calls it."""
    return "recommendation" if severity is Severity.NOTE else NAMES[severity]


def invocation(left_out: int) -> dict[str, Any]:
    """How the run went: well, and whether findings were left out."""
    if not left_out:
        return {"executionSuccessful": True}
    text = f"{plural(left_out, 'finding')} left out, the least bad; run kservec lint to see all of them"
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": text}}],
    }


def results_of(diagnostics: Iterable[Diagnostic], rules: dict[Code, int]) -> Iterator[dict[str, Any]]:
    """Each finding as a result. Equal ones are told apart by a count."""
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        mark = fingerprint(diagnostic)
        seen[mark] += 1
        yield result(diagnostic, rules[diagnostic.code]) | {
            "partialFingerprints": {FINGERPRINT: f"{mark}:{seen[mark]}"}
        }


def fingerprint(diagnostic: Diagnostic) -> str:
    """What identifies a finding: what is wrong, in which file, with which object; not the line."""
    file = (diagnostic.span or Span("")).file
    parts = (diagnostic.code.slug, file, str(diagnostic.subject or ""), diagnostic.message)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def result(diagnostic: Diagnostic, rule_index: int) -> dict[str, Any]:
    """One finding."""
    lines = [diagnostic.message, *diagnostic.help.splitlines()]
    made: dict[str, Any] = {
        "ruleId": diagnostic.code.slug,
        "ruleIndex": rule_index,
        "level": NAMES[diagnostic.code.severity],
        "message": {"text": "\n".join(map(printable, lines))},
        "locations": [place(diagnostic.span or Span(NOWHERE), diagnostic.subject)],
    }
    if diagnostic.related:
        made["relatedLocations"] = [
            place(span, None) | {"id": i, "message": {"text": printable(text)}}
            for i, (span, text) in enumerate(diagnostic.related, start=1)
        ]
    return made


def place(span: Span, subject: ObjectRef | None) -> dict[str, Any]:
    """A place in a file; of the whole file it is the first line, since GitHub wants one."""
    made: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(span.file, safe="/", errors="backslashreplace"), "uriBaseId": ROOT},
            "region": region(span),
        }
    }
    if subject is not None:
        named = "/".join(part for part in (subject.namespace, subject.kind, subject.name) if part)
        made["logicalLocations"] = [{"fullyQualifiedName": named, "kind": "object"}]
    return made


def region(span: Span) -> dict[str, int]:
    """A stretch of text."""
    numbers = {
        "startLine": max(span.line, 1),
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {name: number for name, number in numbers.items() if number > 0}


def within(most: int, results: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """As many results as fit into a number of bytes; what rules take is small and bounded."""
    used = 0
    for one in results:
        used += len(json.dumps(one, ensure_ascii=True, separators=(",", ":"))) + 1
        if used > most:
            return
        yield one
