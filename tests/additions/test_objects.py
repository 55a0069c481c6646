"""What a project puts beside workloads: budgets, PodMonitors, NetworkPolicies."""

from __future__ import annotations

from typing import Any

import pytest
from tests import libyaml

from kservec.core.additions import Budget, Monitor, Peers
from kservec.core.network.addresses import rules_of, urls
from kservec.core.pods.metrics_ports import MetricsPort
from kservec.passes.monitor_pods import endpoint

from .making import made, objects, service, slugs

SERVER = {"name": "main", "ports": [{"containerPort": 8000}]}
ONE = Budget(field="maxUnavailable", value=1)
KNATIVE_NAMESPACE = "knative-serving"


@pytest.mark.parametrize(
    ("budget", "replicas", "there"),
    [
        (ONE, {"minReplicas": 1, "maxReplicas": 1}, False),
        (ONE, {"minReplicas": 1, "maxReplicas": 3}, True),
        (Budget(field="maxUnavailable", value=1, singles=True), {"minReplicas": 1, "maxReplicas": 1}, True),
        (Budget(field="minAvailable", value=2), {"minReplicas": 2, "maxReplicas": 5}, False),
        (Budget(field="minAvailable", value=2), {"minReplicas": 3, "maxReplicas": 5}, True),
        (Budget(field="minAvailable", value="50%"), {"minReplicas": 1, "maxReplicas": 5}, False),
        (Budget(field="minAvailable", value="50%"), {"minReplicas": 2, "maxReplicas": 5}, True),
    ],
)
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_a_budget_needs_a_pod_to_spare(budget: Budget, replicas: dict[str, int], there: bool, mode: str) -> None:
    """Whatever scales the workload, a budget that would block its node is not made, and a warning says so."""
    compilation = made(service(mode=mode, **replicas), budget=budget)
    assert bool(objects(compilation, "PodDisruptionBudget")) is there
    assert ("availability/no-budget" in slugs(compilation)) is not there


def test_one_warning_names_all_workloads_without_a_budget() -> None:
    """A service with several of them gets one finding."""
    transformer = {"containers": [{"name": "features", "image": "features:1"}], "minReplicas": 1}
    body = libyaml.load(service(minReplicas=1, maxReplicas=1))
    body["spec"]["transformer"] = transformer
    found = [d.message for d in made(libyaml.dump(body), budget=ONE).diagnostics if "Budget" in d.message]
    spare = "with maxUnavailable: 1 there would be no pod to spare"
    assert found == [f"no PodDisruptionBudget for iris-predictor, iris-transformer: {spare}"]


def test_a_port_that_is_not_listed_is_reached_all_the_same() -> None:
    """The target of the container that is listed is led to the port of its metrics."""
    text = service(model={"modelFormat": {"name": "triton"}, "storageUri": "pvc://models/t"})
    (monitor,) = objects(made(text, monitor=Monitor(labels={"release": "p"})), "PodMonitor").values()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert endpoint["relabelings"][-1]["replacement"] == "$1:8002"
    assert monitor["metadata"]["labels"]["release"] == "p"


def policies(text: str, **peers: Any) -> dict[str, Any]:
    """The NetworkPolicies of services."""
    dns = ({"namespaceSelector": {"matchLabels": {"n": "dns"}}},)
    return objects(made(text, network=Peers(dns=dns, **peers)), "NetworkPolicy")


def test_nobody_but_gateways_gets_in() -> None:
    """Without a gateway, a client or a graph there is no rule without peers, which would let everybody in."""
    for mode in ("Standard", "Knative"):
        for rule in policies(service(mode=mode))["iris-predictor"]["spec"]["ingress"]:
            assert rule["from"]


def test_a_predictor_calls_nobody() -> None:
    """A predictor without a download may ask for names, and that is all."""
    (rule,) = policies(service())["iris-predictor"]["spec"]["egress"]
    assert [port["port"] for port in rule["ports"]] == [53, 53]


def test_downloads_may_leave() -> None:
    """Who fetches a model may call the storage."""
    storage = {"storage": ({"ipBlock": {"cidr": "10.0.0.0/8"}},), "storage_ports": (9000,)}
    text = service(model={"modelFormat": {"name": "sklearn"}, "storageUri": "s3://models/iris"})
    rules = policies(text, **storage)["iris-predictor"]["spec"]["egress"]
    assert {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 9000, "protocol": "TCP"}]} in rules
    assert len(policies(service(), **storage)["iris-predictor"]["spec"]["egress"]) == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://broker.events.svc.cluster.local/x", [("http", "broker.events.svc.cluster.local", 80)]),
        ("--log-url=https://logs.example.com:8443", [("https", "logs.example.com", 8443)]),
        ("grpc://collector:4317", [("grpc", "collector", 4317)]),
        ("https://user:secret@minio.storage:9000/b?x=1", [("https", "minio.storage", 9000)]),
        ("s3://models/iris", []),
        ("see http://example.com", []),
        ("http://", []),
    ],
)
def test_urls_are_told_from_other_texts(text: str, found: list[tuple[str, str, int]]) -> None:
    """Only a whole argument or variable counts, or an option with a value."""
    assert urls([text]) == found


@pytest.mark.parametrize(
    ("host", "peers"),
    [
        ("broker.events.svc", [["namespaceSelector"]]),
        ("broker.events.svc.cluster.local", [["namespaceSelector"]]),
        ("minio.storage", [["namespaceSelector"], ["ipBlock", "ipBlock"]]),
        ("logs.example.com", [["ipBlock", "ipBlock"]]),
        ("collector", [["podSelector"]]),
        ("localhost", []),
        ("127.0.0.1", []),
    ],
)
def test_hosts_become_peers(host: str, peers: list[list[str]]) -> None:
    """What is in the cluster becomes its namespace, what is not any address, and what may be either both."""
    assert [[next(iter(peer)) for peer in rule["to"]] for rule in rules_of(host, 80)] == peers


@pytest.mark.parametrize(("scheme", "settings"), [("https", {"insecureSkipVerify": True}), ("http", None)])
def test_certificates_of_servers_are_not_checked(scheme: str, settings: Any) -> None:
    """A server with TLS has a certificate of an authority of its own; one without has none to be passed over."""
    read = endpoint(MetricsPort(SERVER, 8000, scheme=scheme), Monitor(interval=""), None)  # type: ignore[arg-type]
    assert read["scheme"] == scheme
    assert read.get("tlsConfig") == settings


@pytest.mark.parametrize(
    ("ports", "number", "rules"),
    [
        ((), 9000, [("keep", "main"), ("replace", "$1:9000")]),
        ((8000, 8001), 8001, [("keep", "main"), ("keep", "8001")]),
        ((8000, 8001), 9000, [("keep", "main"), ("keep", "8000"), ("replace", "$1:9000")]),
    ],
)
def test_a_pod_is_one_target(ports: tuple[int, ...], number: int, rules: list[tuple[str, str]]) -> None:
    """Of the ports that a container lists one is kept: that of the metrics, or else the first, which is led to it."""
    server = {"name": "main", "ports": [{"containerPort": port} for port in ports]}
    read = endpoint(MetricsPort(server, number), Monitor(interval=""), None)  # type: ignore[arg-type]
    assert [(rule["action"], rule.get("replacement") or rule["regex"]) for rule in read["relabelings"]] == rules
