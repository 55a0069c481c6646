"""Autoscalers: which one a component gets, what it is made of, and what of the user's wishes it passes over."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Reject
from kservec.core.intents import ScaleIntent
from kservec.core.records import evolve
from kservec.core.serving.internal_annotations import settled
from kservec.core.unit import Mode
from kservec.passes.scale import scale
from kservec.scaling.keda import whole_number

CLASS = "serving.kserve.io/autoscalerClass"
CPU_80 = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}


def predictor(**fields):
    """A custom predictor with the given fields."""
    return {"predictor": {"containers": [{"name": "kserve-container", "image": "registry.example.com/s:1"}], **fields}}


def resource(name, **target):
    """An entry of autoScaling.metrics for cpu or memory."""
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def external(backend="prometheus", value="3", **more):
    """An entry of autoScaling.metrics for a query."""
    metric = {"backend": backend, "serverAddress": "http://metrics.example.com", "query": "rate"}
    metric |= more.pop("metric", {})
    return {"type": "External", "external": {"metric": metric, "target": {"type": "Value", "value": value}, **more}}


def pod_metric(**more):
    """An entry of autoScaling.metrics for a metric of the pods."""
    metric = {"backend": "opentelemetry", "query": "depth", **more}
    return {"type": "PodMetric", "podmetric": {"metric": metric, "target": {"type": "Value", "value": "4"}}}


def scaled(bench, spec, scaler=None, **metadata):
    """The step of a unit whose annotation names a scaler."""
    annotations = {CLASS: scaler} if scaler is not None else {}
    unit = bench.unit(spec, metadata={"annotations": annotations}, **metadata)
    unit = unit.with_components(tuple(settled(c) for c in unit.components))
    return scale(unit, bench.env)


def hpa_of(bench, **fields):
    """The spec of the HorizontalPodAutoscaler of a predictor, and the findings."""
    step = scaled(bench, predictor(**fields))
    return bench.objects(step, "HorizontalPodAutoscaler")["churn-predictor"]["spec"], step.diagnostics


def keda_of(bench, **fields):
    """The spec of the ScaledObject of a predictor, and the findings."""
    step = scaled(bench, predictor(**fields), "keda")
    return bench.objects(step, "ScaledObject")["churn-predictor"]["spec"], step.diagnostics


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (1, 1)),
        ({"minReplicas": 2}, (2, 2)),
        ({"minReplicas": 2, "maxReplicas": 5}, (2, 5)),
        ({"maxReplicas": 4}, (1, 4)),
        ({"minReplicas": 0, "maxReplicas": 3}, (1, 3)),
        ({"minReplicas": 0, "maxReplicas": 0}, (1, 1)),
    ],
)
def test_hpa_bounds(bench, fields, expected):
    """An HPA keeps one replica or more, and at most never less than at least."""
    spec, _ = hpa_of(bench(), **fields)
    assert (spec["minReplicas"], spec["maxReplicas"]) == expected


def test_hpa_object(bench):
    """The whole HPA of a component that says nothing about scaling."""
    b = bench()
    step = scaled(b, predictor(labels={"team": "risk"}))
    assert b.objects(step, "HorizontalPodAutoscaler") == {
        "churn-predictor": {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {
                "name": "churn-predictor",
                "namespace": "ml",
                "labels": {
                    "app": "isvc.churn-predictor",
                    "component": "predictor",
                    "serving.kserve.io/inferenceservice": "churn",
                    "team": "risk",
                },
            },
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "churn-predictor"},
                "minReplicas": 1,
                "maxReplicas": 1,
                "metrics": [CPU_80],
            },
        }
    }
    assert step.unit.components[0].replicas is None
    assert not step.diagnostics


def utilization(name, percent):
    """A metric of an HPA."""
    return resource(name, type="Utilization", averageUtilization=percent)


@pytest.mark.parametrize(
    ("fields", "expected", "warnings"),
    [
        ({"scaleTarget": 120}, [utilization("cpu", 120)], []),
        ({"scaleMetric": "memory", "scaleTarget": 50}, [utilization("memory", 50)], []),
        ({"scaleMetric": "memory"}, [CPU_80], ["scaleMetric"]),
        ({"scaleMetric": "rps", "scaleTarget": 50}, [CPU_80], ["scaleMetric", "scaleTarget"]),
        ({"scaleMetricType": "Utilization"}, [CPU_80], ["scaleMetricType"]),
        ({"minReplicas": 0}, [CPU_80], ["minReplicas"]),
        ({"autoScaling": {}}, [CPU_80], []),
        ({"autoScaling": {"metrics": [external()]}}, [CPU_80], ["autoScaling.metrics[0]"]),
        ({"autoScaling": {"metrics": [resource("cpu", type="Utilization")]}}, [CPU_80], []),
        (
            {"autoScaling": {"metrics": [resource("nvidia.com/gpu", type="Utilization", averageUtilization=50)]}},
            [CPU_80],
            ["autoScaling.metrics[0]"],
        ),
        (
            {"autoScaling": {"metrics": [resource("cpu", type="AverageValue", averageValue="1")]}, "scaleTarget": 9},
            [CPU_80],
            ["scaleTarget", "autoScaling.metrics[0].resource.target.type"],
        ),
        (
            {
                "autoScaling": {
                    "metrics": [
                        resource("memory", type="AverageValue", averageValue="1024Mi"),
                        resource("cpu", type="Utilization", averageUtilization=70),
                        resource("memory", type="Utilization", averageUtilization=60),
                    ],
                    "behavior": {"scaleDown": {"selectPolicy": "Min"}},
                }
            },
            [
                {
                    "type": "Resource",
                    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
                },
                utilization("cpu", 70),
                utilization("memory", 60),
            ],
            [],
        ),
    ],
)
def test_hpa_metrics(bench, fields, expected, warnings):
    """Which metrics an HPA gets, and which settings are reported for having no effect."""
    spec, found = hpa_of(bench(), **fields)
    assert spec["metrics"] == expected
    assert [d.message.removeprefix("spec.predictor.").split(" has no effect")[0] for d in found] == warnings


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"scaleTarget": 0}, "0%"),
        ({"autoScaling": {"metrics": [resource("cpu", type="Utilization", averageUtilization=0)]}}, "0%"),
        ({"autoScaling": {"metrics": [resource("memory", type="Utilization")]}}, "averageUtilization"),
        ({"autoScaling": {"metrics": [resource("memory", type="AverageValue")]}}, "averageValue"),
        ({"autoScaling": {"metrics": [resource("memory", type="Value", value="1Gi")]}}, "averageValue"),
    ],
)
def test_hpa_targets_that_the_api_server_refuses(bench, fields, words):
    """A metric without a valid target is an error rather than an object that is refused."""
    with pytest.raises(Reject, match=words) as reject:
        hpa_of(bench(), **fields)
    assert [d.code.slug for d in reject.value.diagnostics] == ["scaling/invalid-metric"]


def test_hpa_fields_know_their_origin(bench):
    """The bounds of an HPA lead back to the user's lines."""
    step = scaled(bench(), predictor(minReplicas=2, maxReplicas=4))
    body = step.unit.bundle.manifests[0].body
    lines = [body.span(("spec", f)).line for f in ("minReplicas", "maxReplicas")]
    text = step.unit.source.document.text.text.splitlines()
    assert ["minReplicas" in text[lines[0] - 1], "maxReplicas" in text[lines[1] - 1]] == [True, True]
    assert body.span(("spec", "scaleTargetRef")) is None


def test_hpa_amounts_know_their_origin(bench):
    """An average value is where it is written, whatever entries that do not count stand before it."""
    memory = resource("memory", type="AverageValue", averageValue="512m")
    spec = predictor(autoScaling={"metrics": [external(), resource("cpu", type="Utilization"), memory]})
    step = scaled(bench(), spec)
    span = step.unit.bundle.manifests[0].body.span(("spec", "metrics", 1, "resource", "target", "averageValue"))
    assert '"averageValue": "512m"' in step.unit.source.document.text.text.splitlines()[span.line - 1]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({}, (1, 1)), ({"minReplicas": 0}, (0, 0)), ({"minReplicas": 3}, (3, 3)), ({"maxReplicas": 4}, (1, 4))],
)
def test_keda_bounds(bench, fields, expected):
    """KEDA may scale to zero; its maximum is never below its minimum."""
    spec, _ = keda_of(bench(), autoScaling={"metrics": [external()]}, **fields)
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == expected


AUTHENTICATION = {"authModes": "basic", "authenticationRef": {"name": "secret"}}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (
            resource("cpu", type="Utilization"),
            {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "80"}},
        ),
        (
            resource("memory", type="AverageValue", averageValue="2.0Gi"),
            {"type": "memory", "metricType": "AverageValue", "metadata": {"value": "2.0Gi"}},
        ),
        (
            resource("memory", type="Value", value=100),
            {"type": "memory", "metricType": "Value", "metadata": {"value": "100"}},
        ),
        (
            resource("memory", type="Utilization"),
            {"type": "memory", "metricType": "Utilization", "metadata": {"value": "0"}},
        ),
        (
            external(value=100, metric={"namespace": "monitoring"}, authenticationRef=AUTHENTICATION),
            {
                "type": "prometheus",
                "metadata": {
                    "serverAddress": "http://metrics.example.com",
                    "query": "rate",
                    "threshold": "100",
                    "namespace": "monitoring",
                    "authModes": "basic",
                },
                "authenticationRef": {"name": "secret"},
            },
        ),
        (
            external("graphite", "2.50", metric={"namespace": "monitoring"}),
            {
                "type": "graphite",
                "metadata": {"serverAddress": "http://metrics.example.com", "query": "rate", "threshold": "2.50"},
            },
        ),
        (
            pod_metric(),
            {
                "type": "external",
                "metadata": {
                    "metricQuery": 'sum(depth{namespace="ml", deployment="churn-predictor"})',
                    "targetValue": "4",
                    "scalerAddress": "otel:4318",
                },
            },
        ),
        (
            pod_metric(serverAddress="own:1", operationOverTime="avg"),
            {
                "type": "external",
                "metadata": {
                    "metricQuery": 'sum(depth{namespace="ml", deployment="churn-predictor"})',
                    "targetValue": "4",
                    "scalerAddress": "own:1",
                    "operationOverTime": "avg",
                },
            },
        ),
    ],
)
def test_keda_triggers(bench, metric, expected):
    """Each metric is a trigger of the ScaledObject; quantities keep the user's spelling."""
    b = bench(opentelemetryCollector={"metricScalerEndpoint": "otel:4318"})
    spec, found = keda_of(b, autoScaling={"metrics": [metric]})
    assert spec["triggers"] == [expected]
    assert spec["scaleTargetRef"]["name"] == "churn-predictor"
    assert not found


@pytest.mark.parametrize(
    ("behavior", "section", "expected"),
    [
        (None, None, None),
        (None, {"scaleUpStabilizationWindowSeconds": "0"}, {"scaleUp": 0}),
        (None, {"scaleUpStabilizationWindowSeconds": "soon", "scaleDownStabilizationWindowSeconds": ""}, None),
        (
            {"scaleUp": {"stabilizationWindowSeconds": 15}},
            {"scaleUpStabilizationWindowSeconds": "7", "scaleDownStabilizationWindowSeconds": "300"},
            {"scaleUp": 15, "scaleDown": 300},
        ),
        ({"scaleDown": {"stabilizationWindowSeconds": 0}}, None, {"scaleDown": 0}),
    ],
)
def test_keda_windows(bench, behavior, section, expected):
    """Stabilization windows come from the user, or else from the platform."""
    b = bench(autoscaler=section)
    spec, _ = keda_of(b, autoScaling={"metrics": [external()], **({"behavior": behavior} if behavior else {})})
    behavior = spec.get("advanced", {}).get("horizontalPodAutoscalerConfig", {}).get("behavior")
    assert behavior == (expected and {k: {"stabilizationWindowSeconds": v} for k, v in expected.items()})


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), ("300", 300), ("+5", 5), ("-5", -5), ("", None), ("3s", None), ("٣", None), ("2147483648", None)],
)
def test_numbers_of_the_autoscaler_section(text, expected):
    """The section holds numbers as text; what is no 32-bit number is passed over."""
    assert whole_number(text) == expected


def test_keda_takes_the_whole_behavior(bench):
    """Policies and what chooses among them reach KEDA too; a window that is not given comes from the platform."""
    policies = [{"type": "Pods", "value": 1, "periodSeconds": 120}]
    up = {"stabilizationWindowSeconds": 0, "policies": policies}
    behavior = {"scaleUp": up, "scaleDown": {"selectPolicy": "Min"}}
    b = bench(autoscaler={"scaleDownStabilizationWindowSeconds": "300"})
    spec, found = keda_of(b, autoScaling={"metrics": [external()], "behavior": behavior})
    assert spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"] == {
        "scaleUp": up,
        "scaleDown": {"selectPolicy": "Min", "stabilizationWindowSeconds": 300},
    }
    assert not found


@pytest.mark.parametrize("behavior", [None, {}])
def test_hpa_without_behavior(bench, behavior):
    """An HPA whose user says nothing about its behavior has none."""
    spec, _ = hpa_of(bench(), autoScaling={"metrics": [], "behavior": behavior})
    assert "behavior" not in spec


def test_hpa_behavior(bench):
    """An HPA scales as fast as its user says; a window of zero seconds is a window."""
    behavior = {
        "scaleDown": {"policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]},
        "scaleUp": {"stabilizationWindowSeconds": 0},
    }
    spec, found = hpa_of(bench(), autoScaling={"metrics": [], "behavior": behavior})
    assert spec["behavior"] == behavior
    assert not found


def test_a_cpu_metric_without_a_type_is_a_utilization(bench):
    """KServe reads it so, and nothing of it is lost."""
    spec, found = hpa_of(bench(), autoScaling={"metrics": [resource("cpu", averageUtilization=70)]})
    assert spec["metrics"][0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": 70}
    assert not found


def test_keda_passes_over_single_metrics(bench):
    """Settings that KEDA does not know are reported."""
    _, found = keda_of(bench(), scaleTarget=5, autoScaling={"metrics": [external()]})
    reason = "spec.predictor.scaleTarget has no effect: KEDA scales by autoScaling.metrics alone"
    assert [d.message for d in found] == [reason]


@pytest.mark.parametrize(
    ("auto_scaling", "slug"),
    [
        (None, "scaling/no-triggers"),
        ({}, "scaling/no-triggers"),
        ({"metrics": []}, "scaling/no-triggers"),
        ({"metrics": [{"type": "Resource"}]}, "scaling/incomplete-metric"),
        ({"metrics": [{"type": "External"}]}, "scaling/incomplete-metric"),
        ({"metrics": [{"type": "PodMetric"}]}, "scaling/incomplete-metric"),
        ({"metrics": [{"type": "Object"}]}, "scaling/incomplete-metric"),
    ],
)
def test_keda_needs_triggers(bench, auto_scaling, slug):
    """A ScaledObject without triggers is an error at the settings, a metric without its member one at the metric."""
    fields = {} if auto_scaling is None else {"autoScaling": auto_scaling}
    b = bench()
    with pytest.raises(Reject) as reject:
        keda_of(b, **fields)
    (diagnostic,) = reject.value.diagnostics
    assert diagnostic.code.slug == slug
    source = b.unit(predictor(**fields), metadata={"annotations": {CLASS: "keda"}}).source
    metric = ("metrics", 0) if slug == "scaling/incomplete-metric" else ()
    assert diagnostic.span == source.span("spec", "predictor", "autoScaling", *metric)


def test_keda_absent(bench):
    """A cluster without ScaledObject cannot scale by KEDA."""
    with pytest.raises(Reject, match="the cluster lacks") as reject:
        keda_of(bench(absent=("ScaledObject",)), autoScaling={"metrics": [external()]})
    assert reject.value.diagnostics[0].code.slug == "scaling/kind-absent"


@pytest.mark.parametrize(("metrics", "warned"), [([resource("cpu", type="Utilization")], True), ([external()], False)])
def test_zero_needs_a_metric_from_outside(bench, metrics, warned):
    """At zero replicas neither cpu nor memory can be measured, so KEDA would refuse."""
    _, found = keda_of(bench(), minReplicas=0, autoScaling={"metrics": metrics})
    assert ("scaling/zero-without-events" in [d.code.slug for d in found]) is warned


@pytest.mark.parametrize(
    ("scaler", "fields", "replicas", "warnings"),
    [
        ("none", {}, None, []),
        ("none", {"minReplicas": 0}, 0, []),
        ("none", {"minReplicas": 3, "maxReplicas": 3}, 3, []),
        ("none", {"minReplicas": 3, "maxReplicas": 4, "scaleTarget": 5}, 3, ["maxReplicas", "scaleTarget"]),
        ("external", {"minReplicas": 3}, None, ["minReplicas"]),
        ("external", {}, None, []),
        (None, {"minReplicas": 3}, None, []),
    ],
)
def test_replicas_are_set_only_without_an_autoscaler(bench, scaler, fields, replicas, warnings):
    """Only the class none fixes the number of replicas; else whoever scales owns it."""
    b = bench()
    step = scaled(b, predictor(**fields), scaler)
    assert step.unit.components[0].replicas == replicas
    assert [d.message.split(" has")[0].removeprefix("spec.predictor.") for d in step.diagnostics] == warnings
    assert len(step.unit.bundle.manifests) == (1 if scaler is None else 0)


def test_each_component_has_its_own_scaler(bench):
    """A component's annotation overrides the service's."""
    b = bench()
    transformer = {"containers": [{"name": "t", "image": "i"}], "annotations": {CLASS: "hpa"}}
    step = scaled(b, {**predictor(), "transformer": transformer}, "none")
    assert list(b.objects(step, "HorizontalPodAutoscaler")) == ["churn-transformer"]


def test_unknown_class_points_at_the_annotation(bench):
    """A class that does not exist is an error where it is written, also for a stopped service."""
    b = bench()
    for stopped in (False, True):
        with pytest.raises(Reject) as reject:
            scaled(b, predictor(annotations={CLASS: "vpa"}), stopped=stopped)
        (diagnostic,) = reject.value.diagnostics
        assert diagnostic.code.slug == "scaling/unknown-class"
        assert "external, hpa, keda, none" in diagnostic.message
        assert diagnostic.span is not None
        assert diagnostic.span.line > 1


def test_a_mode_without_an_autoscaler_is_an_error(bench):
    """A mode that no scaler knows is reported rather than passed over."""
    b = bench()
    unit = evolve(b.unit(predictor()), mode=Mode.MODELMESH)
    with pytest.raises(Reject) as reject:
        scale(unit, b.env)
    assert reject.value.diagnostics[0].code.slug == "scaling/no-autoscaler"


def test_stopped_units_are_not_scaled(bench):
    """A stopped service has no autoscaler and no findings."""
    step = scaled(bench(), predictor(minReplicas=0), stopped=True)
    assert (step.unit.bundle.manifests, step.diagnostics) == ((), ())
    assert not step.unit.components[0].peek(ScaleIntent)


def test_scale_is_pure(bench):
    """The same unit gives the same step twice, and is not changed."""
    b = bench()
    unit = b.unit(predictor(minReplicas=2))
    assert scale(unit, b.env) == scale(unit, b.env)
    assert unit.components[0].peek(ScaleIntent)
    assert not unit.bundle.manifests


@pytest.mark.parametrize("scaler", ["hpa", "keda"])
@pytest.mark.parametrize(
    ("metric", "most", "found"),
    [
        (resource("memory", type="Utilization", averageUtilization=50), 3, ["scaling/no-request"]),
        (resource("memory", type="AverageValue", averageValue="2Gi"), 3, []),
        (resource("memory", type="Utilization", averageUtilization=50), 1, []),
    ],
)
def test_a_utilization_is_a_share_of_requests(bench, scaler, metric, most, found):
    """A container without a request is reported where a share of it decides between numbers of pods."""
    b = bench()
    step = scaled(b, predictor(maxReplicas=most, autoScaling={"metrics": [metric]}), scaler)
    assert b.slugs(step) == found
