"""The words of a comparison that its reports share."""

from __future__ import annotations

import json
from difflib import unified_diff
from typing import TYPE_CHECKING

from kservec.compare.forecast import Verb
from kservec.compare.objects import Action
from kservec.compare.report import ABSENT, REBUILT
from kservec.compare.values import Change
from kservec.report.words import plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.compare.forecast import Effect
    from kservec.compare.report import Comparison, Report
    from kservec.compare.values import Difference
    from kservec.compare.weights import Traffic
    from kservec.compare.workloads import Bounds
    from kservec.core.paths import Json

LONGEST_VALUE = 160
MOST_LINES = 40
"""Lines of a long text that are shown where it changed."""
CUT = "…"
MOST_REASONS = 3
REVISION_NAME = "metadata.name"
"""It follows from what is in the revision, so it is a reason only where it is the only one."""
SIGNS = {Action.ADDED: "+", Action.REMOVED: "-", Action.CHANGED: "~"}


def value_text(value: Json) -> str:
    """A value in a line, cut where it is long."""
    text = printable(value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False))
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}{CUT}"


def difference_lines(difference: Difference) -> Iterator[str]:
    """The lines of one field that differs: a sign, a blank, the path, and the values."""
    path, before, after = printable(difference.path), difference.before, difference.after
    if difference.change is Change.MOVED:
        yield f"! {path}: the order is now {value_text(after)}"
    elif is_long(before) or is_long(after):
        yield f"! {path}:"
        yield from text_lines(str(before or ""), str(after or ""))
    else:
        if difference.change is not Change.ADDED:
            yield f"- {path}: {value_text(before)}"
        if difference.change is not Change.REMOVED:
            yield f"+ {path}: {value_text(after)}"


def is_long(value: Json) -> bool:
    """Whether a value is a text of several lines."""
    return isinstance(value, str) and "\n" in value.strip("\n")


def text_lines(before: str, after: str) -> Iterator[str]:
    """The lines in which two texts differ."""
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
    for line in lines[:MOST_LINES]:
        cut = line if len(line) <= LONGEST_VALUE else f"{line[: LONGEST_VALUE - 1]}{CUT}"
        yield f"{line[:1]}   {printable(cut[1:])}" if line[:1] in "+-" else f"    {printable(cut.lstrip())}"
    if len(lines) > MOST_LINES:
        yield f"    {plural(len(lines) - MOST_LINES, 'more line')}"


def because(effect: Effect) -> str:
    """The fields for which pods are new, in short."""
    found = dict.fromkeys(short_path(reason) for reason in effect.reasons)
    fields = [field for field in found if field != REVISION_NAME] or list(found)
    more = len(fields) - MOST_REASONS
    return ", ".join(fields[:MOST_REASONS]) + (f" and {more} more" if more > 0 else "")


def short_path(reason: Difference) -> str:
    """The path of a field below its pod template."""
    path = reason.path.removeprefix("spec.").removeprefix("leaderWorkerTemplate.").removeprefix("template")
    return path.removeprefix(".").removeprefix("spec.") or "the template"


def gpus_text(bounds: Bounds) -> str:
    """A number of GPUs; empty for none."""
    return "" if not bounds.most and bounds.most is not None and not bounds.least else str(bounds)


def happens(effect: Effect) -> str:
    """What happens to a workload's pods, in a word or two."""
    return f"renamed to {effect.becomes}" if effect.verb is Verb.RENAMED else effect.verb.value


def weight_text(weight: int | None, share: float) -> str:
    """A weight and the share that it is."""
    return "" if weight is None else f"{weight} ({share:.3g}%)"


def rules_text(traffic: Traffic) -> str:
    """The rules of a row of traffic, in short."""
    rules = [rule for rule in traffic.rules if rule]
    first = value_text(rules[0]) if rules else ""
    return f"{first} and {plural(len(rules) - 1, 'more rule')}" if len(rules) > 1 else first


def origin_note(comparison: Comparison, report: Report) -> str:
    """What is to be said of where the old tree comes from; empty if it was committed."""
    if comparison.gone:
        return f"not an environment any more; it was at {report.shown}"
    if comparison.origin == ABSENT:
        return f"not at {report.shown}, so all of it is new"
    if comparison.origin == REBUILT:
        return f"no tree was committed at {report.shown}; compared with a build of its sources"
    return ""


def headline(report: Report) -> str:
    """The whole comparison in a sentence."""
    if not report.differs:
        return "nothing changes"
    counts = [(report.count(action), action.value) for action in (Action.CHANGED, Action.ADDED, Action.REMOVED)]
    objects = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    parts = [f"objects: {objects}" if objects else "only how files are written changes", *pods_summary(report)]
    return "; ".join(parts)


def pods_summary(report: Report) -> Iterator[str]:
    """What happens to pods, in a few words each."""
    interrupted = report.interrupted
    gpus = sum(effect.gpus.least for effect in interrupted)
    touched = f" ({'at least ' if any(e.gpus.most != e.gpus.least for e in interrupted) else ''}{plural(gpus, 'GPU')})"
    if interrupted:
        yield f"{plural(len(interrupted), 'workload')} restart{'s' if len(interrupted) == 1 else ''}" + (
            touched if gpus else ""
        )
    else:
        yield "no pod restarts"
    for verb, words in ((Verb.STARTED, "start"), (Verb.RENAMED, "move"), (Verb.REMOVED, "go")):
        count = len(report.effects(verb))
        if count:
            yield f"{count:,} {words if count > 1 else f'{words}es' if words == 'go' else f'{words}s'}"
    if moves := sum(len(e.traffic) for e in report.environments):
        yield f"traffic moves in {plural(moves, 'place')}"
