"""Documents of all kinds that are read of a cluster or included, and any value in any place of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tests import libyaml

from kservec.environments import render
from kservec.io.workspace import open_workspace
from kservec.policy.judging import CHECKS
from kservec.policy.quotas import LIMIT_RANGE, QUOTA_AT_MAX, QUOTA_EXCEEDED, QUOTA_UNSTATED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kservec.core.tree import Path as Place
    from kservec.environments import Rendering

PLACES = ("include", "platform")
BOUND = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: bound, namespace: ml}
spec: {hard: {pods: 100, requests.cpu: 100}}
---
apiVersion: v1
kind: Namespace
metadata: {name: ml, labels: {pod-security.kubernetes.io/enforce: baseline}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: own, namespace: ml}
spec: {parentRefs: [{name: entry, namespace: edge}]}
---
apiVersion: kservec.dev/v1alpha1
kind: Cluster
nodePools:
  - name: gpus
    count: 9
    allocatable: {cpu: 64, memory: 256Gi}
    gpus: {count: 8, memory: 80Gi}
    labels: {pool: gpus}
    taints: [{key: gpu, effect: NoSchedule}]
  - {name: general, count: 9, allocatable: {cpu: 64, memory: 256Gi}}
"""
POLICY = {"podSecurity": {"level": "restricted"}}
PROJECT = {
    "apiVersion": "kservec.dev/v1alpha1", "kind": "Project", "sources": ["services"], "include": ["include"],
    "platform": ["platform"], "networkPolicy": {"enabled": True}, "podDisruptionBudget": {"maxUnavailable": 1},
    "podMonitor": {"enabled": True}, "environments": {"prod": {}},
}  # fmt: skip
SERVICES = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    serviceAccountName: reader
    model: {modelFormat: {name: sklearn}, storageUri: "s3://models/iris"}
---
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: chat, namespace: ml}
spec:
  model: {uri: "pvc://models/chat", name: chat}
  router: {route: {http: {refs: [{name: own}]}}, gateway: {refs: [{name: entry, namespace: edge}]}}
  template: {containers: [{name: main, image: "vllm/vllm-openai:v1"}]}
"""
POD = """\
metadata: {labels: {app: x}, annotations: {a: b}}
spec:
  overhead: {cpu: 1m}
  nodeSelector: {pool: gpus}
  tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [gpus]}]}]
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: y}}}
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}, sysctls: [{name: a, value: b}]}
  initContainers: [{name: first, image: "a/b", restartPolicy: Always, resources: {limits: {cpu: 1}}}]
  containers:
    - name: server
      image: vllm/vllm-openai
      command: [vllm, serve]
      args: [--tensor-parallel-size=2, --api-key, abc, --gpu-memory-utilization, "2", --swap-space, "4"]
      env: [{name: HF_TOKEN, value: abc}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]
      ports: [{containerPort: 80, name: http}]
      startupProbe: {httpGet: {path: /, port: 80}, failureThreshold: 3, periodSeconds: 10}
      securityContext: {capabilities: {drop: [ALL], add: [X]}, allowPrivilegeEscalation: false}
      resources: {requests: {cpu: 1, nvidia.com/gpu: 2}, limits: {memory: 1Gi, nvidia.com/gpu: 2}}
      volumeMounts: [{name: shm, mountPath: /dev/shm}]
  volumes:
    - {name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}
    - {name: host, hostPath: {path: /}}
    - {name: model, image: {reference: "a/b:latest"}}
"""
SELECTOR = {"matchLabels": {"serving.kserve.io/inferenceservice": "iris", "x": "y"}}
TARGET = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "name": "iris"}
HTTP_ROUTE = {
    "parentRefs": [{"name": "entry", "namespace": "edge"}],
    "hostnames": ["a.example.com"],
    "rules": [
        {"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "backendRefs": [{"name": "x", "port": 80}]}
    ],
}
PEER = {"namespaceSelector": {"matchLabels": {"a": "b"}}, "podSelector": {"matchLabels": {"a": "b"}}}
WORKLOAD = {"selector": {"matchLabels": {"app": "x"}}, "replicas": 2, "template": libyaml.load(POD)}
SPECS: tuple[tuple[str, str, Any], ...] = (
    (
        "v1",
        "ResourceQuota",
        {"spec": {"hard": {"pods": 4, "requests.cpu": 2, "limits.memory": "1Gi"}, "scopes": [], "scopeSelector": {}}},
    ),
    (
        "v1",
        "LimitRange",
        {
            "spec": {
                "limits": [
                    {
                        "type": "Container",
                        "min": {"cpu": 1},
                        "max": {"cpu": 4},
                        "default": {"cpu": 2},
                        "defaultRequest": {"cpu": 1},
                    }
                ]
            }
        },
    ),
    ("v1", "ConfigMap", {"data": {"key": "value"}}),
    ("v1", "Namespace", {}),
    (
        "v1",
        "PersistentVolumeClaim",
        {"spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "v", "resources": {"requests": {"storage": "1Gi"}}}},
    ),
    ("v1", "Service", {"spec": {"selector": {"app": "x"}, "ports": [{"port": 80, "name": "http", "targetPort": 80}]}}),
    ("v1", "ServiceAccount", {"secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}]}),
    ("v1", "Pod", libyaml.load(POD)),
    ("apps/v1", "DaemonSet", {"spec": {k: v for k, v in WORKLOAD.items() if k != "replicas"}}),
    (
        "apps/v1",
        "Deployment",
        {
            "spec": {
                **WORKLOAD,
                "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                "progressDeadlineSeconds": 9,
            }
        },
    ),
    ("apps/v1", "ReplicaSet", {"spec": WORKLOAD}),
    ("apps/v1", "StatefulSet", {"spec": {**WORKLOAD, "serviceName": "x"}}),
    (
        "batch/v1",
        "CronJob",
        {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": libyaml.load(POD)}}}},
    ),
    ("batch/v1", "Job", {"spec": {"template": libyaml.load(POD)}}),
    (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {
            "spec": {
                "leaderWorkerTemplate": {
                    "size": 2,
                    "leaderTemplate": libyaml.load(POD),
                    "workerTemplate": libyaml.load(POD),
                }
            }
        },
    ),
    (
        "serving.knative.dev/v1",
        "Service",
        {"spec": {"template": libyaml.load(POD), "traffic": [{"tag": "a", "percent": 100, "latestRevision": True}]}},
    ),
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        {"spec": {"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": TARGET}},
    ),
    (
        "autoscaling/v1",
        "HorizontalPodAutoscaler",
        {"spec": {"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": TARGET}},
    ),
    (
        "keda.sh/v1alpha1",
        "ScaledObject",
        {
            "spec": {
                "scaleTargetRef": TARGET,
                "minReplicaCount": 1,
                "maxReplicaCount": 3,
                "triggers": [{"type": "cron", "metadata": {"a": "b"}}],
            }
        },
    ),
    ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", {"spec": {"targetRef": TARGET}}),
    ("policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": 1, "selector": SELECTOR}}),
    (
        "monitoring.coreos.com/v1",
        "PodMonitor",
        {"spec": {"selector": SELECTOR, "podMetricsEndpoints": [{"port": "x"}]}},
    ),
    ("monitoring.coreos.com/v1", "ServiceMonitor", {"spec": {"selector": SELECTOR, "endpoints": [{"port": "x"}]}}),
    (
        "networking.k8s.io/v1",
        "NetworkPolicy",
        {
            "spec": {
                "podSelector": SELECTOR,
                "policyTypes": ["Ingress"],
                "ingress": [
                    {
                        "from": [PEER, {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}],
                        "ports": [{"port": 80, "protocol": "TCP"}],
                    }
                ],
            }
        },
    ),
    (
        "networking.k8s.io/v1",
        "Ingress",
        {
            "spec": {
                "rules": [
                    {
                        "host": "a.example.com",
                        "http": {
                            "paths": [
                                {
                                    "path": "/",
                                    "pathType": "Prefix",
                                    "backend": {"service": {"name": "x", "port": {"number": 80}}},
                                }
                            ]
                        },
                    }
                ]
            }
        },
    ),
    *(
        (
            version,
            "VirtualService",
            {
                "spec": {
                    "hosts": ["a.example.com"],
                    "gateways": ["mesh"],
                    "http": [
                        {
                            "route": [
                                {
                                    "destination": {"host": "iris-predictor-default.ml", "port": {"number": 80}},
                                    "weight": 1,
                                }
                            ]
                        }
                    ],
                }
            },
        )
        for version in ("networking.istio.io/v1beta1", "networking.istio.io/v1")
    ),
    *(
        (version, "HTTPRoute", {"spec": HTTP_ROUTE})
        for version in ("gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1beta1")
    ),
    *(
        (
            version,
            "Gateway",
            {
                "spec": {
                    "gatewayClassName": "x",
                    "listeners": [
                        {
                            "name": "http",
                            "port": 80,
                            "protocol": "HTTP",
                            "allowedRoutes": {"namespaces": {"from": "All"}},
                        }
                    ],
                }
            },
        )
        for version in ("gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1beta1")
    ),
    *(
        (
            version,
            "InferencePool",
            {
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "targetPorts": [{"number": 80}],
                    "endpointPickerRef": {"name": "x", "port": {"number": 80}},
                }
            },
        )
        for version in (
            "inference.networking.k8s.io/v1",
            "inference.networking.k8s.io/v2",
            "inference.networking.x-k8s.io/v1alpha2",
        )
    ),
    (
        "external-secrets.io/v1",
        "ExternalSecret",
        {
            "spec": {
                "refreshInterval": "1h",
                "secretStoreRef": {"name": "x"},
                "target": {"name": "s", "template": {"data": {"a": "b"}}},
                "data": [{"secretKey": "a", "remoteRef": {"key": "b"}}],
                "dataFrom": [{"extract": {"key": "a"}}],
            }
        },
    ),
    (
        "bitnami.com/v1alpha1",
        "SealedSecret",
        {
            "spec": {
                "encryptedData": {"a": "b"},
                "template": {"metadata": {"annotations": {"a": "b"}}, "data": {"a": "b"}},
            }
        },
    ),
    (
        "cert-manager.io/v1",
        "Certificate",
        {"spec": {"secretName": "s", "issuerRef": {"name": "x"}, "secretTemplate": {"annotations": {"a": "b"}}}},
    ),
    ("acme.example/v1", "Widget", {"spec": {"template": libyaml.load(POD)}}),
)
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, "", "x", "1Gi", "{", "../..", "\x00", [], [None], [True], [[]], ["x"], {},
    {"x": None}, {"a": {"b": "c"}}, [{}], [{"name": "x"}], {"name": []},
)  # fmt: skip


def documents() -> Iterator[Any]:
    """A sound document of every kind, each of a name that services and other documents refer to."""
    for api_version, kind, rest in SPECS:
        metadata = {"name": "own", "namespace": "ml", "labels": {"app": "x"}, "annotations": {"a": "b"}}
        yield {"apiVersion": api_version, "kind": kind, "metadata": {**metadata, **rest.get("metadata", {})}, **{
            k: v for k, v in rest.items() if k != "metadata"}}  # fmt: skip


def paths(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place in a document."""
    if at and at != ("kind",):
        yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield from paths(part, (*at, step))


def changed(document: Any, path: Place, value: Any) -> Any:
    """A document with a value in one place."""
    new = copy.deepcopy(document)
    place = new
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return new


def rendered(folder: Path, place: str, document: Any) -> Rendering:
    """The project of a folder, with a document among what it includes or what describes its cluster."""
    for name in PLACES:
        (folder / name / "document.yaml").write_text("")
    (folder / place / "document.yaml").write_text(libyaml.dump(document), encoding="utf-8")
    workspace, _, found = open_workspace(folder / "kservec.yaml", 1 << 20)
    assert workspace is not None, found
    return render(workspace, "prod")


def laid_out(folder: Path) -> Path:
    """A project of two services in a folder, with every rule of its policy on."""
    for name in (*PLACES, "services"):
        (folder / name).mkdir()
    (folder / "services" / "services.yaml").write_text(SERVICES, encoding="utf-8")
    (folder / "platform" / "bound.yaml").write_text(BOUND, encoding="utf-8")
    bounds = (LIMIT_RANGE, QUOTA_AT_MAX, QUOTA_EXCEEDED, QUOTA_UNSTATED)
    rules = {code.slug: "warning" for codes in (bounds, *(codes for _, codes in CHECKS)) for code in codes}
    (folder / "kservec.yaml").write_text(
        libyaml.dump({**PROJECT, "policy": {**POLICY, "rules": rules}}), encoding="utf-8"
    )
    return folder
