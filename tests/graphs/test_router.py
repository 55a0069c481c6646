"""The router of a graph: what it is told, and the objects that run it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from .writing import GROUP, URL, built, called, container, graph, made, node, service, slugs


def steps_of(count: int) -> dict[str, Any]:
    """Nodes whose root has so many steps that its JSON takes about so many times 75 bytes."""
    return {"root": node(*(called() for _ in range(count)))}


def test_a_long_graph_goes_as_a_file() -> None:
    """Beyond 96 KiB the graph is a file from a ConfigMap, by whose content the pods are told apart."""
    compilation = built(graph(steps_of(1600)))
    assert slugs(compilation) == ["graph/as-file"]
    (found,) = compilation.diagnostics
    assert found.span is not None
    (text,) = compilation.sources.values()
    assert text.splitlines()[found.span.line - 1] == "    root:"
    objects = made(compilation)
    text = objects["ConfigMap/claims-graph"]["data"]["graph.json"]
    assert len(json.loads(text)["nodes"]["root"]["steps"]) == 1600
    template = objects["Deployment/claims"]["spec"]["template"]
    digest = template["metadata"]["annotations"]["kservec.dev/graph-sha256"]
    assert digest == hashlib.sha256(text.encode()).hexdigest()
    (only,) = template["spec"]["containers"]
    (mount,) = only["volumeMounts"]
    assert only["args"] == ["--graph", f"{mount['mountPath']}/graph.json"]
    assert template["spec"]["volumes"] == [{"name": mount["name"], "configMap": {"name": "claims-graph"}}]


def test_a_graph_of_a_usual_size_is_an_argument() -> None:
    """Up to 96 KiB it stands in the arguments, where KServe's router finds it."""
    compilation = built(graph(steps_of(1200)))
    assert slugs(compilation) == []
    assert [key for key in made(compilation) if key.startswith("ConfigMap")] == []
    assert container(compilation)["args"][0] == "--graph-json"


@pytest.mark.slow
def test_a_graph_has_a_largest_size() -> None:
    """What no ConfigMap holds is refused."""
    assert slugs(built(graph(steps_of(16_000)))) == ["graph/too-large"]


@pytest.mark.parametrize("text", ["$(HOSTNAME)", "a$$b", "$$(x)", "$response", "plain"])
def test_arguments_stay_as_they_are(text: str) -> None:
    """What the kubelet makes of the argument, by its rules for variables, is the graph again."""
    condition = {"root": node(called(condition=text), kind="Ensemble")}
    argument = container(built(graph(condition)))["args"][1]
    expanded = argument.replace("$$", "\0").replace("\0", "$")
    assert "$(" not in argument.replace("$$", "")
    assert json.loads(expanded)["nodes"]["root"]["steps"][0]["condition"] == text


def test_what_kubectl_noted_stays_behind() -> None:
    """Objects carry the graph's annotations without kubectl's own, and none that speaks to kservec."""
    noted = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "kservec.dev/note": "x", "team": "risk"}
    for key, body in made(built(graph(annotations=noted))).items():
        annotations = body["metadata"]["annotations"]
        assert annotations == {"team": "risk", f"{GROUP}/deploymentMode": "Standard"}, key


def test_a_knative_service_is_whole() -> None:
    """The container has the name that Knative would give it, the timeout counts from the first byte on, too."""
    body = made(built(graph(mode="Knative", timeout=50)))["Service/claims"]
    spec = body["spec"]["template"]["spec"]
    assert [c["name"] for c in spec["containers"]] == ["user-container"]
    assert spec["timeoutSeconds"] == spec["responseStartTimeoutSeconds"] == 50
    assert "labels" not in body["metadata"]


def test_knative_has_no_node_names() -> None:
    """A field that Knative services lack is left out, with a warning."""
    features = {"knative": {"domain": {"example.com": ""}, "features": {}}}
    compilation = built(graph(mode="Knative", nodeName="node-7"), **features)
    assert slugs(compilation) == ["knative/field-dropped"]
    assert "nodeName" not in made(compilation)["Service/claims"]["spec"]["template"]["spec"]


def test_rollouts_are_slowed_on_the_service() -> None:
    """The annotation stands where Knative looks for it."""
    key = "serving.knative.dev/rollout-duration"
    body = made(built(graph(mode="Knative", annotations={key: "60s"})))["Service/claims"]
    assert body["metadata"]["annotations"][key] == "60s"
    assert key not in body["spec"]["template"]["metadata"]["annotations"]


def test_only_the_present_mode_is_in_the_tree() -> None:
    """A graph in Knative mode leads to its Knative service and nothing else."""
    assert list(made(built(graph(mode="Knative")))) == ["Service/claims"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({}, {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "100Mi"}}),
        ({"limits": {"cpu": "0.5"}}, {"limits": {"cpu": "500m"}}),
        ({"claims": [{"name": "gpu"}]}, {}),
        ({"requests": {"memory": "1024Mi"}}, {"requests": {"memory": "1Gi"}}),
    ],
)
def test_resources_are_the_graphs_or_the_platforms(written: dict[str, Any], expected: dict[str, Any]) -> None:
    """Once the graph names any, none come from the platform."""
    assert container(built(graph(resources=written, maxReplicas=1))).get("resources", {}) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [({}, None), ({"other": ["A"]}, None), ({"propagate": ["A", "B-.*"]}, "A,B-.*")],
)
def test_headers_to_hand_on(headers: dict[str, list[str]], expected: str | None) -> None:
    """The variable is there when the platform has the list."""
    router = {"image": "r:1", "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi"}
    compilation = built(graph(), inferenceServiceConfig={"router": {**router, "headers": headers}})
    env = container(compilation).get("env")
    assert env == (None if expected is None else [{"name": "PROPAGATE_HEADERS", "value": expected}])


def test_an_empty_list_of_headers_is_pointed_out() -> None:
    """KServe writes an empty variable then, and its router takes that for a pattern that fits every header."""
    router = {"image": "r:1", "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi"}
    section = {"router": {**router, "headers": {"propagate": []}}}
    compilation = built(graph(), graph(name="second"), inferenceServiceConfig=section)
    assert slugs(compilation) == ["graph/all-headers"]
    (variable,) = container(compilation)["env"]
    assert (variable["name"], variable.get("value", "")) == ("PROPAGATE_HEADERS", "")


def test_where_graphs_are_reached() -> None:
    """In Standard mode nothing routes to a graph, so its URL is the one inside the cluster; Knative makes a host."""
    urls = built(graph(), graph(name="slow", mode="Knative")).urls
    assert {ref.name: url for ref, url in urls.items()} == {
        "claims": "http://claims.ml.svc.cluster.local",
        "slow": "http://slow.ml.example.com",
    }


@pytest.mark.parametrize(
    ("more", "expected", "codes"),
    [
        ({}, "7", []),
        ({"maxReplicas": 3}, "3", ["metadata/key-without-effect"]),
    ],
)
def test_a_bound_by_annotation(more: dict[str, Any], expected: str, codes: list[str]) -> None:
    """Nothing keeps back the annotations of graphs, so the greatest scale counts where the spec has none."""
    compilation = built(graph(mode="Knative", annotations={"autoscaling.knative.dev/max-scale": "7"}, **more))
    annotations = made(compilation)["Service/claims"]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["autoscaling.knative.dev/max-scale"] == expected
    assert slugs(compilation) == codes


@pytest.mark.parametrize(
    ("mode", "bounds", "codes"),
    [
        ("Standard", {"minReplicas": 3, "maxReplicas": 2}, ["spec/without-effect"]),
        ("Standard", {"minReplicas": -1, "maxReplicas": -1}, ["spec/without-effect"] * 2),
        ("Knative", {"minReplicas": -1}, ["scaling/negative-count"]),
    ],
)
def test_bounds_that_make_no_sense(mode: str, bounds: dict[str, int], codes: list[str]) -> None:
    """KServe corrects the bounds of an autoscaler without a word; Knative refuses negative ones."""
    compilation = built(graph(mode=mode, **bounds))
    assert slugs(compilation) == codes
    if mode == "Standard":
        spec = made(compilation)["HorizontalPodAutoscaler/claims"]["spec"]
        assert 0 < spec["minReplicas"] <= spec["maxReplicas"]


def test_a_stopped_graph_needs_the_settings_too() -> None:
    """KServe reads the section of the router before anything else."""
    broken = {"router": {"cpuLimit": "one"}}
    stopped = graph(annotations={f"{GROUP}/stop": "true"})
    assert slugs(built(stopped, inferenceServiceConfig=broken)) == ["platform/configuration"]


def test_findings_point_into_the_graph() -> None:
    """What an API server would refuse in the pod is located at the field of the graph that it comes from."""
    compilation = built(graph(nodeSelector={"bad key!": "x"}))
    assert not compilation.ok
    assert {d.span.line for d in compilation.diagnostics if d.span} != {0}
    assert all(d.span is not None and d.span.file == "input.yaml" for d in compilation.diagnostics)


def test_services_come_before_graphs_whatever_their_names() -> None:
    """The order of documents does not matter, nor how many there are."""
    documents = [service(f"s{i:02d}") for i in range(40)]
    nodes = {"root": node(*({"serviceName": d["metadata"]["name"]} for d in documents))}
    first = made(built(graph(nodes), *documents))
    assert first == made(built(*reversed(documents), graph(nodes)))
    argument = first["Deployment/claims"]["spec"]["template"]["spec"]["containers"][0]["args"][1]
    urls = [step["serviceUrl"] for step in json.loads(argument)["nodes"]["root"]["steps"]]
    assert urls[39] == "http://s39-predictor.ml.svc.cluster.local/v1/models/s39:predict"
    assert URL not in urls
