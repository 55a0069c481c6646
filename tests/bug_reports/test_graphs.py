"""Graphs: what they call, how long that may take, and where their router runs."""

from __future__ import annotations

import json
from typing import Any

from .making import GROUP, built, deployment, dig, found, made, service

ROUTER = ("spec", "template", "spec")
DIGEST = "registry.example.com/kservec-router@sha256:" + "1" * 64
QUANTITIES = {"cpuRequest": "100m", "cpuLimit": "1", "memoryRequest": "100Mi", "memoryLimit": "1Gi"}


def graph(mode: str = "Standard", **spec: Any) -> dict[str, Any]:
    """A graph named pipe."""
    metadata = {"name": "pipe", "namespace": "ml", "annotations": {f"{GROUP}/deploymentMode": mode}}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "InferenceGraph", "metadata": metadata, "spec": spec}


def sequence(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Nodes with a root that takes steps one after the other, and others."""
    return {"root": {"routerType": "Sequence", "steps": [*steps]}, **more}


def told(compilation: Any) -> Any:
    """The graph as the router is told it."""
    _, text = deployment(compilation, *ROUTER, "containers", "pipe", "args", name="pipe")
    return json.loads(text)


def test_dependencies_and_conditions_reach_the_router() -> None:
    """Hard and soft steps, conditions and inputs are handed on as they are, without a warning."""
    steps = [
        {"name": "detect", "serviceUrl": "http://detect.ml.svc/v1/models/detect:predict"},
        {
            "name": "check",
            "serviceUrl": "http://check.ml.svc/v1/models/check:predict",
            "data": "$response",
            "condition": "predictions.#(score>0.5)",
            "dependency": "Hard",
        },
        {"name": "fan", "nodeName": "fan", "data": "$response"},
    ]
    fan = [
        {"name": "a", "serviceUrl": "http://a.ml.svc/v1/models/a:predict", "dependency": "Hard"},
        {"serviceUrl": "http://b.ml.svc/v1/models/b:predict"},
    ]
    nodes = sequence(*steps, fan={"routerType": "Ensemble", "steps": fan})
    compilation = built(graph(nodes=nodes))
    assert found(compilation) == []
    assert told(compilation)["nodes"] == nodes


def test_a_chain_over_two_protocols() -> None:
    """URLs follow the protocol of each service; predictions that a service of v2 does not give are pointed out."""
    embed = service({"model": {"modelFormat": {"name": "triton"}, "protocolVersion": "v2", "storageUri": "s3://m/e"}})
    embed["metadata"]["name"] = "embedder"
    classify = service({"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://m/c"}}, name="classifier")
    mapped = {"serviceName": "classifier", "data": "$response", "mapPredictionsToInstances": True}
    compilation = built(graph(nodes=sequence({"serviceName": "embedder"}, mapped)), embed, classify)
    urls = [step["serviceUrl"] for step in told(compilation)["nodes"]["root"]["steps"]]
    assert urls == [
        "http://embedder-predictor.ml.svc.cluster.local/v2/models/embedder/infer",
        "http://classifier-predictor.ml.svc.cluster.local/v1/models/classifier:predict",
    ]
    assert found(compilation) == ["graph/predictions-absent"]


def test_a_service_that_is_compiled_elsewhere() -> None:
    """A graph whose service is not in the input is refused, with what to write instead."""
    compilation = built(graph(nodes=sequence({"serviceName": "embedder"})))
    assert found(compilation) == ["graph/service-not-found"]
    assert "serviceUrl" in compilation.diagnostics[0].help


def test_long_calls() -> None:
    """Limits reach the router as they are, and the revision; those that cut each other short are pointed out."""
    limits = {"serverRead": 120, "serverWrite": 600, "serverIdle": 180, "serviceClient": 590}
    call = sequence({"serviceUrl": "http://gen.ml.svc/openai/v1/completions"})
    compilation = built(graph(nodes=call, routerTimeouts=limits))
    assert found(compilation) == []
    assert told(compilation)["routerTimeouts"] == limits
    knative = built(graph("Knative", nodes=call, timeout=600, routerTimeouts=limits))
    assert dig(made(knative)["Service/pipe"], (*ROUTER, "timeoutSeconds")) == 600
    cut = built(graph(nodes=call, routerTimeouts={"serviceClient": 590}))
    assert found(cut) == ["graph/timeouts"]


def test_where_the_router_runs() -> None:
    """Scheduling, identity, resources, image and pull secrets can be set; an autoscaler owns the number of pods."""
    anywhere = {"preferredDuringSchedulingIgnoredDuringExecution": []}
    settings = {
        "nodeSelector": {"pool": "cpu"},
        "tolerations": [{"key": "pool", "value": "cpu", "effect": "NoSchedule"}],
        "affinity": {"podAntiAffinity": anywhere},
        "serviceAccountName": "router",
    }
    resources = {"requests": {"cpu": "200m"}, "limits": {"memory": "256Mi"}}
    platform = {"router": {"image": DIGEST, "imagePullSecrets": ["registry"], **QUANTITIES}}
    spec = {"minReplicas": 2, "maxReplicas": 4, "resources": resources, **settings}
    compilation = built(
        graph(nodes=sequence({"serviceUrl": "http://m.ml.svc/"}), **spec), inferenceServiceConfig=platform
    )
    pod = deployment(compilation, *ROUTER, name="pipe")
    assert {field: pod[field] for field in settings if field != "affinity"} == {
        field: value for field, value in settings.items() if field != "affinity"
    }
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    assert pod["automountServiceAccountToken"] is False
    (only,) = pod["containers"]
    assert (only["image"], only["resources"]) == (DIGEST, resources)
    assert only["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": 8080, "scheme": "HTTP"}
    assert only["securityContext"]["runAsNonRoot"] is True
    scaler = made(compilation)["HorizontalPodAutoscaler/pipe"]["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (2, 4)
    assert deployment(compilation, "spec", "replicas", name="pipe") is None
