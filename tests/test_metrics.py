"""Metrics: the annotations that tell Prometheus where they are, and the warnings where it finds none."""

from __future__ import annotations

import pytest

from kservec.core.records import evolve
from kservec.core.unit import Mode
from kservec.passes.add_sidecars import add_sidecars

AGGREGATE = "serving.kserve.io/enable-metric-aggregation"
SCRAPE = "serving.kserve.io/enable-prometheus-scraping"
PORT, PATH = "prometheus.io/port", "prometheus.io/path"
OWN_PORT, OWN_PATH = "prometheus.kserve.io/port", "prometheus.kserve.io/path"
SWITCHES_ON = {AGGREGATE: "true", SCRAPE: "true"}
SERVER = {"name": "kserve-container", "image": "registry.example.com/server:1"}
PROXY = {"name": "queue-proxy", "image": "registry.example.com/queue:1"}


def measured(bench, annotations=(), *, section=None, mode=Mode.STANDARD, beside=()):
    """The step for a predictor with these annotations, on a platform with this section."""
    made = bench(metricsAggregator=section)
    metadata = {"annotations": dict(annotations)}
    unit = made.unit({"predictor": {"containers": [SERVER, *beside]}}, metadata=metadata)
    return add_sidecars(evolve(unit, mode=mode), made.env)


ON = {"enableMetricAggregation": "true", "enablePrometheusScraping": "true"}
OFF = {"enableMetricAggregation": "false", "enablePrometheusScraping": "false"}


@pytest.mark.parametrize(
    ("annotations", "section", "mode", "added"),
    [
        ({}, None, Mode.STANDARD, {AGGREGATE: "", SCRAPE: ""}),
        ({}, OFF, Mode.STANDARD, {AGGREGATE: "false", SCRAPE: "false"}),
        ({}, ON, Mode.STANDARD, {AGGREGATE: "true", SCRAPE: "true", PORT: "9088", PATH: "/metrics"}),
        ({}, ON, Mode.KNATIVE, {AGGREGATE: "true", SCRAPE: "true", PORT: "9091", PATH: "/metrics"}),
        ({SCRAPE: "true"}, OFF, Mode.STANDARD, {AGGREGATE: "false", PORT: "9091", PATH: "/metrics"}),
        ({SCRAPE: "true", OWN_PORT: "8082"}, OFF, Mode.STANDARD, {AGGREGATE: "false", PORT: "8082", PATH: "/metrics"}),
        ({OWN_PORT: "8082", OWN_PATH: "/m"}, ON, Mode.STANDARD, {**SWITCHES_ON, PORT: "8082", PATH: "/m"}),
        ({OWN_PORT: "8082", OWN_PATH: "/m"}, ON, Mode.KNATIVE, {**SWITCHES_ON, PORT: "9091", PATH: "/metrics"}),
        ({OWN_PORT: "8082"}, OFF, Mode.STANDARD, {AGGREGATE: "false", SCRAPE: "false"}),
        ({AGGREGATE: "false", SCRAPE: "false"}, ON, Mode.STANDARD, {}),
    ],
)
def test_pods_say_where_their_metrics_are(bench, annotations, section, mode, added) -> None:
    """Switches that the user did not set are written out; what is on tells Prometheus port and path.

    Where no queue-proxy offers metrics these are the server's own, if an annotation names them.
    """
    (component,) = measured(bench, annotations, section=section, mode=mode).unit.components
    assert component.pod_annotations == added


@pytest.mark.parametrize(
    ("annotations", "section", "more", "files"),
    [
        ({SCRAPE: "true"}, OFF, {}, ["isvc.yaml"]),
        ({AGGREGATE: "true"}, OFF, {}, []),
        ({}, ON, {}, ["platform.yaml"]),
        ({SCRAPE: "true"}, OFF, {"beside": (PROXY,)}, []),
        ({SCRAPE: "true", OWN_PORT: "8082"}, OFF, {}, []),
        ({OWN_PORT: "8082"}, ON, {}, []),
        ({SCRAPE: "true"}, OFF, {"mode": Mode.KNATIVE}, []),
        ({AGGREGATE: "true"}, OFF, {"mode": Mode.KNATIVE}, ["isvc.yaml"]),
        ({}, ON, {"mode": Mode.KNATIVE}, ["platform.yaml"]),
    ],
)
def test_ports_where_nobody_listens_are_warned_about(bench, annotations, section, more, files) -> None:
    """The warning stands where the switch is; one of the platform is about no service in particular."""
    step = measured(bench, annotations, section=section, **more)
    assert [(d.code.slug, d.span.file) for d in step.diagnostics] == [("metrics/nobody-listens", f) for f in files]
    assert all((d.subject is None) == (d.span.file == "platform.yaml") for d in step.diagnostics)


def test_a_setting_of_the_platform_is_warned_about_once(bench) -> None:
    """Several components, and several services, make one warning."""
    made = bench(metricsAggregator=ON)
    unit = made.unit({"predictor": {"containers": [SERVER]}, "transformer": {"containers": [SERVER]}})
    assert len(add_sidecars(unit, made.env).diagnostics) == 1
