"""How many pods may be missing, or too many, while a new version is rolled out.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, ValidateWorkloadRolloutFields
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.digits import integer

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject, Workload
    from kservec.core.tree import Json

FIELDS: Final = ("maxUnavailable", "maxSurge")
LONGEST: Final = 19
"""No number of so many digits is a percentage that counts."""

LARGEST: Final = 2**31 - 1
"""Kubernetes: IntOrString, whose numbers have 32 bits."""

NUMBER = Code(
    "llm/rollout-number",
    Severity.ERROR,
    "a rollout number that is no number and no percentage",
    "maxSurge and maxUnavailable take a whole number, or a percentage up to 100% as text.",
)
STUCK = Code(
    "llm/rollout-stuck",
    Severity.ERROR,
    "a rollout that never goes on",
    "A rollout must be allowed to have a pod less or a pod more. Of one replica maxUnavailable is 0 for every "
    "percentage below 100%. On several nodes maxSurge counts as 0 where it is left out.",
)
_is_percentage = re.compile(r"[0-9]+%").fullmatch


def check_rollout(subject: Subject) -> Iterator[Diagnostic]:
    """The rollout strategy of each workload."""
    for workload in subject.workloads:
        strategy = workload.spec.get("rolloutStrategy")
        if strategy is None:
            continue
        wrong = [*check_numbers(subject, workload, strategy)]
        yield from wrong or check_progress(subject, workload, strategy)


def check_numbers(subject: Subject, workload: Workload, strategy: Json) -> Iterator[Diagnostic]:
    """Numbers and percentages that cannot be."""
    for field in FIELDS:
        problem = problem_of(strategy.get(field))
        if problem:
            path = (*workload.path, "rolloutStrategy", field)
            yield subject.finding(NUMBER, f"{field} {problem}", path, "write a number, or a percentage such as 25%")


def problem_of(number: Json) -> str:
    """What is wrong with a number or percentage; empty if nothing is."""
    if isinstance(number, str):
        if not _is_percentage(number):
            return f'is the text "{number}"'
        return f"is {number}" if len(number) > LONGEST or integer(number[:-1]) > 100 else ""
    return f"is {number}" if number is not None and not 0 <= number <= LARGEST else ""


def check_progress(subject: Subject, workload: Workload, strategy: Json) -> Iterator[Diagnostic]:
    """A pod less or a pod more, even of one replica."""
    path = (*workload.path, "rolloutStrategy")
    surge = strategy.get("maxSurge")
    if not is_none_less(strategy.get("maxUnavailable")):
        return
    if surge is not None and is_none_more(surge):
        message = f"a rollout of {workload.name} may have neither a pod less nor a pod more"
        yield subject.finding(STUCK, message, path, "raise maxSurge or maxUnavailable")
    elif surge is None and workload.is_multi_node:
        message = f"a rollout of {workload.name} may have no pod less, and does not say how many more"
        yield subject.finding(STUCK, message, (*path, "maxUnavailable"), "set maxSurge, or raise maxUnavailable")


def is_none_less(unavailable: Json) -> bool:
    """Whether a maxUnavailable comes to no pod at all where there is one; shares of a pod are rounded down."""
    if isinstance(unavailable, str):
        return integer(unavailable[:-1]) < 100
    return unavailable is not None and unavailable == 0


def is_none_more(surge: Json) -> bool:
    """Whether a maxSurge comes to no pod at all; shares of a pod are rounded up."""
    return (integer(surge[:-1]) if isinstance(surge, str) else surge) == 0
