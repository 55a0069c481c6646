"""What must hold of every build: sound findings, nothing beside errors, and output that is whole."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from fuzz.building import Built, Made
from fuzz.inputs import Input
from kservec.core.diagnostics import Diagnostic, Span
from kservec.core.text.source import parse
from kservec.emit import dump
from kservec.gitops.layout import SINGLE
from kservec.gitops.rendered import LONGEST_NAME, Rendered
from kservec.io.packaged import packaged_schemas
from kservec.report.github import github_report
from kservec.report.json import json_report
from kservec.report.junit import junit_report
from kservec.report.sarif import sarif_report
from kservec.report.text import text_report

CODES = Path(__file__).parents[1] / "docs" / "diagnostics.md"
_split_lines = re.compile(r"\r\n|\r|\n").split


def faults(given: Input, built: Built, *, thorough: bool) -> Iterator[str]:
    """Everything that must not be so, each as one sentence that begins with what kind of fault it is.

    `thorough`: all kinds of reports are looked at, and not just the one for people.
    """
    if built.refused:
        return
    errors = [d for d in built.diagnostics if d.is_error]
    if bool(errors) == built.ok:
        yield f"verdict: ok is {built.ok}, and there are {len(errors)} errors"
    if errors and built.made:
        yield f"partial output: {len(built.objects)} objects beside {errors[0].code.slug}"
    for finding in built.diagnostics:
        yield from finding_faults(finding, built)
    for made in built.made:
        yield from output_faults(made)
    yield from report_faults(given, built, thorough=thorough)


@cache
def codes() -> frozenset[str]:
    """The documented codes."""
    return frozenset(re.findall(r"^### (\S+)$", CODES.read_text(encoding="utf-8"), re.MULTILINE))


def finding_faults(finding: Diagnostic, built: Built) -> Iterator[str]:
    """What is wrong with one finding: its code, its text, its places."""
    slug = finding.code.slug
    if slug not in codes():
        yield f"code: {slug} is not documented"
    if not finding.message.strip():
        yield f"message: {slug} says nothing"
    for span in finding.spans:
        if span.line:
            yield from span_faults(span, slug, built)


def span_faults(span: Span, slug: str, built: Built) -> Iterator[str]:
    """What is wrong with one place: it is outside of the text, or ends before it begins."""
    text = built.texts.get(span.file)
    if text is None:
        yield f"span: {slug} is in a file that was not given: {span.file!r}"
        return
    lines = _split_lines(text)
    if not (1 <= span.line <= span.end_line <= len(lines) + 1):
        yield f"span: {slug} is at lines {span.line} to {span.end_line} of {len(lines)}"
    elif not 1 <= span.column <= len(lines[span.line - 1] if span.line <= len(lines) else "") + 1:
        yield f"span: {slug} is at column {span.column} of {lines[span.line - 1]!r}"
    elif span.end_line == span.line and span.end_column < span.column:
        yield f"span: {slug} ends in column {span.end_column} and begins in column {span.column}"


def output_faults(made: Made) -> Iterator[str]:
    """What is wrong with what one environment gives: objects that are no good or there twice, and files."""
    objects: list[Any] = []
    for rendered in made.objects:
        yield from object_faults(rendered, objects)
    again = [ref for ref, count in Counter(map(identity, objects)).items() if count > 1]
    if again:
        yield f"identity twice: {again[0]}"
    for path in made.tree:
        parts = path.split("/")
        if not path.isprintable() or any(p in ("", ".", "..") or len(p.encode()) > LONGEST_NAME for p in parts):
            yield f"path: {path!r} is no good path of a file"
    if SINGLE not in made.tree and any(rendered.path not in made.tree for rendered in made.objects):
        yield "path: an object is in no file"


def object_faults(made: Rendered, objects: list[Any]) -> Iterator[str]:
    """What is wrong with one object; what it is when it is read again is added to `objects`."""
    documents, found = parse(made.text.encode(), "made.yaml")
    value = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, dict) or found:
        yield f"unreadable: {made.ref.kind} gives {len(documents)} documents, {[d.code.slug for d in found]}"
        return
    objects.append(value)
    if dump(value) != made.text:
        yield f"round trip: {made.ref.kind} is not what it was when it is read and written again"
    metadata = value.get("metadata", {})
    if (value.get("apiVersion"), value.get("kind"), metadata.get("name")) != (
        made.ref.api_version,
        made.ref.kind,
        made.ref.name,
    ):
        yield f"identity: {made.ref} is in truth {identity(value)}"
    if metadata.get("namespace", "") != made.ref.namespace:
        yield f"namespace: {made.ref} is in truth in {metadata.get('namespace')!r}"
    if packaged_schemas().knows(made.ref.api_version, made.ref.kind):
        wrong = packaged_schemas().output_errors(value, made.ref.api_version, made.ref.kind)
        if wrong:
            yield f"structure: {made.ref.kind} is no valid one: {wrong[0]}"


def peer_faults(built: Built) -> Iterator[str]:
    """What another reader of YAML makes of an object, if that is not the same."""
    for made in built.objects:
        ours = parse(made.text.encode(), "made.yaml")[0][0].value
        theirs = yaml.load(made.text, Loader=yaml.CSafeLoader)
        if ours != theirs:
            yield f"other reader: {made.ref.kind} is something else for PyYAML"


def identity(value: Any) -> tuple[str, ...]:
    """What tells an object from others: its version does not count."""
    metadata = value.get("metadata") or {}
    group = str(value.get("apiVersion")).rpartition("/")[0]
    return group, str(value.get("kind")), str(metadata.get("namespace")), str(metadata.get("name"))


def report_faults(given: Input, built: Built, *, thorough: bool) -> Iterator[str]:
    """What is wrong with the reports about a build, and with what they and the output show of secrets."""
    found, sources = built.diagnostics, built.sources
    texts = {"text": text_report(found, sources)}
    if not texts["text"].replace("\n", "").isprintable():
        yield "report: the text has control characters"
    if thorough or given.secrets:
        texts["json"], texts["sarif"] = json_report(found), sarif_report(found)
        texts["github"], texts["junit"] = github_report(found), junit_report(found, sources)
        if len(json.loads(texts["json"])["diagnostics"]) != len(found):
            yield "report: the JSON has not all findings"
        json.loads(texts["sarif"])
        ElementTree.fromstring(texts["junit"])  # noqa: S314 - it is our own
        if any(not line.startswith("::") for line in texts["github"].splitlines()):
            yield "report: a line of the annotations is no workflow command"
    if given.secrets:
        texts["output"] = "".join(c.decode() for made in built.made for c in made.tree.values())
        for name, text in texts.items():
            if any(secret in text for secret in given.secrets):
                yield f"secret: the value of a Secret is in the {name}"
