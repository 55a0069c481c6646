"""add_sidecars: what KServe's pod webhook adds beside the model. So far: where metrics are found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kservec.core.names import ENABLE_METRIC_AGGREGATION, ENABLE_PROMETHEUS_SCRAPING
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.env import Env
    from kservec.core.unit import Component, Unit

AGGREGATE_PORT = "9088"
QUEUE_PROXY_PORT = "9091"
METRICS_PATH = "/metrics"


def add_sidecars(unit: Unit, env: Env) -> Step:
    """Add what the pod webhook adds to pods that need no agent.

    Takes:   nothing
    Writes:  pod_annotations
    Reports: nothing
    KServe:  pkg/webhook/admission/pod/metrics_aggregate_injector.go
    """
    components = (with_metrics(c, env) for c in unit.components)
    return Step(unit.with_components(tuple(components)))


def with_metrics(component: Component, env: Env) -> Component:
    """The component with the pod annotations that tell where metrics are; both switches always stand there."""
    section = env.platform.metrics_aggregator
    aggregate = component.annotation(ENABLE_METRIC_AGGREGATION)
    scrape = component.annotation(ENABLE_PROMETHEUS_SCRAPING)
    added = dict(component.pod_annotations)
    if aggregate is None:
        added[ENABLE_METRIC_AGGREGATION] = aggregate = section.enable_metric_aggregation
    if scrape is None:
        added[ENABLE_PROMETHEUS_SCRAPING] = scrape = section.enable_prometheus_scraping
    if scrape == "true":
        added["prometheus.io/port"] = AGGREGATE_PORT if aggregate == "true" else QUEUE_PROXY_PORT
        added["prometheus.io/path"] = METRICS_PATH
    return replace(component, pod_annotations=added)
