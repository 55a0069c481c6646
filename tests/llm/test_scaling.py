"""scale_llminferenceservice: autoscalers of the workloads."""

from __future__ import annotations

import pytest
from tests.llm.workloads import build, group, pod, single

WVA = "autoscaling-wva-controller-config"
BOUNDS = {"minReplicas": 2, "maxReplicas": 6}
TRIGGERS = [{"type": "cron", "metadata": {"timezone": "UTC"}}]


def hpa(**more) -> dict[str, object]:
    """Scaling by a HorizontalPodAutoscaler."""
    return {**BOUNDS, "wva": {"variantCost": "10.0", "hpa": more}}


def keda(**more) -> dict[str, object]:
    """Scaling by KEDA on what WVA wants."""
    return {**BOUNDS, "wva": {"variantCost": "10.0", "keda": more}}


def prometheus(**more) -> dict[str, object]:
    """The platform's section about Prometheus."""
    return {WVA: {"prometheus": {"url": "https://prometheus:9090", **more}}}


def test_a_hpa_carries_out_what_wva_wants(bench) -> None:
    """WVA finds it by annotations, and its metric by the autoscaler's own name."""
    built = build(bench, single(scaling=hpa(behavior={"scaleUp": {"stabilizationWindowSeconds": 5}})))
    made = built.of("HorizontalPodAutoscaler", "chat-kserve-hpa")
    assert made["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat-kserve"}
    assert (made["spec"]["minReplicas"], made["spec"]["maxReplicas"]) == (2, 6)
    metric = made["spec"]["metrics"][0]["external"]["metric"]
    assert metric == {"name": "wva_desired_replicas", "selector": {"matchLabels": {"variant_name": "chat-kserve-hpa"}}}
    assert made["spec"]["behavior"] == {"scaleUp": {"stabilizationWindowSeconds": 5}}
    assert made["metadata"]["annotations"] == {
        "llm-d.ai/managed": "true",
        "llm-d.ai/model-id": "tiny",
        "llm-d.ai/variant-cost": "10.0",
    }
    assert made["metadata"]["labels"]["inference.optimization/acceleratorName"] == "unknown"


def test_the_accelerator_is_a_label_of_the_workload(bench) -> None:
    """Each workload says its own."""
    accelerator = {"inference.optimization/acceleratorName": "H200"}
    prefill = {"template": pod(), "scaling": hpa(), "labels": accelerator}
    built = build(bench, single(scaling=hpa(), prefill=prefill))
    labels = built.of("HorizontalPodAutoscaler", "chat-kserve-prefill-hpa")["metadata"]["labels"]
    assert labels.items() >= accelerator.items()
    assert labels["app.kubernetes.io/component"] == "llminferenceservice-workload"


def test_what_is_scaled_comes_from_the_service(bench) -> None:
    """Bounds and behaviour have their origin in what the service says of scaling."""
    built = build(bench, single(scaling=hpa(behavior={"scaleDown": {"stabilizationWindowSeconds": 60}})))
    where = ("HorizontalPodAutoscaler", "chat-kserve-hpa", "spec")
    assert [built.written(*where, field) for field in ("minReplicas", "maxReplicas", "behavior")] == [
        "spec.scaling.minReplicas",
        "spec.scaling.maxReplicas",
        "spec.scaling.wva.hpa.behavior",
    ]


def test_groups_are_scaled(bench) -> None:
    """The target is the LeaderWorkerSet."""
    target = build(bench, group(scaling=hpa())).of("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
    assert target == {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "name": "chat-kserve-mn",
    }


def test_keda_asks_prometheus(bench) -> None:
    """By the name of the ScaledObject; settings are copied, and what proves who asks goes along."""
    auth = {"authModes": "bearer", "triggerAuthName": "prom", "triggerAuthKind": "ClusterTriggerAuthentication"}
    sections = prometheus(tlsInsecureSkipVerify=True, **auth)
    built = build(bench, single(scaling=keda(pollingInterval=5, idleReplicaCount=0)), sections=sections)
    made = built.of("ScaledObject", "chat-kserve-keda")["spec"]
    assert (made["minReplicaCount"], made["maxReplicaCount"]) == (2, 6)
    assert (made["pollingInterval"], made["idleReplicaCount"]) == (5, 0)
    assert made["triggers"] == [
        {
            "type": "prometheus",
            "name": "wva-desired-replicas",
            "metadata": {
                "serverAddress": "https://prometheus:9090",
                "query": 'wva_desired_replicas{variant_name="chat-kserve-keda",exported_namespace="ml"}',
                "threshold": "1",
                "unsafeSsl": "true",
                "authModes": "bearer",
            },
            "authenticationRef": {"name": "prom", "kind": "ClusterTriggerAuthentication"},
        }
    ]


def test_keda_with_triggers_of_the_users(bench) -> None:
    """WVA has no part in it: no annotations, no label of an accelerator."""
    built = build(bench, single(scaling={**BOUNDS, "keda": {"triggers": TRIGGERS, "cooldownPeriod": 60}}))
    made = built.of("ScaledObject")
    assert made["spec"]["triggers"] == TRIGGERS
    assert made["spec"]["cooldownPeriod"] == 60
    assert "annotations" not in made["metadata"]
    assert "inference.optimization/acceleratorName" not in made["metadata"]["labels"]


HALF = "autoscaling-wva-controller-config has only one of prometheus.authModes and prometheus.triggerAuthName"


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({}, "ml/chat is to be scaled by KEDA, and autoscaling-wva-controller-config has no prometheus.url"),
        (prometheus(authModes="bearer"), HALF),
        (prometheus(triggerAuthName="prom"), HALF),
    ],
)
def test_keda_needs_to_know_prometheus(bench, sections, message) -> None:
    """Its address, and either both or neither of what proves who asks."""
    built = build(bench, single(scaling=keda()), sections=sections)
    (error,) = built.diagnostics
    assert error.code.slug == "llm/prometheus-settings"
    assert error.message.removeprefix("LLMInferenceService ") == message
    assert error.help == "complete autoscaling-wva-controller-config in inferenceservice-config"
    assert error.span is not None


def test_kinds_that_the_cluster_lacks(bench) -> None:
    """What asks for them is refused; other services are not."""
    scaled = single(scaling={**BOUNDS, "keda": {"triggers": TRIGGERS}})
    assert build(bench, scaled, absent=("ScaledObject",)).slugs == ["llm/kind-absent"]
    assert build(bench, group(), absent=("LeaderWorkerSet",)).slugs == ["llm/kind-absent"]
    assert build(bench, single(), absent=("LeaderWorkerSet", "ScaledObject")).slugs == []
    devices = {"serving.kserve.io/exp-dra-device-class": "gpu.example.com"}
    absent = ("ResourceClaimTemplate",)
    assert build(bench, single(), annotations=devices, absent=absent).slugs == ["llm/kind-absent"]
