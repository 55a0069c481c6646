"""What an upgrade does, as text, as Markdown, and as JSON: by cause, what needs a hand first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.json_report import API_VERSION, bounds, pods
from kservec.compare.markdown import code, details, fenced, header, plain, row
from kservec.compare.markdown_report import MARK, MOST_CHARACTERS, Piece, fitted
from kservec.compare.phrases import value_text
from kservec.compare.upgrade import gpus_of, pods_of
from kservec.core.tree import Layer
from kservec.report.json import entry, identity
from kservec.report.words import NAMES, json_text, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.compare.upgrade import Cause, Preview
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.paths import Json

LEAD = "      "
SHOWN = 3
OWN = "kservec"
"""What stands for the place of a value that was written nowhere."""
MOST_SERVICES = 200
"""Services that Markdown lists for a cause."""


def text_of_upgrade(previews: Sequence[Preview], against: str) -> str:
    """What an upgrade does, for a terminal.

    Args:
        previews: the environments.
        against: what they are compared with, in words.
    """
    lines = [line for preview in previews for line in preview_lines(preview)]
    ends = (f"{p.comparison.name}, against {against}: {summary(p)}" for p in previews)
    return "".join(f"{printable(line)}\n" for line in (*lines, *ends))


def preview_lines(preview: Preview) -> Iterator[str]:
    """The lines of one environment; none if nothing is different."""
    if not preview.differs:
        return
    yield f"{preview.comparison.name} ({preview.comparison.output}): {preview.to}"
    if preview.by_hand:
        yield f"  needs a change by hand: {', '.join(preview.refused) or 'the environment'}"
        for finding in preview.by_hand:
            yield from (f"    {line}" for line in finding_lines(finding))
    for finding in (*preview.comparison.findings, *preview.warnings):
        yield from (f"  {line}" for line in finding_lines(finding))
    for cause in preview.causes:
        yield f"  {title(cause)}"
        if values := values_text(cause):
            yield f"{LEAD}{values}"
        yield f"{LEAD}{consequence(cause)}: {some(cause.services)}"
    yield ""


def finding_lines(finding: Diagnostic) -> Iterator[str]:
    """A finding: where it is, what it is, and what to do."""
    place = f"{finding.span.file}:{finding.span.line}: " if finding.span is not None else ""
    yield f"{place}{NAMES[finding.code.severity]}[{finding.code.slug}]: {finding.message}"
    if finding.help:
        yield f"    help: {finding.help}"


def title(cause: Cause) -> str:
    """A cause in a line: its place, else its layer, and the field that changes."""
    span = cause.place.span
    layer = OWN if cause.place.layer == Layer.PASS else cause.place.layer
    where = f"{span.file}:{span.line}" if span is not None else layer
    return f"{where}: {cause.field}" if where else cause.field


def values_text(cause: Cause) -> str:
    """How a value changes; empty for objects that come or go."""
    if cause.before is None and cause.after is None:
        return ""
    before = "nothing" if cause.before is None else value_text(cause.before)
    after = "nothing" if cause.after is None else value_text(cause.after)
    more = f", and {plural(cause.values - 1, 'other value')}" if cause.values > 1 else ""
    return f"{before} -> {after}{more}"


def consequence(cause: Cause) -> str:
    """What a cause leads to, in words."""
    services = plural(len(cause.services), "service") if cause.services else plural(len(cause.changes), "object")
    if not cause.interrupted:
        verbs = sorted({effect.verb.value for effect in cause.effects})
        return f"{services}, {' and '.join(verbs)}" if verbs else f"{services}, no pod restarts"
    return f"{services}, {restarts_text(cause)}"


def restarts_text(of: Cause | Preview) -> str:
    """How many workloads restart, with their pods and GPUs."""
    found = of.interrupted
    count = f"{plural(len(found), 'workload')} {'restarts' if len(found) == 1 else 'restart'}"
    size, gpus = pods_of(found), gpus_of(found)
    pods = f"pods: {size}" if size is not None else ""
    some_gpus = f"GPUs: at least {gpus}" if gpus else ""
    inside = ", ".join(part for part in (pods, some_gpus) if part)
    return f"{count} ({inside})" if inside else count


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def summary(preview: Preview) -> str:
    """The whole preview in a sentence."""
    if not preview.differs:
        return "nothing changes"
    services = {owner for cause in preview.causes for owner in cause.services}
    verb = "changes" if len(services) < 2 else "change"
    parts = [
        f"{plural(len(services), 'service') if services else 'no service'} {verb}",
        restarts_text(preview) if preview.interrupted else "no pod restarts",
        f"{plural(len(preview.refused), 'object')} refused" if preview.refused else "",
    ]
    return "; ".join(part for part in parts if part)


def markdown_of_upgrade(previews: Sequence[Preview], against: str, limit: int = MOST_CHARACTERS) -> str:
    """What an upgrade does, for a comment or an issue of at most `limit` characters, counted as bytes of UTF-8."""
    start = f"{MARK}\n### kservec upgrade, against {code(against)}\n"
    return fitted(start, [piece for preview in previews for piece in preview_pieces(preview)], limit)


def preview_pieces(preview: Preview) -> Iterator[Piece]:
    """The parts of the comment about one environment in the order of their weight."""
    yield Piece(f"\n**{plain(preview.comparison.name)}**: {plain(preview.to)}. {plain(summary(preview))}\n")
    for finding in (*preview.by_hand, *preview.comparison.findings, *preview.warnings):
        yield Piece(f"\n> {plain(' '.join(finding_lines(finding)))}\n")
    lead = header("Causes", ("because of", "change", "services", "restarts", "GPUs"))
    for cause in preview.causes:
        size = gpus_of(cause.interrupted)
        numbers = (f"{len(cause.services):,}", f"{len(cause.interrupted):,}", str(size) if size else "")
        yield Piece(lead + row((code(title(cause)), code(values_text(cause)), *numbers)))
        lead = ""
    for cause in (cause for cause in preview.causes if cause.services):
        more = len(cause.services) - MOST_SERVICES
        names = (*cause.services[:MOST_SERVICES], *([f"and {more:,} more"] if more > 0 else []))
        yield Piece("\n" + details(title(cause), fenced(names, "")))


def json_of_upgrade(previews: Sequence[Preview], against: str) -> str:
    """What an upgrade does, for programs. Its schema is docs/schemas/upgrade.json; fields are added, never renamed."""
    document = {
        "apiVersion": API_VERSION,
        "kind": "UpgradePreview",
        "against": against,
        "differs": any(preview.differs for preview in previews),
        "environments": [environment(preview) for preview in previews],
    }
    return json_text(document)


def environment(preview: Preview) -> Json:
    """One environment."""
    return {
        "name": preview.comparison.name,
        "output": preview.comparison.output,
        "to": preview.to,
        "restarts": len(preview.interrupted),
        "gpus": gpus_of(preview.interrupted),
        "byHand": [entry(finding) for finding in preview.by_hand],
        "warnings": [entry(finding) for finding in (*preview.comparison.findings, *preview.warnings)],
        "causes": [cause_entry(cause) for cause in preview.causes],
        "pods": [pods(effect) for effect in preview.comparison.effects],
    }


def cause_entry(cause: Cause) -> Json:
    """One cause."""
    span, size = cause.place.span, pods_of(cause.interrupted)
    return {
        "layer": cause.place.layer or None,
        "file": span.file if span is not None else None,
        "line": span.line if span is not None else None,
        "field": cause.field,
        "before": cause.before,
        "after": cause.after,
        "values": cause.values,
        "services": list(cause.services),
        "objects": [identity(change.ref) for change in cause.changes],
        "restarts": [identity(effect.ref) for effect in cause.interrupted],
        "pods": bounds(size) if size is not None else None,
        "gpus": gpus_of(cause.interrupted),
    }
