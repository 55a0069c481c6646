"""Real builds of small specs, and their comparison as `kservec diff` makes it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kservec import File, Target, compile_text
from kservec.compare.objects import Side, owners_in
from kservec.compare.report import COMMITTED, Comparison, compared
from kservec.gitops.layout import INDEX

if TYPE_CHECKING:
    from kservec.api import Compilation

PLATFORM = """\
apiVersion: kservec.dev/v1alpha1
kind: Cluster
gateways:
  - {namespace: kserve, name: kserve-ingress-gateway}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  ingress: |
    {
      "enableGatewayApi": true,
      "kserveIngressGateway": "kserve/kserve-ingress-gateway",
      "ingressGateway": "knative-serving/knative-ingress-gateway",
      "ingressDomain": "models.example.com"
    }
"""

STANDARD = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: fraud
  namespace: payments
  labels: {team: risk}
  annotations:
    serving.kserve.io/deploymentMode: Standard
spec:
  predictor:
    minReplicas: 3
    maxReplicas: 9
    timeout: 60
    model:
      modelFormat: {name: sklearn}
      storageUri: s3://models/fraud/v7
      args: ["--workers=2"]
      env:
        - {name: OMP_NUM_THREADS, value: "4"}
        - {name: LOG_LEVEL, value: info}
      resources:
        requests: {cpu: 500m, memory: 1Gi}
        limits: {cpu: "1", memory: 2Gi, nvidia.com/gpu: "2"}
"""
CANARY = (
    STANDARD
    + """\
  canary:
    - trafficPercent: 10
      predictor:
        name: v8
        model:
          name: kserve-container
          modelFormat: {name: sklearn}
          storageUri: s3://models/fraud/v8
"""
)
TRANSFORMER = (
    STANDARD
    + """\
  transformer:
    containers:
      - name: kserve-container
        image: registry.example.com/transformer:1.0
        ports: [{containerPort: 8080}]
"""
)
KNATIVE = STANDARD.replace("Standard", "Knative")
MODE = "    serving.kserve.io/deploymentMode"
CLASS = "    serving.kserve.io/autoscalerClass"
METRIC = """\
    autoScaling:
      metrics:
        - type: Resource
          resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}
"""
KEDA = STANDARD.replace(MODE, f"{CLASS}: keda\n{MODE}").replace("    timeout: 60\n", f"    timeout: 60\n{METRIC}")
FIXED = STANDARD.replace(MODE, f"{CLASS}: none\n{MODE}")
GRAPH = """\
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata:
  name: screening
  namespace: payments
  annotations:
    serving.kserve.io/deploymentMode: Standard
spec:
  nodes:
    root:
      routerType: Splitter
      steps:
        - {serviceUrl: "http://a.payments.svc.cluster.local/v1/models/a:predict", weight: 90}
        - {serviceUrl: "http://b.payments.svc.cluster.local/v1/models/b:predict", weight: 10}
"""
LLM = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata:
  name: chat
  namespace: support
spec:
  model: {uri: hf://acme/chat, name: chat}
  replicas: 2
  parallelism: {data: 8, dataLocal: 4}
  template:
    containers:
      - name: main
        resources: {limits: {nvidia.com/gpu: "4"}, requests: {nvidia.com/gpu: "4"}}
  worker:
    containers:
      - name: main
        resources: {limits: {nvidia.com/gpu: "4"}, requests: {nvidia.com/gpu: "4"}}
"""
SINGLE_LLM = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata:
  name: small
  namespace: support
spec:
  model: {uri: hf://acme/small, name: small}
  replicas: 2
  template:
    containers:
      - name: main
        resources: {limits: {nvidia.com/gpu: "1"}, requests: {nvidia.com/gpu: "1"}}
  router:
    route: {}
"""


@cache
def built(text: str, platform: str = PLATFORM) -> Compilation:
    """A build of specs."""
    target = Target(platform=[File("platform.yaml", platform.encode())], names_revisions=True)
    compilation = compile_text(text, target=target)
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    return compilation


def comparison(before: Compilation, after: Compilation) -> Comparison:
    """Two builds compared."""
    old, new = before.tree, after.tree
    return compared(Comparison("prod", "rendered/prod", COMMITTED), side(old, new), side(new, old), after.objects)


def side(files: dict[str, bytes], others: dict[str, bytes]) -> Side:
    """What of a tree is not in another one."""
    own = {path: content for path, content in files.items() if others.get(path) != content}
    return Side(own, owners_in(files[INDEX], own))


def edited(text: str, *edits: tuple[str, str]) -> str:
    """A text with edits, each of which must apply."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text
