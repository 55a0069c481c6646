"""Autoscalers: who sets the number of pods, by what, how fast, and what is passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .making import CLASS, GROUP, NO_ROUTES, built, deployment, dig, found, made, model, service

if TYPE_CHECKING:
    from kservec.api import Compilation

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 65}}}
SIZED = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}


def scaled(scaler: str, **fields: Any) -> Compilation:
    """A service with an autoscaler class; `fields` belong to its predictor."""
    return built(service(model(model=SIZED, **fields), annotations={CLASS: scaler}), **NO_ROUTES)


@pytest.mark.parametrize(
    ("scaler", "fields", "kinds", "replicas"),
    [
        ("hpa", {"scaleTarget": 70}, ["Deployment", "HorizontalPodAutoscaler", "Service"], None),
        ("none", {}, ["Deployment", "Service"], 3),
        ("external", {}, ["Deployment", "Service"], None),
        ("keda", {"autoScaling": {"metrics": [CPU]}}, ["Deployment", "ScaledObject", "Service"], None),
    ],
)
def test_who_sets_the_number_of_pods(
    scaler: str, fields: dict[str, Any], kinds: list[str], replicas: int | None
) -> None:
    """The Deployment has a number of replicas only where no autoscaler sets one."""
    result = scaled(scaler, minReplicas=3, maxReplicas=12, **fields)
    assert sorted(name.partition("/")[0] for name in made(result)) == kinds
    assert deployment(result, "spec", "replicas") == replicas
    if scaler == "hpa":
        spec = made(result)["HorizontalPodAutoscaler/churn-predictor"]["spec"]
        assert (spec["minReplicas"], spec["maxReplicas"]) == (3, 12)
        assert dig(spec, ("metrics", 0, "resource", "target")) == {"type": "Utilization", "averageUtilization": 70}
        assert "behavior" not in spec


def test_an_autoscaler_without_zero_says_so() -> None:
    """A HorizontalPodAutoscaler keeps one pod even if the user wants none, and a warning says what can."""
    result = scaled("hpa", minReplicas=0, maxReplicas=2)
    spec = made(result)["HorizontalPodAutoscaler/churn-predictor"]["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 2)
    (warning,) = result.diagnostics
    assert "KEDA" in warning.help


def test_keda_needs_an_event_to_leave_zero() -> None:
    """KEDA may go to zero, and with cpu alone it would never come back, which is a warning."""
    result = scaled("keda", minReplicas=0, maxReplicas=2, autoScaling={"metrics": [CPU]})
    assert dig(made(result)["ScaledObject/churn-predictor"], ("spec", "minReplicaCount")) == 0
    assert found(result) == ["scaling/zero-without-events"]


@pytest.mark.parametrize("scaler", ["hpa", "keda"])
def test_the_behavior_of_an_autoscaler_is_the_users(scaler: str) -> None:
    """Windows, zero included, and policies reach the autoscaler."""
    down = {"stabilizationWindowSeconds": 600, "policies": [{"type": "Pods", "value": 1, "periodSeconds": 120}]}
    behavior = {"scaleDown": down, "scaleUp": {"stabilizationWindowSeconds": 0}}
    result = scaled(scaler, minReplicas=2, maxReplicas=10, autoScaling={"metrics": [CPU], "behavior": behavior})
    made_of = {
        "hpa": ("HorizontalPodAutoscaler", ()),
        "keda": ("ScaledObject", ("advanced", "horizontalPodAutoscalerConfig")),
    }
    kind, at = made_of[scaler]
    assert dig(made(result)[f"{kind}/churn-predictor"], ("spec", *at, "behavior")) == behavior
    assert found(result) == []


def memory(**target: Any) -> dict[str, Any]:
    """A metric of memory."""
    return {"type": "Resource", "resource": {"name": "memory", "target": target}}


def test_metrics_of_memory_and_cpu() -> None:
    """Metrics keep their order and targets, cpu without a number is held at 80%, and a plain value is refused."""
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}
    metrics = [memory(type="AverageValue", averageValue="6Gi"), cpu]
    spec = made(scaled("hpa", maxReplicas=4, autoScaling={"metrics": metrics}))[
        "HorizontalPodAutoscaler/churn-predictor"
    ]
    assert [m["resource"]["target"] for m in spec["spec"]["metrics"]] == [
        {"type": "AverageValue", "averageValue": "6Gi"},
        {"type": "Utilization", "averageUtilization": 80},
    ]
    refused = scaled("hpa", maxReplicas=4, autoScaling={"metrics": [memory(type="Value", value="3Gi")]})
    assert found(refused) == ["scaling/invalid-metric"]


def test_a_utilization_of_nothing_is_reported() -> None:
    """Where a container requests none of what pods are scaled by, the autoscaler could not act."""
    relay = {"name": "relay", "image": "relay:1"}
    fields = {"containers": [relay], "maxReplicas": 4}
    result = built(service(model(model=SIZED, **fields)))
    (warning,) = result.diagnostics
    assert warning.code.slug == "scaling/no-request"
    assert "relay" in warning.message


def test_annotations_that_once_scaled_are_reported() -> None:
    """Annotations of the past that name a metric have no effect, and are not passed over in silence."""
    old = {f"{GROUP}/metric": "memory", f"{GROUP}/targetUtilizationPercentage": "70"}
    assert found(built(service(model(), annotations=old))) == ["metadata/key-without-effect"] * 2


def test_an_autoscaler_of_the_users() -> None:
    """With the class external no autoscaler is made; with another the user's own of the same name is a warning."""
    hpa = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
    hpa["metadata"] = {"name": "churn-predictor", "namespace": "ml"}
    external = built(service(model(), annotations={CLASS: "external"}), hpa)
    assert not any(name.startswith("Horizontal") for name in made(external))
    assert found(external) == []
    assert found(built(service(model()), hpa)) == ["output/object-declared"]
