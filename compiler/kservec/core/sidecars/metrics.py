"""Metrics: what pods tell Prometheus, and whether it finds anything there.

KServe's two switches are made for queue-proxy, which offers its own metrics and, if told, the server's with them.
KServe: pkg/webhook/admission/pod/metrics_aggregate_injector.go, InjectMetricsAggregator
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.names import (
    ENABLE_METRIC_AGGREGATION,
    ENABLE_PROMETHEUS_SCRAPING,
    PROMETHEUS_PATH,
    PROMETHEUS_PORT,
)
from kservec.core.sidecars.injection import setting_span
from kservec.core.sidecars.queue_proxy import AGGREGATE_PORT, METRICS_PATH, aggregating, queue_proxy
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Tree
    from kservec.core.unit import Component, Unit

SECTION = "metricsAggregator"
QUEUE_PROXY_PORT = 9091
SCRAPED_PORT = "prometheus.io/port"
SCRAPED_PATH = "prometheus.io/path"
ON = "true"
SETTINGS = {
    ENABLE_METRIC_AGGREGATION: "enableMetricAggregation",
    ENABLE_PROMETHEUS_SCRAPING: "enablePrometheusScraping",
}
"""The switches as annotations -> as settings of the platform."""

NOBODY_LISTENS = Code(
    "metrics/nobody-listens",
    Severity.WARNING,
    "metrics that Prometheus does not find",
    "enable-prometheus-scraping and enable-metric-aggregation speak to queue-proxy, a container that Knative adds to "
    "its pods: in Standard mode nobody listens at its port. There Prometheus is told of the server's own port if an "
    "annotation prometheus.kserve.io/port of the runtime or the service names it. In Knative mode queue-proxy's own "
    "metrics are found; those of the server are not among them, for only KServe's webhook can change the container in "
    "a running pod. Let a PodMonitor point at the port of the server.",
)


class Switches(NamedTuple):
    """The two switches of a component, as texts."""

    aggregate: str
    scrape: str


def switches(annotations: Tree, platform: PlatformConfig) -> Switches:
    """The switches of a component: its annotations, else the platform's settings."""
    written, section = annotations.value, platform.metrics_aggregator
    return Switches(
        written.get(ENABLE_METRIC_AGGREGATION, section.enable_metric_aggregation),
        written.get(ENABLE_PROMETHEUS_SCRAPING, section.enable_prometheus_scraping),
    )


def measured(pod: Tree, annotations: Tree, told: Switches, mode: Mode) -> tuple[Tree, dict[str, str]]:
    """A pod, and the annotations that it alone gets to tell where metrics are; both switches always stand there.

    In Knative mode nothing aggregates, so queue-proxy's own port is told. Pods of Standard mode have no queue-proxy:
    there it is the server's port, which KServe never tells.
    """
    aggregate, scrape = told
    written, added = annotations.value, {}
    if ENABLE_METRIC_AGGREGATION not in written:
        added[ENABLE_METRIC_AGGREGATION] = aggregate
    if ENABLE_PROMETHEUS_SCRAPING not in written:
        added[ENABLE_PROMETHEUS_SCRAPING] = scrape
    if aggregate == ON:
        pod = aggregating(pod, written)
    if scrape == ON:
        is_aggregated = aggregate == ON and mode is not Mode.KNATIVE
        added[SCRAPED_PORT] = str(AGGREGATE_PORT if is_aggregated else QUEUE_PROXY_PORT)
        added[SCRAPED_PATH] = METRICS_PATH
        if is_known(pod, annotations, mode):
            added[SCRAPED_PORT] = written[PROMETHEUS_PORT]
            added[SCRAPED_PATH] = written.get(PROMETHEUS_PATH, METRICS_PATH)
    return pod, added


def is_known(pod: Tree, annotations: Tree, mode: Mode) -> bool:
    """Whether an annotation tells where the server itself offers metrics, in a pod without queue-proxy."""
    return mode is Mode.STANDARD and PROMETHEUS_PORT in annotations.value and queue_proxy(pod) is None


def metrics_findings(
    unit: Unit, component: Component, told: Switches, platform: PlatformConfig
) -> tuple[Diagnostic, ...]:
    """The warning about a switch that leads Prometheus nowhere."""
    if ON not in told or queue_proxy(component.pod) is not None:
        return ()
    aggregate, scrape = told
    if unit.mode is Mode.STANDARD and scrape == ON and not is_known(component.pod, component.annotations, unit.mode):
        message = "Prometheus is told of a port of queue-proxy, which pods of Standard mode do not have"
        return (nobody_listens(unit, component, platform, (ENABLE_PROMETHEUS_SCRAPING, message)),)
    if unit.mode is Mode.KNATIVE and aggregate == ON:
        message = "the server's metrics are not aggregated: nothing tells Knative's queue-proxy of them"
        return (nobody_listens(unit, component, platform, (ENABLE_METRIC_AGGREGATION, message)),)
    return ()


def nobody_listens(unit: Unit, component: Component, platform: PlatformConfig, why: tuple[str, str]) -> Diagnostic:
    """The warning about a switch, at the annotation; at the platform's setting it is about no service in particular."""
    key, message = why
    named = f"name the server's port in the annotation {PROMETHEUS_PORT}, or point a PodMonitor at it"
    own = key in component.annotations.value
    return Diagnostic(
        code=NOBODY_LISTENS,
        message=message,
        span=component.annotations.span((key,)) if own else setting_span(platform, SECTION, SETTINGS[key]),
        help=named if key == ENABLE_PROMETHEUS_SCRAPING else "point a PodMonitor at the port of the server",
        subject=unit.ref if own else None,
    )
