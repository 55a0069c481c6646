"""The rules and their names: those of the project file, of annotations and of the code are the same."""

from __future__ import annotations

from typing import get_args

import pytest

from kservec.core.diagnostics import Diagnostic, Severity
from kservec.core.policy import RULES_OF_OBJECTS, Policy
from kservec.policy.images import IMAGE_DIGEST, IMAGE_TAG
from kservec.policy.judging import CHECKS, graded, severity_of
from kservec.policy.pod_security import POD_SECURITY
from kservec.policy.pools import CAPACITY, POOL_CHECKS
from kservec.policy.quotas import LIMIT_RANGE, QUOTA_AT_MAX, QUOTA_EXCEEDED, QUOTA_UNSTATED
from kservec.policy.remote_code import UNPINNED
from kservec.policy.waivers import WAIVER_EXPIRED, WAIVER_UNUSED
from kservec.project.lock import LOCK_STALE
from kservec.spec.policy import Rules, WaivableName, code_of

OF_OBJECTS = {code.slug for _, codes in (*CHECKS, *POOL_CHECKS) for code in codes}
OF_NAMESPACES = {code.slug for code in (QUOTA_EXCEEDED, QUOTA_AT_MAX, QUOTA_UNSTATED, LIMIT_RANGE)}
OF_POOLS = {code.slug for code in CAPACITY} - OF_OBJECTS
OF_WAIVERS = {WAIVER_EXPIRED.slug, WAIVER_UNUSED.slug, LOCK_STALE.slug}


def test_every_rule_can_be_set_and_every_finding_about_an_object_waived() -> None:
    """A new code needs a field in the project file; unpinned remote code alone cannot be waived."""
    assert {code_of(name) for name in Rules.model_fields} == OF_OBJECTS | OF_NAMESPACES | OF_POOLS | OF_WAIVERS
    assert set(get_args(WaivableName)) == (OF_OBJECTS | OF_NAMESPACES | OF_POOLS) - {UNPINNED.slug}
    assert {f"policy/{name}" for name in RULES_OF_OBJECTS} == set(get_args(WaivableName))


@pytest.mark.parametrize(
    ("policy", "severity"),
    [
        (Policy(), None),
        (Policy(severities={IMAGE_DIGEST.slug: Severity.ERROR}), Severity.ERROR),
        (Policy(severities={IMAGE_DIGEST.slug: None}), None),
    ],
)
def test_a_rule_that_is_off_unless_asked_for(policy: Policy, severity: Severity | None) -> None:
    """It finds nothing until the project gives it a severity."""
    assert severity_of(IMAGE_DIGEST, policy) == severity


def test_the_level_of_pods_is_a_rule_where_a_project_states_one() -> None:
    """What kservec itself writes settings for is told elsewhere, as a note."""
    assert severity_of(POD_SECURITY, Policy()) is None
    assert severity_of(POD_SECURITY, Policy(asks_level=True)) is Severity.WARNING


def test_findings_of_several_environments_count_as_the_strictest_says() -> None:
    """But at most as much as the caller allows, and not at all where all have the rule off."""
    found = [Diagnostic(code=IMAGE_TAG, message="", span=None)]
    strict, off = Policy(severities={IMAGE_TAG.slug: Severity.ERROR}), Policy(severities={IMAGE_TAG.slug: None})
    assert [d.code.severity for d in graded(found, [strict, off], worst=None)] == [Severity.ERROR]
    assert [d.code.severity for d in graded(found, [strict, off], worst=Severity.WARNING)] == [Severity.WARNING]
    assert [*graded(found, [off], worst=None)] == []
