"""Endpoints: the URL that a graph calls each kind of service at, and who may call a graph back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .writing import GROUP, built, container, graph, made, node, service, slugs

ROOT = {"root": node({"serviceName": "scorer"})}
HEADLESS = {"inferenceServiceConfig": {"service": {"serviceClusterIPNone": True}}}
NO_HOST = {"inferenceServiceConfig": {"ingress": {"disableIstioVirtualHost": True}}}
INSIDE = "http://{}.ml.svc.cluster.local{}"
PREDICTOR = "scorer-predictor"
V1, V2 = "/v1/models/scorer:predict", "/v2/models/scorer/infer"


def transformer(**fields: Any) -> dict[str, Any]:
    """A transformer."""
    return {"transformer": {"containers": [{"name": "kserve-container", "image": "t:1", **fields}]}}


def custom(*containers: dict[str, Any]) -> dict[str, Any]:
    """A predictor made of containers."""
    return {"predictor": {"containers": [{"image": "c:1", **c} for c in containers]}}


def url_of(scorer: dict[str, Any], **cluster: Any) -> str:
    """The URL that a graph calls a service of the name scorer at."""
    argument = container(built(graph(ROOT), scorer, **cluster))["args"][1]
    url: str = json.loads(argument)["nodes"]["root"]["steps"][0]["serviceUrl"]
    return url


SERVICES: dict[str, tuple[dict[str, Any], str]] = {
    "model": (service("scorer"), INSIDE.format(PREDICTOR, V1)),
    "Knative": (service("scorer", "Knative"), INSIDE.format("scorer", V1)),
    "v2": (service("scorer", model={"protocolVersion": "v2"}), INSIDE.format(PREDICTOR, V2)),
    "runtime of v2": (service("scorer", model={"runtime": "kserve-mlserver"}), INSIDE.format(PREDICTOR, V2)),
    "runtime of both": (service("scorer", model={"runtime": "kserve-sklearnserver"}), INSIDE.format(PREDICTOR, V1)),
    "name of the model": (
        service("scorer", model={"args": ["--model_name=a", "--model_name", "b"]}),
        INSIDE.format(PREDICTOR, "/v1/models/b:predict"),
    ),
    "an option after the name": (
        service("scorer", model={"args": ["--model_name", "--other"]}),
        INSIDE.format(PREDICTOR, V1),
    ),
    "a name that no URL holds": (
        service("scorer", model={"args": ["--model_name=my model/50%?"]}),
        INSIDE.format(PREDICTOR, "/v1/models/my%20model/50%25%3F:predict"),
    ),
    "a name with a placeholder": (
        service("scorer", model={"args": ["--model_name={{ .Name }}-{{ .Namespace }}"]}),
        INSIDE.format(PREDICTOR, "/v1/models/scorer-ml:predict"),
    ),
    "a variable with a placeholder": (
        service("scorer", model={"env": [{"name": "MLSERVER_MODEL_NAME", "value": "{{.Name}}-2"}]}),
        INSIDE.format(PREDICTOR, "/v1/models/scorer-2:predict"),
    ),
    "a name in a block that ends elsewhere": (
        service("scorer", model={"args": ["--model_name=m{{if .Name}}"], "workingDir": "/a{{end}}"}),
        INSIDE.format(PREDICTOR, "/v1/models/m:predict"),
    ),
    "name in a variable": (
        service("scorer", model={"env": [{"name": "MLSERVER_MODEL_NAME", "value": "ml"}], "args": ["--model_name=a"]}),
        INSIDE.format(PREDICTOR, "/v1/models/ml:predict"),
    ),
    "transformer": (service("scorer", **transformer()), INSIDE.format("scorer-transformer", V1)),
    "transformer of v2": (
        service("scorer", **transformer(env=[{"name": "PROTOCOL", "value": "v2"}], args=["--model_name=risk"])),
        INSIDE.format("scorer-transformer", "/v2/models/risk/infer"),
    ),
    "transformer of nothing": (
        service("scorer", **transformer(env=[{"name": "PROTOCOL", "value": ""}])),
        INSIDE.format("scorer-transformer", ""),
    ),
    "custom": (
        service("scorer", **custom({"name": "kserve-container", "args": ["--model_name=own"]})),
        INSIDE.format(PREDICTOR, "/v1/models/own:predict"),
    ),
    "transformer beside it": (
        service(
            "scorer",
            **custom(
                {"name": "kserve-container", "ports": [{"containerPort": 8081}]},
                {
                    "name": "transformer-container",
                    "env": [{"name": "PROTOCOL", "value": "v2"}],
                    "ports": [{"containerPort": 8080}],
                },
            ),
        ),
        INSIDE.format(PREDICTOR, V2),
    ),
    "predictor with a name": (
        {**service("scorer"), "spec": {"predictor": {"name": "a", **service("scorer")["spec"]["predictor"]}}},
        INSIDE.format("scorer-a-predictor", V1),
    ),
}


@pytest.mark.parametrize(("scorer", "expected"), SERVICES.values(), ids=SERVICES)
def test_urls_follow_the_service(scorer: dict[str, Any], expected: str) -> None:
    """Address by mode, path by protocol, and the model's name as the server is told it."""
    assert url_of(scorer) == expected


def test_a_block_that_ends_in_the_runtime() -> None:
    """Where nobody can tell what becomes of a name alone, its URL still is one."""
    metadata = {"name": "own", "namespace": "ml"}
    server = {"name": "kserve-container", "image": "s:1", "args": [], "workingDir": "/a{{end}}"}
    spec = {"supportedModelFormats": [{"name": "sklearn", "autoSelect": True}], "containers": [server]}
    runtime = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "ServingRuntime", "metadata": metadata, "spec": spec}
    scorer = service("scorer", model={"runtime": "own", "args": ["--model_name=m{{if .Name}}"]})
    objects = made(built(graph(ROOT), scorer, runtime))
    (server,) = objects["Deployment/scorer-predictor"]["spec"]["template"]["spec"]["containers"]
    assert server["args"] == ["--model_name=m"]
    argument = objects["Deployment/claims"]["spec"]["template"]["spec"]["containers"][0]["args"][1]
    url = json.loads(argument)["nodes"]["root"]["steps"][0]["serviceUrl"]
    assert url == INSIDE.format(PREDICTOR, "/v1/models/m%7B%7Bif%20.Name%7D%7D:predict")


def test_urls_follow_the_platform() -> None:
    """A Service without an address maps no ports; without hosts of KServe's own Knative's are called."""
    assert url_of(service("scorer"), **HEADLESS) == f"http://{PREDICTOR}.ml.svc.cluster.local:8080{V1}"
    assert url_of(service("scorer", "Knative"), **HEADLESS) == INSIDE.format("scorer", V1)
    assert url_of(service("scorer", "Knative"), **NO_HOST) == INSIDE.format(PREDICTOR, V1)
    assert url_of(service("scorer"), clusterDomain="corp.example") == f"http://{PREDICTOR}.ml.svc.corp.example{V1}"


def upstream(text: str, *, field: str = "args") -> dict[str, Any]:
    """A service that names a host in an argument or a variable."""
    value = [text] if field == "args" else [{"name": "UPSTREAM", "value": text}]
    return service("scorer", **transformer(**{field: value}))


@pytest.mark.parametrize(
    ("text", "is_back"),
    [
        ("http://claims.ml.svc.cluster.local/", True),
        ("--next=claims.ml:80", True),
        ("http://claims/v1", True),
        ("claims", False),
        ("http://claims.web/", False),
        ("http://my-claims.ml/", False),
        ("http://claims.mlops/", False),
        ("http://claims.example.com/", False),
    ],
)
@pytest.mark.parametrize("field", ["args", "env"])
def test_a_service_that_names_its_graph(text: str, is_back: bool, field: str) -> None:
    """The host of the graph among arguments or variables of a service that it calls is a warning."""
    assert slugs(built(graph(ROOT), upstream(text, field=field))) == ["graph/called-back"] * is_back


def test_rings_of_graphs_are_errors() -> None:
    """Graphs that call each other round are refused, a graph that calls another is not."""
    second = {"root": node({"serviceUrl": "http://claims.ml.svc/"})}
    first = {"root": node({"serviceUrl": "http://second/"})}
    assert slugs(built(graph(first), graph(second, name="second"))) == ["graph/calls-itself"] * 2
    assert slugs(built(graph(first), graph(name="second"))) == []
    assert slugs(built(graph(first))) == []


def test_a_service_that_was_refused_is_not_missing() -> None:
    """What is wrong with a service is said once, at the service, wherever it was refused."""
    for broken in ({"runtime": "none-such"}, {"storageUri": "ftp://a"}, {"name": 5}):
        compilation = built(graph(ROOT), service("scorer", model=broken))
        assert not compilation.ok
        assert not [slug for slug in slugs(compilation) if slug.startswith("graph/")]


def test_a_stopped_graph_asks_for_nothing() -> None:
    """Neither a service that is missing nor one that is stopped matters to a graph that is stopped itself."""
    compilation = built(graph(ROOT, annotations={f"{GROUP}/stop": "True"}))
    assert compilation.ok
    assert compilation.objects == ()
