"""A comparison as a comment on a pull request: what hurts first, fields of objects behind a click, never too long.

The same change in several environments is told once. Nothing in it depends on when or where it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from kservec.compare.markdown import code, details, fenced, header, plain, row
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

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kservec.compare.objects import Changed
    from kservec.compare.report import Comparison, Report

MOST_CHARACTERS = 65_536
"""What GitHub takes as a comment."""
MARK = "<!-- kservec diff -->"
"""By this line a workflow finds the comment that it wrote before, and replaces it."""
FOOTER_ROOM = 400

T = TypeVar("T")


class Piece(NamedTuple):
    """A part of the comment that is there as a whole or not at all; `short` may stand for it where room is scarce."""

    text: str
    short: str = ""


Pieces: TypeAlias = "Iterator[Piece]"


def markdown_report(report: Report, limit: int = MOST_CHARACTERS) -> str:
    """A comparison as Markdown of at most `limit` characters, counted as bytes of UTF-8."""
    against = code(report.shown) + ("" if report.shown == report.commit else f" ({code(report.commit)})")
    start = f"{MARK}\n### kservec diff against {against}\n\n**{plain(headline(report))}**\n"
    return fitted(start, list(pieces(report)) if report.differs else [], limit)


def fitted(start: str, parts: Sequence[Piece], limit: int) -> str:
    """The start and as many parts as there is room for, and a footer that counts those that are left out."""
    room = limit - FOOTER_ROOM - size(start)
    kept = [start]
    left_out = 0
    for part in parts:
        text = next((text for text in (part.text, part.short) if text and size(text) <= room and not left_out), "")
        if text:
            kept.append(text)
            room -= size(text)
        else:
            left_out += 1
    if left_out:
        kept.append(truncated(left_out))
    return "".join(kept)


def truncated(count: int) -> str:
    """The footer of a comment that does not hold everything."""
    what = "1 entry more" if count == 1 else f"{count:,} entries more"
    return f"\n_Truncated: {what}. `kservec diff` with the same arguments and `--format text` shows all of them._\n"


def size(text: str) -> int:
    """How long a text is."""
    return len(text.encode("utf-8", "backslashreplace"))


def pieces(report: Report) -> Pieces:
    """The parts of the comment in the order of their weight."""
    for comparison in report.environments:
        if note := origin_note(comparison, report):
            yield Piece(f"\n{code(comparison.name)}: {plain(note)}\n")
    yield from finding_pieces(report)
    yield from pod_pieces(report)
    yield from traffic_pieces(report)
    yield from replica_pieces(report)
    yield from object_pieces(report)


def gathered(
    report: Report, parts: Callable[[Comparison], Sequence[T]], key: Callable[[T], Hashable]
) -> list[tuple[T, str]]:
    """Parts of all environments, alike ones once, each with the names of its environments."""
    found: dict[Hashable, tuple[T, list[str]]] = {}
    for comparison in report.environments:
        for part in parts(comparison):
            found.setdefault(key(part), (part, []))[1].append(comparison.name)
    return [(part, ", ".join(dict.fromkeys(names))) for part, names in found.values()]


def finding_pieces(report: Report) -> Pieces:
    """The warnings."""
    for finding, names in gathered(report, lambda c: c.findings, lambda f: (f.code, f.message)):
        place = f" {code(f'{finding.span.file}:{finding.span.line}')}" if finding.span else ""
        lines = (f"> ⚠️ **{plain(finding.code.title)}** ({plain(names)}){place}", plain(finding.message), finding.help)
        yield Piece(f"\n{lines[0]}\n> {lines[1]}. {plain(lines[2])}\n")


def pod_pieces(report: Report) -> Pieces:
    """The table of pods."""
    rows = gathered(report, lambda c: c.effects, lambda e: e._replace(reasons=(), owner=because(e)))
    lead = header("Pods", ("workload", "what happens", "pods", "GPUs", "because of", "environments"))
    for effect, names in rows:
        cells = (str(effect.pods), gpus_text(effect.gpus), code(because(effect)), plain(names))
        yield Piece(lead + row((code(str(effect.ref)), plain(happens(effect)), *cells)))
        lead = ""


def traffic_pieces(report: Report) -> Pieces:
    """The table of weights."""
    lead = header("Traffic", ("route", "backend", "before", "after", "environments"))
    for traffic, names in gathered(report, lambda c: c.traffic, lambda t: t):
        name = f"{traffic.ref} {rules_text(traffic)}".strip()
        sides = zip(traffic.shifts, traffic.share(after=False), traffic.share(after=True), strict=True)
        for shift, old, new in sides:
            weights = (weight_text(shift.before, old), weight_text(shift.after, new))
            yield Piece(lead + row((code(name), code(shift.backend), *weights, plain(names))))
            lead = ""


def replica_pieces(report: Report) -> Pieces:
    """The table of replicas."""
    lead = header("Replicas", ("object", "before", "after", "environments"))
    for line, names in gathered(report, lambda c: c.scaling, lambda r: r):
        yield Piece(lead + row((code(str(line.ref)), str(line.before), str(line.after), plain(names))))
        lead = ""


def object_pieces(report: Report) -> Pieces:
    """The objects, with their fields behind a click."""
    worst = {change.ref: risk(change, c.effects) for c in reversed(report.environments) for change in c.changes}
    found = gathered(report, lambda c: c.changes, lambda c: (c.ref, c.action, fields_text(c)))
    lead = "\n**Objects**\n\n"
    for change, names in sorted(found, key=lambda entry: worst[entry[0].ref]):
        summary = f"{SIGNS[change.action]} {change.ref} ({names})"
        short = f"- {code(summary)}\n"
        is_open = change.action is Action.CHANGED
        block = f"{details(summary, fenced(fields_text(change).splitlines(), 'diff'))}" if is_open else short
        yield Piece(lead + block, lead + short)
        lead = ""


def fields_text(change: Changed) -> str:
    """The fields of an object that differ, as lines."""
    return "\n".join(line for difference in change.differences for line in difference_lines(difference))
