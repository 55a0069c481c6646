"""What rendered fields point at: the line of the user's file that they were made of. Findings and `explain` show it."""

from __future__ import annotations

import pytest

from kservec import File, Target, compile_files
from kservec.api import front_of
from kservec.compilation import steps_of

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: churn
  namespace: ml
  labels:
    team: risk
  annotations:
    serving.kserve.io/deploymentMode: Standard
    serving.kserve.io/autoscalerClass: {scaler}
    serving.kserve.io/gke-accelerator: nvidia-l4
    serving.kserve.io/storage-initializer-uid: "1337"
    note: mine
spec:
  predictor:
    annotations:
      own: pods
    minReplicas: 2
    maxReplicas: 7
{scaling}    model:
      modelFormat: {{name: sklearn}}
      storageUri: s3://models/churn
      resources:
        limits: {{nvidia.com/gpu: "1"}}
      env:
        - {{name: MODE, value: stable}}
"""
TARGET = "    scaleTarget: 60\n"
METRICS = """\
    autoScaling:
      metrics:
        - type: Resource
          resource: {name: memory, target: {type: Utilization, averageUtilization: 70}}
"""
BEHAVIOR = """\
      behavior:
        scaleDown: {selectPolicy: Min}
"""
QUERY = """\
    autoScaling:
      metrics:
        - type: External
          external:
            metric: {backend: prometheus, serverAddress: "http://prometheus:9090", query: rate}
            target: {type: Value, value: "3"}
"""
PODS = """\
    autoScaling:
      metrics:
        - type: PodMetric
          podmetric:
            metric: {backend: opentelemetry, metricNames: [depth], query: depth}
            target: {type: Value, value: "4"}
"""
LLM = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata:
  name: chat
  namespace: ml
spec:
  model: {uri: "pvc://models/chat", name: chat}
  labels:
    tier: gold
  rolloutStrategy: {maxSurge: 1, maxUnavailable: 0}
"""
HPA, KEDA, DEPLOYMENT, COLLECTOR = "HorizontalPodAutoscaler", "ScaledObject", "Deployment", "OpenTelemetryCollector"
POD = ("spec", "template", "spec")
ROWS = [
    ("hpa", TARGET, HPA, ("spec", "minReplicas"), "    minReplicas: 2"),
    ("hpa", TARGET, HPA, ("spec", "maxReplicas"), "    maxReplicas: 7"),
    ("hpa", TARGET, HPA, ("spec", "metrics"), "    scaleTarget: 60"),
    ("hpa", METRICS, HPA, ("spec", "metrics"), "      metrics:"),
    ("hpa", METRICS + BEHAVIOR, HPA, ("spec", "behavior", "scaleDown", "selectPolicy"),
     "        scaleDown: {selectPolicy: Min}"),
    ("keda", QUERY, KEDA, ("spec", "minReplicaCount"), "    minReplicas: 2"),
    ("keda", QUERY, KEDA, ("spec", "maxReplicaCount"), "    maxReplicas: 7"),
    ("keda", QUERY, KEDA, ("spec", "triggers"), "      metrics:"),
    ("keda", PODS, COLLECTOR, ("spec", "config", "processors", "filter/metrics"), "        - type: PodMetric"),
    ("hpa", "", DEPLOYMENT, ("metadata", "annotations", "note"), "    note: mine"),
    ("hpa", "", DEPLOYMENT, ("metadata", "labels", "team"), "    team: risk"),
    ("hpa", "", DEPLOYMENT, ("spec", "template", "metadata", "annotations", "own"), "      own: pods"),
    ("hpa", "", DEPLOYMENT, (*POD, "nodeSelector", "cloud.google.com/gke-accelerator"),
     "    serving.kserve.io/gke-accelerator: nvidia-l4"),
    ("hpa", "", DEPLOYMENT, (*POD, "initContainers", "storage-initializer", "securityContext", "runAsUser"),
     '    serving.kserve.io/storage-initializer-uid: "1337"'),
    ("hpa", "", DEPLOYMENT, (*POD, "containers", "kserve-container", "env", "MODE", "value"),
     "        - {name: MODE, value: stable}"),
]  # fmt: skip


def line_of(text: str, kind: str, path: tuple[str | int, ...]) -> str:
    """The line that a field of the object of a kind points at."""
    front, compilation = front_of([File("spec.yaml", text.encode())])
    assert compilation.ok
    made = [m for step in steps_of(front) for m in step.unit.bundle.manifests if m.ref.kind == kind]
    span = made[0].body.span(path)
    assert span is not None
    assert span.file == "spec.yaml"
    return text.splitlines()[span.line - 1]


@pytest.mark.parametrize(("scaler", "scaling", "kind", "path", "line"), ROWS)
def test_a_field_points_at_what_it_was_made_of(
    scaler: str, scaling: str, kind: str, path: tuple[str, ...], line: str
) -> None:
    """A field of a rendered object leads to the field of the service that it follows from."""
    text = SERVICE.format(scaler=scaler, scaling=scaling)
    assert line_of(text, kind, path) == line


def test_a_rollout_points_at_its_strategy() -> None:
    """So does the strategy of an LLM server's Deployment."""
    assert line_of(LLM, DEPLOYMENT, ("spec", "strategy")).startswith("  rolloutStrategy:")


def test_a_selector_points_at_the_labels() -> None:
    """Labels of an LLM service select its pods too, and each of them is at its own line there."""
    assert line_of(LLM, DEPLOYMENT, ("spec", "selector", "matchLabels", "tier")) == "    tier: gold"


KNATIVE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: churn
  namespace: ml
  annotations: {serving.kserve.io/deploymentMode: Knative}
spec:
  predictor:
    maxReplicas: 9
    runtimeClassName: gvisor
    containers: [{name: kserve-container, image: "registry.example.com/scorer:1"}]
"""
CLUSTER = """\
apiVersion: kservec.dev/v1alpha1
kind: Cluster
knative:
  autoscaler: {max-scale-limit: "5"}
  features: {kubernetes.podspec-runtimeclassname: disabled}
"""


def test_a_refused_setting_points_at_what_needs_it() -> None:
    """A limit of Knative's leads to the number that is beyond it, a feature to the field that needs it."""
    target = Target(platform=[File("cluster.yaml", CLUSTER.encode())])
    found = compile_files([File("spec.yaml", KNATIVE.encode())], target=target).diagnostics
    lines = {d.message.split()[-1]: KNATIVE.splitlines()[d.span.line - 1] for d in found if d.is_error and d.span}
    assert sorted(lines.values()) == ["    maxReplicas: 9", "    runtimeClassName: gvisor"]


def test_arguments_of_a_transformer_are_the_users_and_ours() -> None:
    """What KServe adds stands behind what the user wrote, and is at no line of the user's."""
    transformer = """\
  transformer:
    containers:
      - name: kserve-container
        image: features:1
        args:
          - --own
"""
    text = SERVICE.format(scaler="hpa", scaling="") + transformer
    front, _ = front_of([File("spec.yaml", text.encode())])
    made = (m for step in steps_of(front) for m in step.unit.bundle.manifests)
    body = next(m.body for m in made if (m.ref.kind, m.ref.name) == (DEPLOYMENT, "churn-transformer"))
    at = (*POD, "containers", "kserve-container", "args")
    own = body.span((*at, 0))
    assert own is not None
    assert text.splitlines()[own.line - 1].strip() == "- --own"
    assert (body.get(*at, 1), body.span((*at, 1))) == ("--model_name", None)


def test_what_a_runtime_gives_points_at_the_runtime() -> None:
    """What a runtime gives its pods is at its own lines, and what the service says goes before it."""
    runtime = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: own, namespace: ml}
spec:
  labels:
    owner: platform
    team: nobody
  annotations:
    from: runtime
  nodeSelector:
    disk: fast
  supportedModelFormats: [{name: sklearn, autoSelect: true}]
  containers: [{name: kserve-container, image: "server:1"}]
---
"""
    text = runtime + SERVICE.format(scaler="hpa", scaling="")
    where = ("spec", "template", "metadata")
    assert line_of(text, DEPLOYMENT, (*where, "labels", "owner")) == "    owner: platform"
    assert line_of(text, DEPLOYMENT, (*where, "labels", "team")) == "    team: risk"
    assert line_of(text, DEPLOYMENT, (*where, "annotations", "from")) == "    from: runtime"
    assert line_of(text, DEPLOYMENT, (*POD, "nodeSelector", "disk")) == "    disk: fast"


def test_a_server_that_is_put_in_front_points_at_its_own_lines() -> None:
    """KServe's container comes first, wherever the user has it, and so does what it says."""
    before, _, _ = SERVICE.partition("    model:")
    containers = """\
    containers:
      - name: log
        image: "log:1"
      - name: kserve-container
        image: "mine:1"
"""
    text = before.format(scaler="hpa", scaling="") + containers
    assert line_of(text, DEPLOYMENT, (*POD, "containers", "kserve-container", "image")) == '        image: "mine:1"'
    assert line_of(text, DEPLOYMENT, (*POD, "containers", "log", "image")) == '        image: "log:1"'


def test_rules_of_a_route_point_at_the_users() -> None:
    """A rule that moves up, since the one before it asks for a model where models have no routes, stays at its line."""
    routed = """\
  annotations:
    serving.kserve.io/model-based-routing-enabled: "false"
  router:
    gateway: {}
    route:
      http:
        spec:
          rules:
            - name: first
              matches: [{headers: [{name: X-Gateway-Model-Name, value: chat}]}]
            - name: second
              matches: [{path: {type: PathPrefix, value: /}}]
"""
    assert line_of(LLM + routed, "HTTPRoute", ("spec", "rules", 0, "name")) == "            - name: second"


TEMPLATED = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: own, namespace: ml}
spec:
  supportedModelFormats: [{name: sklearn, autoSelect: true}]
  volumes: [{name: scratch, emptyDir: {}}]
  containers:
    - name: kserve-container
      image: "server:1"
      env:
        - {name: "KEY_{{.Labels.team}}", value: one}
      volumeMounts:
        - {name: scratch, mountPath: "/work/{{.Name}}"}
      ports:
        - {name: http, containerPort: 8080}
        - {containerPort: 9000}
    - name: "{{.Name}}-helper"
      image: "helper:1"
      env:
        - {name: "{{.Name}}", value: two}
---
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("kserve-container", "env", "KEY_risk", "value"), '        - {name: "KEY_{{.Labels.team}}", value: one}'),
        (("kserve-container", "volumeMounts", "/work/churn", "name"),
         '        - {name: scratch, mountPath: "/work/{{.Name}}"}'),
        (("churn-helper", "image"), '      image: "helper:1"'),
        (("churn-helper", "env", "churn", "value"), '        - {name: "{{.Name}}", value: two}'),
        (("kserve-container", "env", "MODE", "value"), "        - {name: MODE, value: stable}"),
    ],
)  # fmt: skip
def test_what_a_template_names_is_where_the_template_is(path: tuple[str, ...], line: str) -> None:
    """A container, variable or mount whose name is filled in is found by what it has come to be called."""
    text = TEMPLATED + SERVICE.format(scaler="hpa", scaling="")
    assert line_of(text, DEPLOYMENT, (*POD, "containers", *path)) == line


def test_a_port_of_a_service_is_where_the_container_has_it() -> None:
    """That of the runtime, with all that follows from it; the number of the first one is at no line."""
    text = TEMPLATED + SERVICE.format(scaler="hpa", scaling="")
    found = compile_files([File("spec.yaml", text.encode())]).diagnostics
    (unnamed,) = [d for d in found if d.code.slug == "output/unnamed-port"]
    assert unnamed.span is not None
    assert text.splitlines()[unnamed.span.line - 1] == "        - {containerPort: 9000}"
    sound = text.replace("{containerPort: 9000}", "{name: grpc, containerPort: 9000}")
    for field in ("name", "targetPort", "port", "appProtocol"):
        assert "containerPort: 9000" in line_of(sound, "Service", ("spec", "ports", 9000, field))
    assert "containerPort: 8080" in line_of(sound, "Service", ("spec", "ports", 80, "targetPort"))


def test_arguments_of_an_art_explainer() -> None:
    """The user's own, which stand there twice, are at their lines; what is made of its fields is at the explainer."""
    explainer = """\
  explainer:
    art:
      type: SquareAttack
      securityContext: {runAsUser: 7}
      args:
        - --own
"""
    text = SERVICE.format(scaler="hpa", scaling="") + explainer
    front, _ = front_of([File("spec.yaml", text.encode())])
    made = [m.body for s in steps_of(front) for m in s.unit.bundle.manifests if m.ref.name == "churn-explainer"]
    body = next(b for b in made if b.get("kind") == DEPLOYMENT)
    at = (*POD, "containers", "kserve-container")
    lines = text.splitlines()
    user = body.span((*at, "securityContext", "runAsUser"))
    assert user is not None
    assert "runAsUser" in lines[user.line - 1]
    args = body.get(*at, "args")
    spans = [body.span((*at, "args", i)) for i, arg in enumerate(args) if arg == "--own"]
    assert [lines[span.line - 1].strip() for span in spans if span is not None] == ["- --own", "- --own"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('    storageUris:\n      - mountPath: /mnt/a\n        uri: "gs//models/a"\n', '"gs//models/a"'),
        ("    containers:\n    - image: own:1\n      name: mine\n      env:\n        - name: STORAGE_URI\n"
         '          value: "gs//models/b"\n', '"gs//models/b"'),
    ],
)  # fmt: skip
def test_a_finding_about_a_uri_points_to_the_uri(written: str, shown: str) -> None:
    """To its line and column, wherever in its entry it stands and whatever the container is called."""
    service = SERVICE.format(scaler="hpa", scaling="").partition("    model:")[0]
    model = "    model:\n      modelFormat: {name: sklearn}\n"
    text = service + (written if "containers" in written else model + written)
    found = compile_files([File("spec.yaml", text.encode())]).diagnostics
    (slip,) = [d for d in found if d.code.slug == "storage/scheme-misspelt"]
    span = slip.span
    assert span is not None
    assert text.splitlines()[span.line - 1][span.column - 1 : span.end_column - 1] == shown
