"""The level of the Pod Security Standards that a pod passes, held against what Kubernetes' own admission says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kservec.core.paths import lookup
from kservec.core.pods.security_level import Level, pod_security_level, shortfalls, surely_restricted

VECTORS = json.loads((Path(__file__).parent / "vectors" / "pod_security.json").read_text(encoding="utf-8"))
SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def test_pods_pass_what_the_admission_of_kubernetes_lets_through() -> None:
    """Each of some hundred random pods has the level that k8s.io/pod-security-admission 0.35.4 gives it."""
    judged = [pod_security_level(row["pod"], row.get("annotations")).level for row in VECTORS]
    assert judged == [row["level"] for row in VECTORS]
    assert set(judged) == set(Level)


def test_the_short_way_lets_nothing_else_through() -> None:
    """The schema of plain pods takes some of those that pass the strictest level, and no others."""
    plain = [row for row in VECTORS if surely_restricted()(row["pod"])]
    assert plain
    assert {row["level"] for row in plain if not row.get("annotations")} == {Level.RESTRICTED}
    assert [row["pod"] for row in plain if list(shortfalls(row["pod"], {}))] == []


@pytest.mark.parametrize(
    ("pod", "level", "message"),
    [
        ({"hostNetwork": True}, Level.PRIVILEGED, "the pod must not set hostNetwork"),
        (
            {"volumes": [{"name": "v", "nfs": {"server": "s", "path": "/"}}]},
            Level.BASELINE,
            "volume v must not be of kind nfs",
        ),
        ({"securityContext": {"runAsUser": 0}}, Level.BASELINE, "the pod must not set runAsUser: 0"),
        (
            {"initContainers": [{"name": "i", "securityContext": {**SAFE, "allowPrivilegeEscalation": True}}]},
            Level.BASELINE,
            "container i must set allowPrivilegeEscalation: false",
        ),
        (
            {"initContainers": [{"name": "i", "securityContext": {**SAFE, "capabilities": {"add": ["IPC_LOCK"]}}}]},
            Level.PRIVILEGED,
            "container i must not add capabilities IPC_LOCK",
        ),
    ],
)
def test_a_shortfall_says_what_is_at_fault(pod: Any, level: Level, message: str) -> None:
    """It names the container or volume, and what would be right; its path leads to the nearest thing there is."""
    pod = {"containers": [{"name": "web", "securityContext": SAFE}], **pod}
    standing = pod_security_level(pod)
    assert standing.level is level
    shortfall = next(s for s in standing.shortfalls if s.message == message)
    assert lookup(pod, shortfall.path[:2]) is not None


def test_levels_are_ordered() -> None:
    """A pod that passes a level passes those that are less strict."""
    standing = pod_security_level({"containers": [{"name": "web"}]})
    assert [standing.passes(level) for level in Level] == [False, True, True]
