"""Scaling by a HorizontalPodAutoscaler on cpu or memory.

KServe: reconcilers/hpa/hpa_reconciler.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, ObjectRef, Reject, Severity
from kservec.core.effects import without_effect
from kservec.core.quantity import canonical
from kservec.core.registry import Scaled, Scaler
from kservec.core.routing.objects import component_object
from kservec.core.serving.replicas import bounds, scale_settings
from kservec.core.serving.utilization import unmeasured
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import ScaleIntent
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Component, Unit
    from kservec.spec.inferenceservice import MetricsSpec, MetricTarget

NAME = "hpa"
MADE = Origin(Layer.KSERVE_DEFAULT, NAME)
API_VERSION, KIND = "autoscaling/v2", "HorizontalPodAutoscaler"
CPU, MEMORY = "cpu", "memory"
UTILIZATION, AVERAGE_VALUE = "Utilization", "AverageValue"
DEFAULT_PERCENT = 80
MADE_OF = {
    "minReplicas": "minReplicas", "maxReplicas": "maxReplicas", "scaleTarget": "metrics", "autoScaling": "metrics",
}  # fmt: skip
"""The user's fields, and what is made of each."""
LEAST = 1

INVALID_METRIC = Code(
    "scaling/invalid-metric",
    Severity.ERROR,
    "a metric that the API server refuses",
    "A HorizontalPodAutoscaler needs a target for each metric: a utilization of 1 or more percent of the requests, or "
    "an average value.",
)


def render(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> Scaled:
    """The HorizontalPodAutoscaler of a component.

    Without a metric that counts, the API server would fill in 80% of cpu, so that is written out. KServe leaves out the
    behavior that the user wants.

    Raises:
        Reject: a metric has no valid target.
    """
    del env
    least, most = counts = bounds(intent, floor=LEAST)
    metrics = metrics_of(unit, component, intent) or [resource_metric(CPU, percent_target(DEFAULT_PERCENT))]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": component.name}
    fields = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most, "metrics": metrics}
    if intent.auto_scaling is not None and intent.auto_scaling.behavior:
        fields["behavior"] = intent.auto_scaling.behavior
    spec = Tree.built(fields, ((), MADE), *origins(unit, component, intent, fields))
    ref = ObjectRef(API_VERSION, KIND, unit.namespace, component.name)
    scaler = component_object(ref, component, spec)
    found = (*unused(unit, component, intent), *unmeasured(unit, component, shares(metrics), counts))
    return Scaled((scaler,), diagnostics=found)


def shares(metrics: list[Json]) -> tuple[str, ...]:
    """The resources that are held at a utilization."""
    resources = [metric["resource"] for metric in metrics]
    return tuple([r["name"] for r in resources if r["target"]["type"] == UTILIZATION])


def origins(
    unit: Unit, component: Component, intent: ScaleIntent, fields: Mapping[str, Json]
) -> list[tuple[Path, Origin]]:
    """The fields of the spec that were made of the user's, each with where that is written."""
    at, settings = unit.source.origin, scale_settings(component, intent)
    made: list[tuple[Path, Origin]] = [((MADE_OF[name],), at(*path)) for name, path in settings if name in MADE_OF]
    if "behavior" in fields:
        made.append((("behavior",), at(*component.path, "autoScaling", "behavior")))
    for i, written in enumerate(metrics_that_count(intent)):
        value = ("resource", "target", "averageValue")
        if "averageValue" in fields["metrics"][i]["resource"]["target"]:
            made.append((("metrics", i, *value), at(*component.path, "autoScaling", "metrics", written, *value)))
    return made


def metrics_that_count(intent: ScaleIntent) -> list[int]:
    """Which entries of `autoScaling.metrics` KServe does not pass over."""
    metrics = intent.auto_scaling.metrics if intent.auto_scaling is not None else ()
    return [i for i, m in enumerate(metrics) if m.resource is not None and m.resource.name in (CPU, MEMORY)]


def metrics_of(unit: Unit, component: Component, intent: ScaleIntent) -> list[Json]:
    """The metrics that count. KServe: getHPAMetrics."""
    if intent.auto_scaling is not None:
        found = []
        for i, metric in enumerate(intent.auto_scaling.metrics):
            target = target_of(unit, metric, (*component.path, "autoScaling", "metrics", i))
            if target is not None and metric.resource is not None:
                found.append(resource_metric(metric.resource.name, target))
        return found
    name, percent = intent.metric or CPU, intent.target
    if name == CPU and percent is None:
        percent = DEFAULT_PERCENT
    if name in (CPU, MEMORY) and percent is not None:
        return [resource_metric(name, checked_percent(unit, percent, (*component.path, "scaleTarget")))]
    return []


def target_of(unit: Unit, metric: MetricsSpec, path: Path) -> Json | None:
    """The target of one entry of `autoScaling.metrics`; None for one that KServe passes over.

    Raises:
        Reject: the entry counts, but has no valid target.
    """
    resource = metric.resource
    if resource is None or resource.name not in (CPU, MEMORY):
        return None
    target, path = resource.target, (*path, "resource", "target")
    if resource.name == CPU:
        percent = DEFAULT_PERCENT if target.average_utilization is None else target.average_utilization
        return checked_percent(unit, percent, path)
    return memory_target(unit, target, path)


def memory_target(unit: Unit, target: MetricTarget, path: Path) -> Json:
    """The target of a memory metric.

    Raises:
        Reject: its type is no type that memory can have, or what the type asks for is missing.
    """
    if target.type == UTILIZATION and target.average_utilization is not None:
        return checked_percent(unit, target.average_utilization, path)
    if target.type == AVERAGE_VALUE and target.average_value is not None:
        return {"type": AVERAGE_VALUE, "averageValue": canonical(target.average_value)}
    message = "a memory metric needs type Utilization with averageUtilization, or AverageValue with averageValue"
    raise Reject(finding(unit, INVALID_METRIC, message, path, "give the target one of the two"))


def checked_percent(unit: Unit, percent: int, path: Path) -> Json:
    """A utilization as a target.

    Raises:
        Reject: it is less than one percent.
    """
    if percent < 1:
        message = f"a utilization of {percent}% can be no target"
        raise Reject(finding(unit, INVALID_METRIC, message, path, "give a percentage of 1 or more"))
    return percent_target(percent)


def percent_target(percent: int) -> Json:
    """A target as a share of the containers' requests."""
    return {"type": UTILIZATION, "averageUtilization": percent}


def resource_metric(name: str, target: Json) -> Json:
    """One metric of the autoscaler."""
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def unused(unit: Unit, component: Component, intent: ScaleIntent) -> Iterator[Diagnostic]:
    """Warnings about what KServe passes over without a word."""
    at = component.path
    written = component.extension.min_replicas
    if written is not None and written < LEAST:
        reason = "a HorizontalPodAutoscaler keeps at least one replica"
        yield without_effect(unit, (*at, "minReplicas"), reason, "scale to zero with Knative or KEDA")
    if intent.auto_scaling is None:
        if intent.metric not in (None, CPU):
            yield from unused_metric(unit, component, intent)
        return
    for name, path in scale_settings(component, intent):
        if name in ("scaleTarget", "scaleMetric"):
            yield without_effect(unit, path, "autoScaling takes its place")
    for i, metric in enumerate(intent.auto_scaling.metrics):
        yield from unused_entry(unit, metric, (*at, "autoScaling", "metrics", i))


def unused_metric(unit: Unit, component: Component, intent: ScaleIntent) -> Iterator[Diagnostic]:
    """Warnings about `scaleMetric` and `scaleTarget` where they make no metric, which is not cpu."""
    at, default = component.path, f"the autoscaler keeps cpu at {DEFAULT_PERCENT}%"
    if intent.metric == MEMORY and intent.target is not None:
        return
    if intent.metric == MEMORY:
        reason = f"without scaleTarget, {default}"
        yield without_effect(unit, (*at, "scaleMetric"), reason, "give scaleTarget, a percentage")
        return
    reason = f"only cpu and memory count here; {default}"
    yield without_effect(unit, (*at, "scaleMetric"), reason)
    if intent.target is not None:
        yield without_effect(unit, (*at, "scaleTarget"), reason)


def unused_entry(unit: Unit, metric: MetricsSpec, path: Path) -> Iterator[Diagnostic]:
    """Warnings about one entry of `autoScaling.metrics`."""
    resource = metric.resource
    if resource is None or resource.name not in (CPU, MEMORY):
        yield without_effect(unit, path, "only cpu and memory count here", "other metrics need the KEDA autoscaler")
    elif resource.name == CPU and resource.target.type not in ("", UTILIZATION):
        reason = "cpu is always held at a utilization"
        yield without_effect(unit, (*path, "resource", "target", "type"), reason, "give averageUtilization")


SCALER = Scaler(name=NAME, modes=frozenset({Mode.STANDARD}), render=render, default=True)
