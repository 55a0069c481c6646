"""Collectors of OpenTelemetry: when one is made, what it does, and what is said about it."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Reject
from kservec.core.serving.internal_annotations import settled
from kservec.core.unit import Mode
from kservec.passes.scale import scale

CLASS = "serving.kserve.io/autoscalerClass"
INJECT = "sidecar.opentelemetry.io/inject"
KIND = "OpenTelemetryCollector"
SECTION = {
    "scrapeInterval": "5s",
    "metricReceiverEndpoint": "receiver.keda:4317",
    "metricScalerEndpoint": "scaler.keda:4318",
    "resource": {"cpuLimit": "2000m", "memoryRequest": "512Mi"},
}
INJECTED = {CLASS: "keda", INJECT: "churn-predictor"}


def pod_metric(*names, **more):
    """An entry of autoScaling.metrics for metrics of the pods."""
    metric = {"backend": "opentelemetry", "query": "depth", "metricNames": list(names), **more}
    return {"type": "PodMetric", "podmetric": {"metric": metric, "target": {"type": "Value", "value": "4"}}}


def scaled(bench, *metrics, annotations=INJECTED, **unit):
    """The step that scales a custom predictor by metrics."""
    containers = [{"name": "kserve-container", "image": "registry.example.com/s:1"}]
    spec = {"predictor": {"containers": containers, "autoScaling": {"metrics": list(metrics)}}}
    made = bench.unit(spec, metadata={"annotations": annotations}, **unit)
    return scale(made.with_components(tuple(settled(c) for c in made.components)), bench.env)


def collector(bench, *metrics, **more):
    """The collector of a predictor."""
    return bench.objects(scaled(bench, *metrics, **more), KIND)["churn-predictor"]


def test_a_collector_keeps_what_is_asked_for(bench):
    """It scrapes the server, marks values with their pod, keeps the metrics of all entries, and sends them on."""
    body = collector(bench(opentelemetryCollector=SECTION), pod_metric("a", "b"), pod_metric("c"))
    assert body["metadata"] == {"name": "churn-predictor", "namespace": "ml", "annotations": INJECTED}
    assert (body["spec"]["mode"], body["spec"]["resources"]) == (
        "sidecar", {"limits": {"cpu": "2"}, "requests": {"memory": "512Mi"}}
    )  # fmt: skip
    config = body["spec"]["config"]
    job = {"job_name": "otel-collector", "scrape_interval": "5s", "static_configs": [{"targets": ["localhost:8080"]}]}
    assert config["receivers"] == {"prometheus": {"config": {"scrape_configs": [job]}}}
    assert config["exporters"]["otlp"]["endpoint"] == "receiver.keda:4317"
    kept = config["processors"]["filter/metrics"]["metrics"]["include"]
    assert kept == {"match_type": "strict", "metric_names": ["a", "b", "c"]}
    assert config["service"]["pipelines"]["metrics"] == {
        "receivers": ["prometheus"],
        "processors": ["resourcedetection/env", "transform", "filter/metrics"],
        "exporters": ["otlp"],
    }
    assert "upgradeStrategy" not in body["spec"]


def test_values_carry_what_the_scaler_selects_by(bench):
    """Each value gets the attributes that the query of the ScaledObject names."""
    b = bench(opentelemetryCollector=SECTION)
    step = scaled(b, pod_metric("depth"))
    trigger = b.objects(step, "ScaledObject")["churn-predictor"]["spec"]["triggers"][0]
    assert trigger["metadata"]["metricQuery"] == 'sum(depth{namespace="ml", deployment="churn-predictor"})'
    transform = b.objects(step, KIND)["churn-predictor"]["spec"]["config"]["processors"]["transform"]
    (statements,) = (s["statements"] for s in transform["metric_statements"])
    assert 'set(attributes["deployment"], resource.attributes["k8s.deployment.name"])' in statements
    assert len(statements) == 3


def test_the_port_is_that_of_the_annotation(bench):
    """The server is scraped where its annotation says that its metrics are."""
    body = collector(bench(), pod_metric("a"), annotations={**INJECTED, "prometheus.kserve.io/port": "9000"})
    job = body["spec"]["config"]["receivers"]["prometheus"]["config"]["scrape_configs"][0]
    assert job["static_configs"] == [{"targets": ["localhost:9000"]}]


@pytest.mark.parametrize("scaler", ["keda", "hpa", "external", "none", None])
def test_the_scaler_does_not_matter(bench, scaler):
    """A collector is made whatever scales the component."""
    annotations = {INJECT: "true", **({CLASS: scaler} if scaler else {})}
    assert collector(bench(), pod_metric("a"), annotations=annotations)["kind"] == KIND


@pytest.mark.parametrize(
    "metric",
    [
        pod_metric(),
        pod_metric("a", backend="other"),
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
    ],
)
def test_without_metrics_there_is_no_collector(bench, metric):
    """Entries that name no metric, or another source, need no collector."""
    b = bench()
    assert b.objects(scaled(b, metric, annotations={CLASS: "none"}), KIND) == {}


def test_stopped_services_have_no_collector(bench):
    """A stopped service has none."""
    assert scaled(bench(), pod_metric("a"), stopped=True).unit.bundle.manifests == ()


@pytest.mark.parametrize(
    ("value", "reported"), [(None, True), ("false", True), ("true", False), ("churn-predictor", False)]
)
def test_pods_must_ask_for_the_collector(bench, value, reported):
    """A collector that no pod asks for is reported, for KServe adds no such annotation."""
    annotations = {CLASS: "keda", **({INJECT: value} if value else {})}
    b = bench(opentelemetryCollector=SECTION)
    assert b.slugs(scaled(b, pod_metric("a"), annotations=annotations)) == (
        ["scaling/collector-not-injected"] if reported else []
    )


def test_a_collector_needs_an_endpoint(bench):
    """Without a section that says where metrics go, that is reported, and the interval is the collector's own."""
    b = bench()
    step = scaled(b, pod_metric("a", serverAddress="scaler:1"))
    assert b.slugs(step) == ["scaling/collector-without-endpoint"]
    receivers = b.objects(step, KIND)["churn-predictor"]["spec"]["config"]["receivers"]
    assert "scrape_interval" not in receivers["prometheus"]["config"]["scrape_configs"][0]


def test_a_cluster_without_the_kind(bench):
    """A metric of pods is refused where the cluster has no collectors."""
    with pytest.raises(Reject) as reject:
        scaled(bench(absent=(KIND,)), pod_metric("a"))
    assert [d.code.slug for d in reject.value.diagnostics] == ["scaling/collector-absent"]


@pytest.mark.parametrize("setting", ["cpuRequest", "memoryRequest", "cpuLimit", "memoryLimit"])
def test_malformed_quantities_of_the_section(bench, setting):
    """A quantity of the platform's section that is none is a fault of the configuration, which names the setting."""
    b = bench(opentelemetryCollector={"resource": {setting: "much"}})
    with pytest.raises(Reject) as reject:
        scaled(b, pod_metric("a"))
    (found,) = reject.value.diagnostics
    assert found.code.slug == "platform/configuration"
    assert f"resource.{setting} " in found.message
    assert "'much'" in found.message


def test_metrics_come_from_their_place(bench):
    """The list of metrics that a collector keeps can be traced to the spec."""
    step = scaled(bench(), pod_metric("a"))
    made = next(m for m in step.unit.bundle.manifests if m.ref.kind == KIND)
    found = made.body.origin(("spec", "config", "processors", "filter/metrics"))
    assert found is not None
    assert found[0].at == ("spec", "predictor", "autoScaling", "metrics", 0)


def test_other_modes_have_no_collector(bench):
    """Collectors belong to Standard mode."""
    modes = {m for c in bench().env.plugs.companions for m in c.modes}
    assert modes == {Mode.STANDARD}
