"""Waves: nothing waits for what can only become healthy later, and what the user says holds."""

from __future__ import annotations

import pytest

from kservec.gitops.delivery import delivered
from kservec.gitops.waves import WAVE, claimed, wave_of

from .trees import TREES, Object, load, made, rendered, settings_of

POOL_ROUTE = {"rules": [{"backendRefs": [{"kind": "InferencePool", "name": "iris"}]}]}
SERVICE_ROUTE = {"rules": [{"backendRefs": [{"kind": "Service", "name": "iris"}]}]}
MOUNT = {"template": {"spec": {"volumes": [{"name": "m", "persistentVolumeClaim": {"claimName": "weights"}}]}}}
SHARDED = "{tool: argocd, repoURL: https://git.example.com/ml.git, argocd: {waves: true}}"


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "wave"),
    [
        ("cert-manager.io/v1", "Certificate", {}, -1),
        ("external-secrets.io/v1", "ExternalSecret", {}, -1),
        ("opentelemetry.io/v1beta1", "OpenTelemetryCollector", {}, -1),
        ("apps/v1", "Deployment", {}, 0),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {}, 0),
        ("serving.knative.dev/v1", "Service", {}, 0),
        ("v1", "Service", {}, 0),
        ("inference.networking.k8s.io/v1", "InferencePool", {}, 0),
        ("gateway.networking.k8s.io/v1", "HTTPRoute", POOL_ROUTE, 0),
        ("gateway.networking.k8s.io/v1", "HTTPRoute", SERVICE_ROUTE, 1),
        ("autoscaling/v2", "HorizontalPodAutoscaler", {}, 1),
        ("keda.sh/v1alpha1", "ScaledObject", {}, 1),
        ("policy/v1", "PodDisruptionBudget", {}, 1),
    ],
)
def test_the_wave_of_a_kind(api_version: str, kind: str, spec: Object, wave: int) -> None:
    """Secrets of other operators before pods, routes and autoscalers after them, a pool with its route and pods."""
    assert wave_of(made(api_version, kind, spec=spec), frozenset()) == wave


def test_a_claim_is_in_the_wave_of_the_pods_that_mount_it() -> None:
    """A claim that waits for its first consumer is not bound in an earlier wave; one without consumer comes last."""
    claim, idle = (made("v1", "PersistentVolumeClaim", name) for name in ("weights", "idle"))
    pods = made("apps/v1", "Deployment", spec=MOUNT)
    mounted = claimed([claim, idle, pods])
    assert [wave_of(o, mounted) for o in (claim, pods, idle)] == [0, 0, 1]


@pytest.mark.parametrize("annotation", ["argocd.argoproj.io/sync-wave", "argocd.argoproj.io/hook"])
def test_what_the_user_says_holds(annotation: str) -> None:
    """An object with a wave of its own, or a hook, gets none."""
    metadata = {"name": "iris", "namespace": "ml", "annotations": {annotation: "7"}}
    route = rendered({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": metadata})
    (kept, *_) = delivered([route], settings_of(SHARDED)).objects
    assert kept.text == route.text


def test_waves_are_only_noted_on_objects() -> None:
    """No pod template carries a wave, or a change of it would restart the pods."""
    for path in (p for tree in TREES for p in tree.rglob("*.yaml") if "_gitops" not in p.parts):
        text = path.read_text()
        if WAVE in text and not text.startswith("---"):
            template = (load(path).get("spec") or {}).get("template") or {}
            assert WAVE not in str(template)
