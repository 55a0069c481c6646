"""A comparison as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.objects import Action
from kservec.compare.phrases import (
    SIGNS,
    because,
    difference_lines,
    gpus_text,
    happens,
    headline,
    origin_note,
    rules_text,
    weight_text,
)
from kservec.compare.report import risk
from kservec.report.words import NAMES, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.compare.report import Comparison, Report

LEAD = "      "


def text_report(report: Report) -> str:
    """A comparison as text: for each environment warnings, pods, traffic, replicas, then the objects with their fields.

    What is most likely to hurt comes first.
    """
    lines = [line for comparison in merged(report.environments) for line in environment_lines(comparison, report)]
    against = report.shown if report.shown == report.commit else f"{report.shown} ({report.commit})"
    return "".join(f"{printable(line)}\n" for line in (*lines, f"against {against}: {headline(report)}"))


def merged(environments: Sequence[Comparison]) -> list[Comparison]:
    """The environments, those in which the same is different as one."""
    found: list[tuple[Comparison, list[Comparison]]] = []
    for comparison in environments:
        nameless = comparison._replace(name="", output="")
        alike = next((members for other, members in found if other == nameless), None)
        if alike is None:
            found.append((nameless, [comparison]))
        else:
            alike.append(comparison)
    return [
        c._replace(name=", ".join(m.name for m in all_), output=", ".join(m.output for m in all_)) for c, all_ in found
    ]


def environment_lines(comparison: Comparison, report: Report) -> Iterator[str]:
    """The lines of one environment; none if nothing is different."""
    if not comparison.differs:
        return
    note = origin_note(comparison, report)
    yield f"{comparison.name} ({comparison.output})" + (f": {note}" if note else "")
    for finding in comparison.findings:
        yield f"  {NAMES[finding.code.severity]}[{finding.code.slug}]: {finding.message}"
        yield f"{LEAD}help: {finding.help}"
    yield from pod_lines(comparison)
    yield from traffic_lines(comparison)
    for row in comparison.scaling:
        yield f"  replicas: {row.ref}: {row.before} -> {row.after}"
    for change in sorted(comparison.changes, key=lambda c: risk(c, comparison.effects)):
        word = "" if change.action is Action.CHANGED else f" ({change.action.value})"
        yield f"  {SIGNS[change.action]} {change.ref}{word}"
        yield from (f"{LEAD}{line}" for d in change.differences for line in difference_lines(d))
    if not comparison.changes:
        yield f"  {plural(comparison.files, 'file')} differ in how they are written alone"
    yield ""


def pod_lines(comparison: Comparison) -> Iterator[str]:
    """What happens to pods."""
    for effect in comparison.effects:
        gpus = gpus_text(effect.gpus)
        size = f"pods: {effect.pods}" + (f", GPUs: {gpus}" if gpus else "")
        reason = because(effect)
        yield f"  pods of {effect.ref}: {happens(effect)} ({size})" + (f", because of {reason}" if reason else "")


def traffic_lines(comparison: Comparison) -> Iterator[str]:
    """Which weights move."""
    for row in comparison.traffic:
        rules = rules_text(row)
        yield f"  traffic of {row.ref}" + (f", {rules}" if rules else "")
        for shift, old, new in zip(row.shifts, row.share(after=False), row.share(after=True), strict=True):
            before, after = weight_text(shift.before, old) or "none", weight_text(shift.after, new) or "none"
            yield f"{LEAD}{shift.backend}: {before} -> {after}"
