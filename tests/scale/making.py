"""An environment of many services of every kind, with something of all that spans several of them."""

from __future__ import annotations

from kservec.api import Target
from kservec.io.reading import File

NAMESPACES = ("ads", "chat", "fraud", "search", "vision")
SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: model-{number:03d}
  namespace: {namespace}
  annotations: {{serving.kserve.io/deploymentMode: {mode}}}
spec:
  predictor:
    minReplicas: 1
    serviceAccountName: {account}
    model:
      modelFormat: {{name: {format}}}
      storageUri: s3://models/{number}/v1
"""
LLM = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {{name: chat-{number:03d}, namespace: {namespace}}}
spec:
  model: {{uri: "pvc://models/tiny", name: tiny-{model}}}
  router: {{route: {{}}, gateway: {{}}, scheduler: {{}}}}
  template:
    containers:
      - name: main
        resources: {{limits: {{nvidia.com/gpu: "1"}}}}
"""
GRAPH = """\
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata:
  name: {name}
  namespace: {namespace}
  annotations: {{serving.kserve.io/deploymentMode: Standard}}
spec:
  nodes:
    root:
      routerType: Sequence
      steps:
        - serviceName: {service}
"""
CACHE = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LocalModelCache
metadata: {name: cached}
spec: {sourceModelUri: "s3://models/7/v1", modelSize: 1Gi, nodeGroups: [gpus]}
---
apiVersion: serving.kserve.io/v1alpha1
kind: LocalModelNodeGroup
metadata: {name: gpus}
spec:
  storageLimit: 10Gi
  persistentVolumeSpec:
    accessModes: [ReadWriteOnce]
    capacity: {storage: 10Gi}
    local: {path: /mnt/models}
    storageClassName: local
    nodeAffinity:
      required:
        nodeSelectorTerms:
          - matchExpressions: [{key: gpu, operator: In, values: ["yes"]}]
  persistentVolumeClaimSpec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 10Gi}}
    storageClassName: local
"""
PLATFORM = """\
apiVersion: kservec.dev/v1alpha1
kind: Cluster
gateways: [{namespace: kserve, name: kserve-ingress-gateway}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  localModel: |
    {"enabled": true, "jobNamespace": "vision", "defaultJobImage": "kserve/storage-initializer:v0.21.0"}
"""
CONTEXT = "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: ads}\n"


def file(name: str, text: str) -> File:
    """A file of the sources."""
    return File(f"services/{name}.yaml", text.encode())


def service(number: int, **changes: str) -> str:
    """An InferenceService. Every seventh names a ServiceAccount that nobody declares, which is a warning."""
    formats = ("sklearn", "xgboost", "huggingface")
    fields = {
        "namespace": NAMESPACES[number % len(NAMESPACES)],
        "mode": "Knative" if number % 6 == 0 else "Standard",
        "account": "default" if number % 7 else "missing",
        "format": formats[number % 3],
    }
    return SERVICE.format(number=number, **fields | changes)


def services(count: int) -> list[File]:
    """So many InferenceServices."""
    return [file(f"model-{number:03d}", service(number)) for number in range(count)]


def working_environment(count: int = 60) -> list[File]:
    """Services of all kinds: LLM services that share models, a graph, and models that nodes keep copies of."""
    llms = [LLM.format(number=n, namespace=NAMESPACES[n % 2], model=n // 4) for n in range(8)]
    return [
        *services(count),
        file("llms", "---\n".join(llms)),
        file("graph", GRAPH.format(name="flow", namespace="fraud", service="model-002")),
        file("cache", CACHE),
        file("context", CONTEXT),
    ]


def broken_environment(count: int = 60) -> list[File]:
    """The same with a service that is described twice, a graph that misses one, and two that lead to one object."""
    return [
        *working_environment(count),
        file("again", service(3)),
        file("lost", GRAPH.format(name="lost", namespace="ads", service="nobody")),
        file("odd", GRAPH.format(name="model-002-predictor", namespace="fraud", service="model-007")),
    ]


def target() -> Target:
    """The cluster that they are for."""
    return Target(platform=(File("platform/cluster.yaml", PLATFORM.encode()),))
