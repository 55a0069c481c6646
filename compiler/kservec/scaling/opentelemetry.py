"""A collector beside the pods, for metrics that only the pods themselves know: an OpenTelemetryCollector.

It is no scaler but stands beside any of them. The operator of OpenTelemetry puts it into pods that ask for it.
KServe: reconcilers/otel/otel_reconciler.go; reconcilers/raw/raw_kube_reconciler.go, NewRawKubeReconciler
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, ObjectRef, Reject, Severity
from kservec.core.names import PROMETHEUS_PORT
from kservec.core.quantity import canonical, misfit
from kservec.core.registry import Companion, Scaled
from kservec.core.routing.objects import Metadata, service_object
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode, finding
from kservec.spec.configuration import OpenTelemetryCollector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import ScaleIntent
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Component, Unit

NAME = "opentelemetry"
SECTION = "opentelemetryCollector"
API_VERSION, KIND = "opentelemetry.io/v1beta1", "OpenTelemetryCollector"
MADE = Origin(Layer.KSERVE_DEFAULT, NAME)
POD_METRIC = "PodMetric"
INJECT = "sidecar.opentelemetry.io/inject"
DEFAULT_PORT = "8080"
RESOURCES = (("requests", "cpu"), ("requests", "memory"), ("limits", "cpu"), ("limits", "memory"))
OF_THE_POD = (("namespace", "k8s.namespace.name"), ("deployment", "k8s.deployment.name"), ("pod", "k8s.pod.name"))
"""Attributes of each value, and those of its pod that they are taken from: the scaler's queries select by them."""

COLLECTOR_ABSENT = Code(
    "scaling/collector-absent",
    Severity.ERROR,
    "the cluster lacks the kind that collects metrics of pods",
    "The service asks for a metric of type PodMetric, which an OpenTelemetryCollector takes from the pods, but that "
    "kind is declared absent.",
)
NOT_INJECTED = Code(
    "scaling/collector-not-injected",
    Severity.WARNING,
    "a collector that no pod gets",
    "The OpenTelemetry operator puts a collector only into pods whose annotation sidecar.opentelemetry.io/inject names "
    "it, or says true. KServe leaves that to the user; an annotation of the namespace does as well.",
)
NOWHERE_TO_SEND = Code(
    "scaling/collector-without-endpoint",
    Severity.WARNING,
    "a collector with nowhere to send to",
    "The section opentelemetryCollector of KServe's configuration has no metricReceiverEndpoint, so the metrics of "
    "pods never reach the scaler.",
)


def render(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> Scaled:
    """The collector of a component, if it has metrics to collect.

    Raises:
        Reject: the cluster has no such kind, or a quantity of the platform's section is malformed.
    """
    metrics = dict(collected(component, intent)) if intent.auto_scaling is not None else {}
    if not metrics:
        return Scaled()
    place = next(iter(metrics))
    if not env.platform.has(API_VERSION, KIND):
        message = f"{component.name} needs an {KIND} for its metrics, which the cluster lacks"
        raise Reject(finding(unit, COLLECTOR_ABSENT, message, place))
    settings = env.platform.section(SECTION, OpenTelemetryCollector) or OpenTelemetryCollector()
    names = [name for listed in metrics.values() for name in listed]
    spec: dict[str, Json] = {"mode": "sidecar", "config": configuration(component, names, settings)}
    resources = resources_of(env.platform, settings)
    if resources:
        spec["resources"] = resources
    tree = Tree.of(spec, MADE).note(("config", "processors", "filter/metrics"), unit.source.origin(*place))
    ref = ObjectRef(API_VERSION, KIND, unit.namespace, component.name)
    made = service_object(ref, Metadata(Tree.of({}, MADE), component.annotations), tree)
    return Scaled((made,), diagnostics=tuple(shortcomings(unit, component, settings, place)))


def collected(component: Component, intent: ScaleIntent) -> Iterator[tuple[Path, list[str]]]:
    """Each entry of `autoScaling.metrics` that names metrics to collect, by its place in the spec."""
    for i, metric in enumerate(intent.auto_scaling.metrics if intent.auto_scaling is not None else ()):
        query = metric.podmetric.metric if metric.podmetric is not None else None
        if metric.type == POD_METRIC and query is not None and query.backend == NAME and query.metric_names:
            yield (*component.path, "autoScaling", "metrics", i), list(query.metric_names)


def configuration(component: Component, names: list[str], settings: OpenTelemetryCollector) -> Json:
    """What the collector does: scrape the server, say which pod a value is of, keep these metrics, send them on."""
    port = component.annotation(PROMETHEUS_PORT)
    job: dict[str, Json] = {
        "job_name": "otel-collector",
        "static_configs": [{"targets": [f"localhost:{DEFAULT_PORT if port is None else port}"]}],
    }
    if settings.scrape_interval:
        job["scrape_interval"] = settings.scrape_interval
    exporter = {"endpoint": settings.metric_receiver_endpoint, "compression": "none", "tls": {"insecure": True}}
    statements = [f'set(attributes["{name}"], resource.attributes["{of}"])' for name, of in OF_THE_POD]
    processors = {
        "resourcedetection/env": {"detectors": ["env"], "timeout": "2s", "override": False},
        "transform": {"metric_statements": [{"context": "datapoint", "statements": statements}]},
        "filter/metrics": {"metrics": {"include": {"match_type": "strict", "metric_names": names}}},
    }
    pipeline = {"receivers": ["prometheus"], "processors": list(processors), "exporters": ["otlp"]}
    return {
        "receivers": {"prometheus": {"config": {"scrape_configs": [job]}}},
        "processors": processors,
        "exporters": {"otlp": exporter},
        "service": {"pipelines": {"metrics": pipeline}},
    }


def resources_of(platform: PlatformConfig, settings: OpenTelemetryCollector) -> Json:
    """The resources of the collector, as far as the platform's section gives them.

    Raises:
        Reject: a quantity is malformed.
    """
    found: dict[str, dict[str, str]] = {}
    for field, resource in RESOURCES:
        text: str = getattr(settings.resource, f"{resource}_{field.removesuffix('s')}")
        if text:
            if reason := misfit(text):
                setting = f"{resource}{field.removesuffix('s').capitalize()}"
                raise Reject(platform.broken(SECTION, f"resource.{setting} {reason}", "resource", setting))
            found.setdefault(field, {})[resource] = canonical(text)
    return found


def shortcomings(
    unit: Unit, component: Component, settings: OpenTelemetryCollector, place: Path
) -> Iterator[Diagnostic]:
    """Warnings about a collector that will not do its work."""
    if component.annotation(INJECT) in (None, "false"):
        message = f"the collector {component.name} is not put beside the pods of {component.name}"
        yield finding(unit, NOT_INJECTED, message, place, f'add the annotation {INJECT}: "{component.name}"')
    if not settings.metric_receiver_endpoint:
        message = f"the collector {component.name} has no endpoint to send metrics to"
        help_text = f"set metricReceiverEndpoint in data.{SECTION} of the ConfigMap inferenceservice-config"
        yield finding(unit, NOWHERE_TO_SEND, message, place, help_text)


COMPANION = Companion(name=NAME, modes=frozenset({Mode.STANDARD}), render=render)
