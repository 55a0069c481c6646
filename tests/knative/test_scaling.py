"""Knative's autoscaler: the annotations of revisions, and the values that Knative takes in them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kservec.core.golang.duration import seconds_of
from kservec.core.knative.annotations import annotation_faults

PREFIX = "autoscaling.knative.dev/"
KPA, HPA = "kpa.autoscaling.knative.dev", "hpa.autoscaling.knative.dev"
INITIAL_SCALE = f"{PREFIX}initial-scale"


def scaling(outcome):
    """The annotations that scale a revision, without their prefix."""
    annotations = outcome.template()["metadata"]["annotations"]
    return {k.removeprefix(PREFIX): v for k, v in annotations.items() if k.startswith(PREFIX)}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"min-scale": "1"}),
        ({"minReplicas": 0}, {"min-scale": "0"}),
        ({"minReplicas": 2, "maxReplicas": 5}, {"min-scale": "2", "max-scale": "5"}),
        ({"maxReplicas": 0}, {"min-scale": "1"}),
        (
            {"scaleTarget": 12, "scaleMetric": "rps"},
            {"min-scale": "1", "target": "12", "metric": "rps"},
        ),
    ],
)
def test_annotations(knative, predictor, fields, expected):
    """Bounds, target and metric become annotations; the class is Knative's own."""
    assert scaling(knative(predictor(**fields))) == {"class": KPA, **expected}


def test_scaling_makes_no_object(knative, predictor):
    """Knative makes its autoscaler itself."""
    assert not any(group == "autoscaling" for group, _ in knative(predictor()).objects)


def test_another_class(knative, predictor):
    """The annotation class chooses the autoscaler that Knative uses."""
    metadata = {"annotations": {f"{PREFIX}class": HPA}}
    outcome = knative(predictor(scaleMetric="cpu", scaleTarget=70), metadata=metadata)
    assert scaling(outcome) == {"class": HPA, "metric": "cpu", "target": "70", "min-scale": "1"}


def test_the_spec_goes_before_annotations(knative, predictor):
    """The field scaleTarget wins over the annotation; bounds in annotations do not count at all."""
    written = {f"{PREFIX}target": "7", f"{PREFIX}window": "60s", f"{PREFIX}min-scale": "4"}
    outcome = knative(predictor(scaleTarget=3), metadata={"annotations": written})
    assert scaling(outcome) == {"class": KPA, "target": "3", "window": "60s", "min-scale": "1"}


def test_kserve_autoscaler_class_does_not_count(knative, predictor):
    """KServe's own annotation chooses among Standard mode's autoscalers alone."""
    outcome = knative(predictor(), metadata={"annotations": {"serving.kserve.io/autoscalerClass": "keda"}})
    assert outcome.slugs == ["metadata/key-without-effect"]
    assert scaling(outcome)["class"] == KPA


def test_auto_scaling_has_no_effect(knative, predictor):
    """Metrics for other autoscalers are named in a warning."""
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}
    outcome = knative(predictor(autoScaling={"metrics": [metric]}))
    assert "autoScaling" in outcome.find("spec/without-effect").message


@pytest.mark.parametrize(
    ("value", "settings", "kept"),
    [
        ("3", {}, True),
        ("0", {"allow-zero-initial-scale": "true"}, True),
        ("0", {"allow-zero-initial-scale": "false"}, False),
        ("0", {}, False),
        ("-1", {}, False),
        ("many", {}, False),
        ("1.5", {}, False),
    ],
)
def test_initial_scale(knative, predictor, value, settings, kept):
    """A first number of pods that Knative refuses is left out, on service and component alike, with a warning."""
    written = {"annotations": {INITIAL_SCALE: value}}
    for spec, metadata in ((predictor(), written), (predictor(**written), {})):
        outcome = knative(spec, metadata=metadata, config={"autoscaler": settings})
        assert (scaling(outcome).get("initial-scale") == value) is kept
        assert (INITIAL_SCALE in outcome.compilation.yaml) is kept
        assert outcome.slugs == ([] if kept else ["scaling/initial-scale-ignored"])


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("class", (KPA, HPA, "mine.example.com"), ("x.autoscaling.knative.dev",)),
        ("target", ("0.01", "100", "1e2"), ("0", "many", "")),
        ("target-utilization-percentage", ("1", "100"), ("0.5", "101")),
        ("targetUtilizationPercentage", ("70",), ("0",)),
        ("target-burst-capacity", ("-1", "-1.0", "0", "200"), ("-2", "x")),
        ("max-scale", ("0", "9"), ("-1", "x", "1.5", "2147483648")),
        ("maxScale", ("3",), ("many",)),
        ("panic-window-percentage", ("1", "100.0"), ("0.9", "101")),
        ("panic-threshold-percentage", ("110", "1000"), ("109", "1001")),
        ("window", ("6s", "1h", "90s"), ("5s", "2h", "90", "6.5s")),
        ("scale-down-delay", ("0s", "15m", "0"), ("-1s", "2h", "1.5s")),
        ("scale-to-zero-pod-retention-period", ("0s", "1.5s", "1h"), ("-1s", "61m")),
    ],
)
def test_values(name, good, bad):
    """Numbers, durations and classes that Knative takes, and some that it refuses."""
    faults = {v: list(annotation_faults({f"{PREFIX}{name}": v})) for v in (*good, *bad)}
    assert {v for v, found in faults.items() if found} == set(bad)


@pytest.mark.parametrize("name", ["rollout-duration", "rolloutDuration", "progress-deadline"])
def test_durations_of_a_service(name):
    """A duration has a unit, is positive and has whole seconds."""
    values = ("90s", "1h30m", "", "90", "-1s", "1500ms")
    bad = [v for v in values if list(annotation_faults({f"serving.knative.dev/{name}": v}))]
    assert bad == ["90", "-1s", "1500ms"]


@pytest.mark.parametrize(
    ("scaler", "metric", "refused"),
    [(KPA, "rps", False), (KPA, "cpu", True), (HPA, "cpu", False), (HPA, "", True), ("mine.example.com", "x", False)],
)
def test_metrics(scaler, metric, refused):
    """Each of Knative's classes scales on some metrics; other classes are not judged."""
    found = list(annotation_faults({f"{PREFIX}class": scaler, f"{PREFIX}metric": metric}))
    assert bool(found) is refused


@pytest.mark.parametrize(
    ("bounds", "value", "refused"),
    [
        ({}, "2", False),
        ({}, "1", True),
        ({}, "x", True),
        ({"min-scale": "3"}, "2", True),
        ({"max-scale": "3"}, "4", True),
        ({"maxScale": "3"}, "4", True),
        ({"max-scale": "9", "maxScale": "3"}, "4", False),
        ({"min-scale": "2", "max-scale": "4"}, "3", False),
    ],
)
def test_activation_scale(bounds, value, refused):
    """The number to start from zero with is 2 or more and lies within the bounds."""
    annotations = {f"{PREFIX}{k}": v for k, v in {**bounds, "activation-scale": value}.items()}
    assert bool(list(annotation_faults(annotations))) is refused


@pytest.mark.parametrize(
    ("bounds", "refused"),
    [
        ({"min-scale": "2", "max-scale": "1"}, True),
        ({"min-scale": "2", "maxScale": "1"}, True),
        ({"min-scale": "2", "max-scale": "0"}, False),
        ({"min-scale": "2", "max-scale": "2", "maxScale": "1"}, False),
    ],
)
def test_bounds(bounds, refused):
    """Knative refuses less at most than at least; 0 stands for no limit, and the newer spelling goes first."""
    assert bool(list(annotation_faults({f"{PREFIX}{k}": v for k, v in bounds.items()}))) is refused


@pytest.mark.parametrize(
    ("scaler", "algorithm", "refused"),
    [
        (KPA, "linear", False),
        (KPA, "weightedExponential", False),
        (KPA, "median", True),
        ("mine.example.com", "x", False),
    ],
)
def test_aggregation(scaler, algorithm, refused):
    """Knative's own class knows three spellings of two ways to average; other classes may know others."""
    annotations = {f"{PREFIX}class": scaler, f"{PREFIX}metric-aggregation-algorithm": algorithm}
    assert bool(list(annotation_faults(annotations))) is refused


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("cpu-resource-request", "100m", False),
        ("memory-resource-limit", "lots", True),
        ("ephemeral-storage-resource-limit", "", True),
        ("resource-percentage", "20", False),
        ("resourcePercentage", "0", True),
    ],
)
def test_resources_of_the_queue_proxy(name, value, refused):
    """What is set aside for Knative's own container are quantities, or a percentage."""
    assert bool(list(annotation_faults({f"queue.sidecar.serving.knative.dev/{name}": value}))) is refused


@pytest.mark.parametrize(("key", "refused"), [("ingress-class", False), ("http-protocol", False), ("visibility", True)])
def test_annotations_of_the_network(knative, predictor, key, refused):
    """Knative refuses annotations of revisions under its network's domain, but for a few."""
    outcome = knative(predictor(), metadata={"annotations": {f"networking.knative.dev/{key}": "kourier"}})
    assert ("knative/annotation" in outcome.slugs) is refused


@pytest.mark.parametrize(("value", "kept"), [("2", True), ("two", False), ("0", False)])
def test_the_former_spelling_of_initial_scale(knative, predictor, value, kept):
    """The older spelling counts where the other is not there, and is left out where Knative would refuse its value."""
    outcome = knative(predictor(), metadata={"annotations": {f"{PREFIX}initialScale": value}})
    assert ("initialScale" in scaling(outcome)) is kept
    assert ("scaling/initial-scale-ignored" in outcome.slugs) is not kept


def test_the_former_spelling_of_max_scale(knative, predictor):
    """The annotation maxScale is Knative's limit as long as there is no maxReplicas, which goes before it."""
    metadata = {"annotations": {f"{PREFIX}maxScale": "4"}}
    alone = knative(predictor(), metadata=metadata)
    beside = knative(predictor(maxReplicas=3), metadata=metadata)
    assert (scaling(alone)["maxScale"], alone.slugs) == ("4", [])
    assert "beside maxReplicas" in beside.find("metadata/key-without-effect").message


@pytest.mark.parametrize(
    ("fields", "settings", "refused"),
    [
        ({"maxReplicas": 6}, {"max-scale-limit": "5"}, True),
        ({"maxReplicas": 5}, {"max-scale-limit": "5"}, False),
        ({}, {"max-scale-limit": "5"}, False),
        ({"maxReplicas": 6}, {"max-scale-limit": "0"}, False),
        ({"maxReplicas": 6}, {}, False),
    ],
)
def test_the_limit_of_the_platform(knative, predictor, fields, settings, refused):
    """The platform may limit how many pods a service asks for at most."""
    outcome = knative(predictor(**fields), config={"autoscaler": settings})
    assert ("knative/limit-exceeded" in outcome.slugs) is refused


def test_the_limit_is_located(knative, predictor):
    """The error about the limit stands at maxReplicas and says how to keep to it."""
    found = knative(predictor(maxReplicas=6), config={"autoscaler": {"max-scale-limit": "5"}}).find(
        "knative/limit-exceeded"
    )
    assert "max-scale-limit" in found.message
    assert found.help.startswith("lower maxReplicas, or: kubectl patch configmap config-autoscaler")
    assert found.span.line > 1


def test_a_refused_annotation_is_located(knative, predictor):
    """The error stands at the annotation, wherever it comes from."""
    outcome = knative(predictor(), metadata={"annotations": {"serving.knative.dev/rollout-duration": "soon"}})
    found = outcome.find("knative/annotation")
    assert "soon" in found.message
    assert found.span.line > 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("1h30m", 5400),
        ("-1.5h", -5400),
        ("+2m", 120),
        ("0", 0),
        ("1.5s", Fraction(3, 2)),
        (".5s", Fraction(1, 2)),
        ("100ms", Fraction(1, 10)),
        ("1µs", Fraction(1, 10**6)),
        ("3ns", Fraction(3, 10**9)),
        ("", None),
        ("90", None),
        ("s", None),
        ("1d", None),
        ("1h 30m", None),
    ],
)
def test_go_durations(text, seconds):
    """Durations are read as Go reads them."""
    assert seconds_of(text) == seconds
