"""Routes and addresses: names, time limits, visibility, metrics and canaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .making import (
    BY_GATEWAY,
    CLASS,
    CONTAINER,
    GROUP,
    HEADLESS,
    INSIDE,
    KNATIVE,
    NO_ROUTES,
    PLAIN,
    POD,
    SERVER,
    built,
    deployment,
    dig,
    found,
    made,
    model,
    runtime,
    service,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

LONG = "customer-lifetime-value-regressor"


def canary(name: str, percent: int) -> dict[str, Any]:
    """A canary with another version of the model."""
    version = {"name": SERVER, "modelFormat": {"name": "acme"}, "storageUri": f"s3://models/{name}"}
    return {"trafficPercent": percent, "predictor": {"name": name, "model": version}}


def test_a_host_that_is_too_long() -> None:
    """The error tells the part of the host that is too long, its length, the template and a length that would do."""
    (error,) = built(service(model(), LONG, namespace="analytics-production-emea")).diagnostics
    assert error.code.slug == "exposure/invalid-domain"
    assert f"{LONG}-predictor-analytics-production-emea" in error.message
    assert "69 characters" in error.message
    assert "27 characters or less" in error.help
    assert "{{ .Name }}-{{ .Namespace }}" in error.help


@pytest.mark.parametrize(
    ("facts", "labels"), [(NO_ROUTES, {}), ({}, {"networking.kserve.io/visibility": "cluster-local"})]
)
def test_hosts_that_nobody_has_may_be_long(facts: dict[str, Any], labels: dict[str, str]) -> None:
    """Without routes there is no host, so its name is not judged."""
    result = built(service(model(), LONG, namespace="analytics-production-emea", labels=labels), **facts)
    assert f"Deployment/{LONG}-predictor" in made(result)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("a" * 54, {}),
        ("a" * 52, {"transformer": PLAIN}),
        ("a" * 50, {"canary": [canary("next", 0)]}),
    ],
)
def test_names_of_services_that_are_too_long(name: str, more: dict[str, Any]) -> None:
    """Names of Services have 63 characters at most, suffixes of components and canaries included."""
    assert "output/long-name" in found(built(service(model(), name, **more), **NO_ROUTES))


@pytest.mark.parametrize(
    ("seconds", "ingress", "timeouts", "slugs"),
    [
        (300, {}, {"request": "300s"}, []),
        (None, {}, {"request": "60s"}, []),
        (300, {"disableHTTPRouteTimeout": True}, None, ["spec/without-effect"]),
        (None, {"disableHTTPRouteTimeout": True}, None, []),
    ],
)
def test_time_limits_of_routes(
    seconds: int | None, ingress: dict[str, Any], timeouts: dict[str, str] | None, slugs: list[str]
) -> None:
    """Routes have the limit that is asked for, or none where gateways know none, which a warning then says."""
    fields = {} if seconds is None else {"timeout": seconds}
    facts = {"inferenceServiceConfig": {"ingress": {"enableGatewayApi": True, **ingress}}}
    result = built(service(model(**fields)), **facts)
    for name in ("churn", "churn-predictor"):
        assert dig(made(result)[f"HTTPRoute/{name}"], ("spec", "rules", 0, "timeouts")) == timeouts
    assert found(result) == slugs


def test_time_limits_of_revisions() -> None:
    """In Knative mode both limits are the one that is asked for, as far as Knative's own allows."""
    objects = made(built(service(model(timeout=300), mode="Knative"), knative=KNATIVE))
    spec = dig(objects["Service/churn-predictor"], POD)
    assert (spec["timeoutSeconds"], spec["responseStartTimeoutSeconds"]) == (300, 300)
    narrow = {**KNATIVE, "defaults": {"max-revision-timeout-seconds": "200"}}
    assert found(built(service(model(timeout=300), mode="Knative"), knative=narrow)) == ["knative/limit-exceeded"]


@pytest.mark.parametrize(("facts", "port", "host"), [(HEADLESS, ":8888", ":8888"), ({}, "", "")])
def test_addresses_without_an_ip(facts: dict[str, Any], port: str, host: str) -> None:
    """A Service without an IP maps no ports: its address, and what transformers are told, name the container's."""
    server = runtime(ports=[{"name": "http1", "containerPort": 8888}])
    result = built(server, service(model(), labels=INSIDE), **facts)
    assert list(result.urls.values()) == [f"http://churn-predictor.ml.svc.cluster.local{port}"]
    (listed,) = dig(made(result)["Service/churn-predictor"], ("spec", "ports"))
    assert (listed["port"], listed["targetPort"]) == (80, 8888)
    transformed = built(server, service(model(), transformer=PLAIN), **facts)
    args = deployment(transformed, *CONTAINER, "args", name="churn-transformer")
    assert args[args.index("--predictor_host") + 1] == f"churn-predictor.ml{host}"


def test_services_inside_the_cluster() -> None:
    """The label that keeps a service inside keeps it without routes, or Knative's service without public ones."""
    result = built(service(model(), labels=INSIDE), **BY_GATEWAY)
    assert not any(name.startswith(("HTTPRoute", "Ingress")) for name in made(result))
    label = {"networking.knative.dev/visibility": "cluster-local"}
    objects = made(built(service(model(), mode="Knative", labels=label), knative=KNATIVE))
    assert objects["Service/churn-predictor"]["metadata"]["labels"].items() >= label.items()
    assert dig(objects["VirtualService/churn"], ("spec", "hosts")) == ["churn.ml.svc.cluster.local"]


@pytest.mark.parametrize(
    ("mode", "label", "value", "slugs"),
    [
        ("Standard", "networking.kserve.io/visibility", "cluster_local", ["exposure/visibility"]),
        ("Standard", "networking.kserve.io/visibility", "exposed", []),
        ("Knative", "networking.knative.dev/visibility", "private", ["exposure/visibility"]),
        ("Standard", "networking.knative.dev/visibility", "cluster-local", ["metadata/key-without-effect"]),
        ("Knative", "networking.kserve.io/visibility", "cluster-local", ["metadata/key-without-effect"]),
    ],
)
def test_nobody_is_public_by_a_slip(mode: str, label: str, value: str, slugs: list[str]) -> None:
    """A visibility that does not exist is an error, and the label of the other mode a warning."""
    assert found(built(service(model(), mode=mode, labels={label: value}), knative=KNATIVE)) == slugs


SCRAPED = {f"{GROUP}/enable-prometheus-scraping": "true"}


def test_prometheus_finds_the_server() -> None:
    """Pods tell the port of the server where there is no queue-proxy, and the Service lists it by name."""
    ports = [{"name": "http1", "containerPort": 8080}, {"name": "metrics", "containerPort": 8082}]
    annotations = {"prometheus.kserve.io/port": "8082", "prometheus.kserve.io/path": "/m"}
    result = built(runtime(ports=ports, spec={"annotations": annotations}), service(model(), annotations=SCRAPED))
    pods = deployment(result, "spec", "template", "metadata", "annotations")
    assert (pods["prometheus.io/port"], pods["prometheus.io/path"]) == ("8082", "/m")
    listed = dig(made(result)["Service/churn-predictor"], ("spec", "ports"))
    assert [(p["name"], p["port"], p["targetPort"]) for p in listed] == [("http1", 80, 8080), ("metrics", 8082, 8082)]
    assert found(result) == []
    aggregated = service(model(), mode="Knative", annotations={f"{GROUP}/enable-metric-aggregation": "true"})
    assert found(built(aggregated, knative=KNATIVE)) == ["metrics/nobody-listens"]


def backends(body: Mapping[str, Any]) -> list[list[tuple[str, int]]]:
    """Names and weights of the backends of each rule of a route."""
    return [[(b["name"], b["weight"]) for b in rule["backendRefs"]] for rule in body["spec"]["rules"]]


def test_canaries_are_in_git() -> None:
    """Every canary has its Deployment and Service, its weight stands in the routes, and explanations are not split."""
    canaries = [canary("v2", 20), canary("dark", 0)]
    fixed = {"annotations": {CLASS: "none"}}
    result = built(service(model(minReplicas=4), canary=canaries, explainer=PLAIN, **fixed), **BY_GATEWAY)
    objects = made(result)
    names = ("churn-predictor", "churn-v2-predictor", "churn-dark-predictor")
    for name in names:
        assert objects[f"Service/{name}"]["spec"]["selector"] == {"app": f"isvc.{name}"}
        assert objects[f"Deployment/{name}"]["spec"]["selector"] == {"matchLabels": {"app": f"isvc.{name}"}}
    assert objects["Deployment/churn-v2-predictor"]["spec"]["replicas"] == 1
    explained, predicted = backends(objects["HTTPRoute/churn"])
    assert explained == [("churn-explainer", 1)]
    assert dict(predicted)["churn-predictor"] == 80
    assert dict(predicted)["churn-v2-predictor"] == 20
    assert backends(objects["HTTPRoute/churn-predictor"]) == [predicted]


@pytest.mark.parametrize(
    ("canaries", "slug"),
    [
        ([canary("v2", 60), canary("v3", 50)], "canary/traffic"),
        ([canary("v2", 20), canary("v2", 10)], "canary/name"),
    ],
)
def test_canaries_that_do_not_add_up(canaries: list[dict[str, Any]], slug: str) -> None:
    """More than all traffic, or one name for two canaries, is an error."""
    assert found(built(service(model(), canary=canaries), **BY_GATEWAY)) == [slug]


def test_a_percentage_without_effect_is_reported() -> None:
    """The percentage of Knative mode does nothing in Standard mode, and a warning says what does."""
    (warning,) = built(service(model(canaryTrafficPercent=10))).diagnostics
    assert warning.code.slug == "spec/without-effect"
    assert "spec.canary" in warning.help
