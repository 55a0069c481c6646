"""InferenceServices to measure with: four kinds of them, as teams write them, and the cluster that they are for."""

from __future__ import annotations

from kservec import File, Target

MODEL = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: {name}
  namespace: {namespace}
  labels:
    app.kubernetes.io/part-of: scoring
    cost-center: "{number}"
  annotations:
    serving.kserve.io/deploymentMode: Standard
    prometheus.io/scrape: "true"
spec:
  predictor:
    minReplicas: 2
    maxReplicas: 6
    scaleMetric: cpu
    scaleTarget: 75
    timeout: 60
    serviceAccountName: model-reader
    model:
      modelFormat:
        name: {format}
      storageUri: s3://models/{name}/v{version}
      args: ["--workers=2"]
      env:
        - name: OMP_NUM_THREADS
          value: "4"
        - name: LOG_LEVEL
          value: info
      resources:
        requests: {{cpu: 500m, memory: 1Gi}}
        limits:
          cpu: "2"
          memory: 4Gi
    tolerations:
      - key: nvidia.com/gpu
        operator: Exists
        effect: NoSchedule
"""
TRANSFORMER = """\
  transformer:
    minReplicas: 1
    containers:
      - name: kserve-container
        image: registry.example.com/transformer:1.{number}
        resources:
          requests: {{cpu: 250m, memory: 512Mi}}
          limits: {{cpu: "1", memory: 1Gi}}
"""
LANGUAGE_MODEL = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {{name: chat-{number:05d}, namespace: team-{team}}}
spec:
  model: {{uri: "pvc://models/tiny-{number}", name: tiny-{number}}}
  router: {{route: {{}}, gateway: {{}}, scheduler: {{}}}}
  template:
    containers:
      - name: main
        resources: {{limits: {{nvidia.com/gpu: "1"}}}}
"""
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
ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata: {{name: model-reader, namespace: {namespace}}}
secrets: [{{name: models}}]
---
apiVersion: v1
kind: Secret
metadata:
  name: models
  namespace: {namespace}
  annotations: {{serving.kserve.io/s3-endpoint: minio.storage.svc:9000}}
data: {{AWS_ACCESS_KEY_ID: eA==, AWS_SECRET_ACCESS_KEY: eA==}}
"""
FORMATS = ("sklearn", "xgboost", "lightgbm", "huggingface")
NAMESPACES = 20
TRANSFORMED = 10
"""Every so many services have a transformer."""


def service(number: int) -> File:
    """One service, in a file of its own."""
    fields = {
        "name": f"model-{number:05d}",
        "namespace": f"team-{number % NAMESPACES}",
        "number": number,
        "format": FORMATS[number % len(FORMATS)],
        "version": number % 9 + 1,
    }
    text = MODEL + (TRANSFORMER if number % TRANSFORMED == 0 else "")
    return File(f"services/{fields['name']}.yaml", text.format(**fields).encode())


def language_models(count: int) -> list[File]:
    """So many LLM services, each in a file of its own, with the presets, a route and a scheduler."""
    made = ((n, LANGUAGE_MODEL.format(number=n, team=n % NAMESPACES)) for n in range(count))
    return [File(f"services/chat-{n:05d}.yaml", text.encode()) for n, text in made]


def services(count: int) -> list[File]:
    """So many services."""
    return [service(number) for number in range(count)]


def target() -> Target:
    """The cluster that they are for."""
    accounts = "---\n".join(ACCOUNT.format(namespace=f"team-{i}") for i in range(NAMESPACES))
    return Target(platform=[File("cluster.yaml", PLATFORM.encode()), File("accounts.yaml", accounts.encode())])
