"""Plain manifests among what is rendered, and references to what is compiled."""

from __future__ import annotations

import pytest
from tests import libyaml

from kservec.api import packaged_schemas
from kservec.core.text.source import parse
from kservec.gitops.inclusion import included

from .making import made, service

SCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: own, namespace: ml}}
spec:
  maxReplicas: 9
  scaleTargetRef: {{apiVersion: {version}, kind: {kind}, name: {name}}}
"""


def outcome(text: str, services: str = "") -> tuple[list[str], list[str]]:
    """The texts that are rendered, and the codes of what was found, of manifests beside services."""
    documents, found = parse(text.encode(), "plain.yaml")
    assert not found
    result = included(documents, made(services).objects if services else (), packaged_schemas(), ())
    return [o.text for o in result.objects], [d.code.slug for d in result.diagnostics]


@pytest.mark.parametrize(
    ("kind", "version", "name", "mode", "codes"),
    [
        ("InferenceService", "serving.kserve.io/v1beta1", "iris", "Knative", ["input/refers-to-compiled"]),
        ("InferenceService", "serving.kserve.io/v1beta1", "other", "Standard", []),
        ("Deployment", "apps/v1", "iris-predictor", "Standard", ["include/scaled-twice"]),
        ("Deployment", "apps/v1", "other", "Standard", []),
        (
            "InferenceService", "serving.kserve.io/v1beta1", "iris", "Standard",
            ["include/retargeted", "include/scaled-twice"],
        ),
    ],
)  # fmt: skip
def test_scalers_are_led_to_workloads(kind: str, version: str, name: str, mode: str, codes: list[str]) -> None:
    """A scaler of a compiled service scales its workload, unless Knative does or the service's own scaler."""
    text = SCALER.format(kind=kind, version=version, name=name)
    assert outcome(text, service(mode=mode))[1] == codes


def test_a_canary_is_not_the_service() -> None:
    """Of several predictors the stable one is scaled."""
    canary = {"trafficPercent": 10, "predictor": {"name": "v2", "model": {
        "name": "kserve-container", "modelFormat": {"name": "sklearn"}, "storageUri": "pvc://models/v2"}}}  # fmt: skip
    body = libyaml.load(service())
    body["spec"]["canary"] = [canary]
    body["metadata"]["annotations"]["serving.kserve.io/autoscalerClass"] = "external"
    text = SCALER.format(kind="InferenceService", version="serving.kserve.io/v1beta1", name="iris")
    (rendered,), codes = outcome(text, libyaml.dump(body))
    assert libyaml.load(rendered)["spec"]["scaleTargetRef"]["name"] == "iris-predictor"
    assert codes == ["include/retargeted"]


@pytest.mark.parametrize(
    "text",
    [
        "kind: Secret\napiVersion: v1\nmetadata: {name: s, namespace: ml}\nstringData: {token: hunter2}\n",
        "kind: List\napiVersion: v1\nitems:\n- kind: Secret\n  apiVersion: v1\n  metadata: {name: s}\n",
    ],
)
def test_no_secret_is_rendered(text: str) -> None:
    """Neither alone nor in a list."""
    assert outcome(text) == ([], ["include/secret"])


@pytest.mark.parametrize("name", ["../../escape", "a/b", ".."])
def test_names_lead_nowhere_else(name: str) -> None:
    """A name that would be a path is refused, also of kinds that nobody knows."""
    text = f"kind: Widget\napiVersion: acme.example/v1\nmetadata: {{name: {name!r}, namespace: ml}}\n"
    assert outcome(text) == ([], ["metadata/invalid-name"])


@pytest.mark.parametrize("namespace", ["../up", "a/b", "Up"])
def test_namespaces_lead_nowhere_else(namespace: str) -> None:
    """Nor does a namespace."""
    text = f"kind: Widget\napiVersion: acme.example/v1\nmetadata: {{name: w, namespace: {namespace!r}}}\n"
    assert outcome(text) == ([], ["metadata/invalid-namespace"])


def test_two_groups_may_share_a_kind() -> None:
    """Files of included objects carry the group, so that no two of them have one path."""
    text = "".join(
        f"---\nkind: Gateway\napiVersion: {group}/v1\nmetadata: {{name: g, namespace: ml}}\nspec: {{}}\n"
        for group in ("networking.istio.io", "acme.example")
    )
    documents, _ = parse(text.encode(), "plain.yaml")
    paths = [o.path for o in included(documents, (), packaged_schemas(), ()).objects]
    assert sorted(paths) == [
        "ml/_included/gateway.acme.example-g.yaml",
        "ml/_included/gateway.networking.istio.io-g.yaml",
    ]


def test_a_name_that_is_a_boolean_is_to_be_quoted() -> None:
    """The text that was written is quoted, not what YAML makes of it."""
    documents, _ = parse(
        SCALER.format(kind="Deployment", version="apps/v1", name="x").replace("own", "n").encode(), "f"
    )
    (found,) = included(documents, (), packaged_schemas(), ()).diagnostics
    assert (found.code.slug, found.help) == ("schema/type", 'put it in quotes: "n"')


@pytest.mark.parametrize(
    ("kind", "version", "spec", "codes"),
    [
        ("HorizontalPodAutoscaler", "autoscaling/v1", "text", ["schema/type"]),
        ("HorizontalPodAutoscaler", "autoscaling/v1", "{minReplicas: {a: 1}}", ["schema/type"]),
        ("HorizontalPodAutoscaler", "autoscaling/v1", "{minReplicas: 2, maxReplicas: 1}", ["output/replicas-range"]),
        ("HorizontalPodAutoscaler", "autoscaling/v1", "{maxReplicas: 3, targetCPUUtilizationPercentage: 50}", []),
        ("ReplicaSet", "apps/v1", "[1]", ["schema/type"]),
        ("ReplicaSet", "apps/v1", "{selector: {matchLabels: x}}", ["schema/type"]),
        ("ReplicaSet", "apps/v1", "{selector: {matchExpressions: [{key: [a], operator: In}]}}", ["schema/type"]),
        ("ReplicaSet", "apps/v1", "{selector: {matchLabels: {a: b}}}", ["output/selector-mismatch"]),
    ],
)
def test_what_rules_speak_of_is_checked_in_kinds_without_a_schema(
    kind: str, version: str, spec: str, codes: list[str]
) -> None:
    """A field of the wrong type is refused by name, whether or not the schema of its kind is at hand."""
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: own, namespace: ml}}\nspec: {spec}\n"
    assert outcome(text)[1] == codes


POD = "{containers: [{name: a, image: %s, resources: {limits: {memory: %s}}}]}"
TEMPLATE = "{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: %s}}"


@pytest.mark.parametrize(
    ("kind", "version", "spec", "code"),
    [
        ("Deployment", "apps/v1", TEMPLATE % POD % ("R/I", "1Gi"), "pod/image"),
        ("Deployment", "apps/v1", TEMPLATE % POD % ("a/b:1", "512m"), "output/quantity-odd"),
        ("Deployment", "apps/v1", TEMPLATE % POD % ("a/b:1", "99999999999999999999Gi"), "output/quantity-cut"),
        ("ReplicaSet", "apps/v1", TEMPLATE % POD % ("a/b:1", "512m"), "output/quantity-odd"),
        ("PersistentVolumeClaim", "v1", "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 10m}}}",
         "output/quantity-odd"),
    ],
)  # fmt: skip
def test_a_warning_leaves_nothing_out(kind: str, version: str, spec: str, code: str) -> None:
    """What is only warned about is rendered."""
    rendered, codes = outcome(
        f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: own, namespace: ml}}\nspec: {spec}\n"
    )
    assert (len(rendered), codes) == (1, [code])


def test_a_warning_hides_no_error() -> None:
    """What is warned about in a pod does not end the look at what has it, be there no schema of its kind."""
    spec = (TEMPLATE % POD % ("a/b:1", "512m")).replace("matchLabels: {a: b}", "matchLabels: {a: c}")
    _, codes = outcome(f"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: own, namespace: ml}}\nspec: {spec}\n")
    assert codes == ["output/quantity-odd", "output/selector-mismatch"]
