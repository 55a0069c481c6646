"""Conditions: GJSON paths that hold when they find something, in the request (Switch) or the reply (Sequence)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.records import evolve
from kservec.spec.graph import SEQUENCE, SWITCH
from kservec.spec.graph_texts import condition_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject, Place
    from kservec.core.diagnostics import Diagnostic

SYNTAX = Code(
    "graph/condition-syntax",
    Severity.ERROR,
    "a condition that cannot be read",
    "Conditions are GJSON paths. GJSON takes any text and then finds nothing; what looks like JSONPath, or has "
    "brackets that are not closed, cannot have been meant as one.",
)
NO_RESPONSE = Code(
    "graph/condition-without-response",
    Severity.ERROR,
    "a condition on the first step of a Sequence",
    "In a Sequence a condition is held against the reply of the step before. The first step has none before it, and "
    "KServe's router answers every request with status 500. To choose by the request, use a Switch.",
)
NO_CONDITION = Code(
    "graph/condition-missing",
    Severity.WARNING,
    "a step of a Switch that is never taken",
    "A Switch takes the first step whose condition holds. A step without one is not the default: it is never taken. "
    "For a default write a condition that every request meets, such as `@this`, on the last step.",
)
REPEATED = Code(
    "graph/condition-repeated",
    Severity.WARNING,
    "a condition that an earlier step of the Switch has",
    "A Switch takes the first step whose condition holds, so that a later one with the same condition is never taken.",
)
DOUBTFUL = Code(
    "graph/condition-doubtful",
    Severity.WARNING,
    "a condition that is read otherwise than it looks",
    'GJSON compares inside of queries alone: `kind=="a"` is the name of a member, `[@this].#(kind=="a")` compares. A '
    "query has one comparison, without && and ||, and texts stand in double quotes.",
)

_find_strings = re.compile(r'"(?:[^"\\]|\\.)*+"?|\\.', re.DOTALL)
_find_brackets = re.compile(r"[\[({][^\[\](){}]*[\])}]")
_compares = re.compile(r"[=!<>]=|[<>]").search
_joins = re.compile(r"&&|\|\|").search
_quotes = re.compile(r"[=<>%]\s*'").search


def check_conditions(subject: GraphSubject) -> Iterator[Diagnostic]:
    """Conditions where they are heeded."""
    first: dict[tuple[str, str], Place] = {}
    for place in subject.places():
        text, kind = place.step.condition, place.router.router_type
        if kind == SWITCH and not text:
            message = f"{place} is never taken: it has no condition"
            yield subject.site.finding(NO_CONDITION, message, place.path, "write condition: '@this' for a default")
        if kind not in (SEQUENCE, SWITCH) or not text:
            continue
        yield from check_condition(subject, place)
        other = first.setdefault((place.node, text), place) if kind == SWITCH else place
        if other is not place:
            yield repeated(subject, place, other)


def check_condition(subject: GraphSubject, place: Place) -> Iterator[Diagnostic]:
    """One condition."""
    text, path = place.step.condition, (*place.path, "condition")
    if place.router.router_type == SEQUENCE and place.number == 0:
        message = f"{place}: no reply comes before it that a condition could be held against"
        yield subject.site.finding(NO_RESPONSE, message, path, "remove it, or choose by the request in a Switch")
    problem, doubt = condition_problem(text), doubtful(text)
    if problem is not None:
        yield subject.site.finding(SYNTAX, f"{place}: condition {text!r}: {problem}", path, "write a GJSON path")
    elif doubt:
        reason, hint = doubt
        yield subject.site.finding(DOUBTFUL, f"{place}: condition {text!r}: {reason}", path, hint)


def repeated(subject: GraphSubject, place: Place, other: Place) -> Diagnostic:
    """The warning that names both steps."""
    message = f"{place} is never taken: step {other.number} has the same condition"
    found = subject.site.finding(REPEATED, message, (*place.path, "condition"), "correct one of them")
    return evolve(found, related=((subject.site.source.span(*other.path, "condition"), "the first is here"),))


def doubtful(text: str) -> tuple[str, str] | None:
    """Why a condition is probably meant otherwise than it is read, and what to write; None where nothing is odd."""
    bare = _find_strings.sub('""', text)
    if _joins(bare):
        return "GJSON knows no && and ||, and takes them for text", "write one comparison, or a Switch in a Switch"
    if _quotes(bare):
        return "single quotes are part of the text that is compared with", "use double quotes"
    outside, before = bare, ""
    while outside != before:
        before, outside = outside, _find_brackets.sub("", outside)
    if _compares(outside):
        return "outside of a query this is the name of a member, and compares nothing", f"write [@this].#({text})"
    return None
