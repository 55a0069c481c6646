"""Warnings about changes: replicas that are let go, claims that go, fields that cannot change, modes that flip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kservec.compare.forecast import Verb
from kservec.compare.objects import Side, changed_objects
from kservec.compare.report import COMMITTED, Comparison, compared
from kservec.compare.scaling import Rescaled
from kservec.compare.workloads import Bounds

from .building import CANARY, FIXED, KEDA, KNATIVE, PLATFORM, STANDARD, built, comparison, edited

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic

CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models, namespace: a}
spec: {storageClassName: fast}
"""


def warnings(before: str, after: str) -> tuple[Diagnostic, ...]:
    """What is warned of between two builds."""
    return comparison(built(before), built(after)).findings


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (STANDARD, "an autoscaler takes over, with 3 to 9 replicas"),
        (KEDA, "an autoscaler takes over, with 3 to 9 replicas"),
        (FIXED.replace("autoscalerClass: none", "autoscalerClass: external"), "nothing in the tree says how many"),
    ],
    ids=["hpa", "keda", "external"],
)
def test_replicas_that_an_autoscaler_takes_over(after: str, words: str) -> None:
    """A number that goes may become 1 for a moment: that is told before it happens."""
    (finding,) = warnings(FIXED, after)
    assert (finding.code.slug, words in finding.message) == ("change/replicas-released", True)


def test_replicas_that_nobody_takes() -> None:
    """One replica stays one, and a number that comes takes nothing away."""
    assert warnings(STANDARD, FIXED) == ()
    one = edited(FIXED, ("minReplicas: 3", "minReplicas: 1"))
    assert warnings(one, edited(STANDARD, ("minReplicas: 3", "minReplicas: 1"))) == ()


def test_a_service_that_changes_its_mode() -> None:
    """It is told once, with what goes and what comes."""
    (finding,) = warnings(STANDARD, KNATIVE)
    assert finding.code.slug == "update/mode-changed"
    assert finding.message == (
        "payments/InferenceService/fraud changes from Standard to Knative: "
        "Deployment payments/fraud-predictor goes and Service payments/fraud-predictor comes"
    )


def test_a_default_mode_that_changes_under_a_service() -> None:
    """No spec says a word of it, and all pods of the service are replaced by others."""
    silent = edited(STANDARD, ("  annotations:\n    serving.kserve.io/deploymentMode: Standard\n", ""))
    platforms = (
        f'{PLATFORM}  deploy: |\n    {{"defaultDeploymentMode": "{mode}"}}\n' for mode in ("Knative", "Standard")
    )
    before, after = (built(silent, platform) for platform in platforms)
    found = comparison(before, after)
    assert [finding.code.slug for finding in found.findings] == ["update/mode-changed"]
    assert [effect.verb for effect in found.effects] == [Verb.REMOVED, Verb.STARTED]


def test_bounds_that_change() -> None:
    """Of autoscalers and revisions; those of a canary and of its stable predictor move with its share."""
    rows = comparison(built(CANARY), built(edited(CANARY, ("trafficPercent: 10", "trafficPercent: 60")))).scaling
    assert [(r.ref.name, r.before, r.after) for r in rows] == [
        ("fraud-predictor", Bounds(2, 9), Bounds(1, 9)),
        ("fraud-v8-predictor", Bounds(1, 1), Bounds(2, 2)),
    ]
    (row,) = comparison(built(KNATIVE), built(edited(KNATIVE, ("minReplicas: 3", "minReplicas: 4")))).scaling
    assert row == Rescaled(row.ref, "payments/InferenceService/fraud", Bounds(3, 9), Bounds(4, 9))


def judged(before: str, after: str) -> list[str]:
    """The slugs of warnings about one object."""
    sides = [
        Side({"a/a/x.yaml": text.encode()} if text else {}, {"a/a/x.yaml": "a/InferenceService/a"})
        for text in (before, after)
    ]
    found = compared(Comparison("prod", "rendered", COMMITTED), *sides, ())
    return [finding.code.slug for finding in found.findings]


@pytest.mark.parametrize(
    ("before", "after", "slugs"),
    [
        (CLAIM, "", ["change/claim-removed"]),
        (CLAIM, CLAIM.replace("fast", "slow"), ["change/immutable-field"]),
        (CLAIM, CLAIM.replace("{name", "{labels: {a: b}, name"), []),
        (
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}}\n",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: c}}}\n",
            ["change/immutable-field"],
        ),
        ("<<<<<<< ours\na: [\n", CLAIM, ["change/unreadable"]),
    ],
    ids=["claim-gone", "claim-class", "label", "selector", "unreadable"],
)
def test_objects_that_need_attention(before: str, after: str, slugs: list[str]) -> None:
    """What an API server would refuse, and what takes data along."""
    assert judged(before, after) == slugs


def test_an_object_that_moves_to_another_file_is_the_same() -> None:
    """Nor does it matter whether a tree has a file an object or all of them in one."""
    other = CLAIM.replace("models", "cache")
    one = Side({"objects.yaml": f"---\n{CLAIM}---\n{other}".encode()}, {})
    two = Side({"a/x/claim.yaml": CLAIM.encode(), "a/y/claim.yaml": other.replace("fast", "slow").encode()}, {})
    (change,), found = changed_objects(one, two, "rendered")
    assert (change.ref.name, [d.path for d in change.differences], found) == ("cache", ["spec.storageClassName"], ())
