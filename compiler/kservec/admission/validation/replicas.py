"""Replica counts and concurrency of a component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic

NEGATIVE = Code(
    "scaling/negative-count",
    Severity.ERROR,
    "a negative number of replicas or requests",
    "minReplicas, maxReplicas and containerConcurrency are 0 or more.",
)
MIN_ABOVE_MAX = Code(
    "scaling/min-above-max",
    Severity.ERROR,
    "more replicas at least than at most",
    "minReplicas is greater than maxReplicas. A maxReplicas of 0, or none, follows minReplicas.",
)
COUNTS = ("containerConcurrency", "minReplicas", "maxReplicas")


def check_counts(subject: Subject) -> Iterator[Diagnostic]:
    """The replica rules for every component."""
    for part in subject.parts:
        yield from check_part_counts(subject, part)


def check_part_counts(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: component.go, validateContainerConcurrency and validateReplicas."""
    spec = part.spec
    for field in COUNTS:
        if (spec.get(field) or 0) < 0:
            yield subject.finding(NEGATIVE, f"{field} cannot be negative", (*part.path, field), "use 0 or more")
    low, high = spec.get("minReplicas"), spec.get("maxReplicas")
    if low is not None and high and low > high >= 0:
        message = f"minReplicas ({low}) is greater than maxReplicas ({high})"
        yield subject.finding(
            MIN_ABOVE_MAX, message, (*part.path, "minReplicas"), "lower minReplicas or raise maxReplicas"
        )
