"""Scaling by KEDA: a ScaledObject whose triggers are the entries of `autoScaling.metrics`.

KServe: reconcilers/keda/keda_reconciler.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, ObjectRef, Reject, Severity
from kservec.core.digits import integer
from kservec.core.effects import without_effect
from kservec.core.registry import Scaled, Scaler
from kservec.core.routing.objects import component_object
from kservec.core.serving.replicas import bounds, scale_settings
from kservec.core.serving.utilization import unmeasured
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode, finding
from kservec.spec.configuration import OpenTelemetryCollector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import ScaleIntent
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit
    from kservec.spec.inferenceservice import AutoScaling, MetricsSpec, MetricTarget

NAME = "keda"
MADE = Origin(Layer.KSERVE_DEFAULT, NAME)
API_VERSION, KIND = "keda.sh/v1alpha1", "ScaledObject"
DEFAULT_PERCENT = 80
POD_RESOURCES = frozenset({"cpu", "memory"})
UTILIZATION = "Utilization"
WINDOW = "stabilizationWindowSeconds"
MAX_INT32 = 2**31 - 1

KIND_ABSENT = Code(
    "scaling/kind-absent",
    Severity.ERROR,
    "the cluster lacks the kind that scales the service",
    "The service asks for KEDA (serving.kserve.io/autoscalerClass), but ScaledObject is declared absent.",
)
NO_TRIGGERS = Code(
    "scaling/no-triggers",
    Severity.ERROR,
    "nothing for KEDA to scale by",
    "KEDA refuses a ScaledObject without triggers, and triggers come from autoScaling.metrics alone.",
)
INCOMPLETE_METRIC = Code(
    "scaling/incomplete-metric",
    Severity.ERROR,
    "a metric without the member that its type names",
    "In autoScaling.metrics, type Resource goes with resource, External with external, PodMetric with podmetric.",
)
ZERO_WITHOUT_EVENTS = Code(
    "scaling/zero-without-events",
    Severity.WARNING,
    "a service that would never leave zero replicas",
    "KEDA refuses to scale to zero by cpu and memory alone, for no pod is left to measure. Add a metric of another "
    "kind, or set minReplicas to 1 or more.",
)


def render(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> Scaled:
    """The ScaledObject of a component.

    A canary gets none, but its fixed number of replicas: KServe's ScaledObject for it has nothing to scale by, and KEDA
    refuses it.

    Raises:
        Reject: the cluster has no KEDA, there is nothing to scale by, or a metric is incomplete.
    """
    if component.canary:
        return Scaled(replicas=intent.min_replicas)
    if not env.platform.has(API_VERSION, KIND):
        message = f"{component.name} is to be scaled by KEDA, which the cluster lacks"
        raise Reject(finding(unit, KIND_ABSENT, message, (*component.path, "autoScaling")))
    triggers = triggers_of(unit, component, intent, env)
    least, most = counts = bounds(intent)
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": component.name}
    fields = {"scaleTargetRef": target, "minReplicaCount": least, "maxReplicaCount": most, "triggers": triggers}
    behavior = behavior_of(intent.auto_scaling, env)
    if behavior:
        fields["advanced"] = {"horizontalPodAutoscalerConfig": {"behavior": behavior}}
    spec = with_origins(unit, component, intent, Tree.of(fields, MADE))
    scaler = component_object(ObjectRef(API_VERSION, KIND, unit.namespace, component.name), component, spec)
    shares = tuple(t["type"] for t in triggers if t.get("metricType") == UTILIZATION)
    found = (*unused(unit, component, intent), *never_woken(unit, component, (least, triggers)))
    return Scaled((scaler,), diagnostics=(*found, *unmeasured(unit, component, shares, counts)))


def with_origins(unit: Unit, component: Component, intent: ScaleIntent, spec: Tree) -> Tree:
    """The spec with the user's fields as origin of what was made of them."""
    places = {"minReplicas": "minReplicaCount", "maxReplicas": "maxReplicaCount", "autoScaling": "triggers"}
    for name, path in scale_settings(component, intent):
        if name in places:
            spec = spec.note((places[name],), unit.source.origin(*path))
    return spec


def triggers_of(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> list[Json]:
    """The triggers, in the order of the metrics. KServe: getKedaMetrics.

    Raises:
        Reject: there are none, or a metric lacks the member that its type names.
    """
    path = (*component.path, "autoScaling")
    metrics = intent.auto_scaling.metrics if intent.auto_scaling is not None else ()
    if not metrics:
        message = f"{component.name} is to be scaled by KEDA, but autoScaling.metrics names nothing to scale by"
        raise Reject(finding(unit, NO_TRIGGERS, message, path, "add autoScaling.metrics, or choose another autoscaler"))
    triggers = []
    for i, metric in enumerate(metrics):
        make = TRIGGERS.get(metric.type)
        trigger = make(metric, component, unit, env) if make is not None else None
        if trigger is None:
            message = f"a metric of type {metric.type!r} lacks the member of that name"
            raise Reject(finding(unit, INCOMPLETE_METRIC, message, (*path, "metrics", i)))
        triggers.append(trigger)
    return triggers


def resource_trigger(metric: MetricsSpec, component: Component, unit: Unit, env: Env) -> Json | None:
    """The trigger for cpu or memory of the pods; None if the metric names none."""
    del component, unit, env
    resource = metric.resource
    if resource is None:
        return None
    trigger = {"type": resource.name, "metadata": {"value": resource_value(resource.name, resource.target)}}
    return {**trigger, "metricType": resource.target.type} if resource.target.type else trigger


def resource_value(name: str, target: MetricTarget) -> str:
    """What a resource is held at: the user's own spelling, 0 where there is none."""
    if target.type == UTILIZATION:
        percent = target.average_utilization
        if percent is None and name == "cpu":
            percent = DEFAULT_PERCENT
        return str(percent or 0)
    return spelling({"AverageValue": target.average_value, "Value": target.value}.get(target.type))


def spelling(quantity: Json) -> str:
    """A quantity as the user wrote it; 0 where there is none."""
    return "0" if quantity in (None, "") else str(quantity)


def external_trigger(metric: MetricsSpec, component: Component, unit: Unit, env: Env) -> Json | None:
    """The trigger for a query to prometheus or graphite; None if the metric names none."""
    del component, unit, env
    external = metric.external
    if external is None:
        return None
    query = external.metric
    threshold = spelling(external.target.value)
    metadata = {"serverAddress": query.server_address, "query": query.query, "threshold": threshold}
    if query.backend == "prometheus" and query.namespace:
        metadata["namespace"] = query.namespace
    trigger: dict[str, Json] = {"type": query.backend, "metadata": metadata}
    authentication = external.authentication_ref
    if authentication is not None:
        if authentication.auth_modes:
            metadata["authModes"] = authentication.auth_modes
        if authentication.authentication_ref.name:
            trigger["authenticationRef"] = {"name": authentication.authentication_ref.name}
    return trigger


def pod_trigger(metric: MetricsSpec, component: Component, unit: Unit, env: Env) -> Json | None:
    """The trigger for a metric that the pods' collector hands to KEDA's scaler; None if the metric names none.

    The query is narrowed to the component's own Deployment.
    """
    if metric.podmetric is None:
        return None
    query = metric.podmetric.metric
    selector = f'{{namespace="{unit.namespace}", deployment="{component.name}"}}'
    metadata = {
        "metricQuery": f"sum({query.query}{selector})",
        "targetValue": spelling(metric.podmetric.target.value),
        "scalerAddress": query.server_address or scaler_endpoint(env),
    }
    if query.operation_over_time:
        metadata["operationOverTime"] = query.operation_over_time
    return {"type": "external", "metadata": metadata}


def scaler_endpoint(env: Env) -> str:
    """Where KEDA's scaler for OpenTelemetry listens, from the platform's configuration."""
    section = env.platform.section("opentelemetryCollector", OpenTelemetryCollector)
    return section.metric_scaler_endpoint if section is not None else ""


TRIGGERS: dict[str, Callable[[MetricsSpec, Component, Unit, Env], Json | None]] = {
    "Resource": resource_trigger,
    "External": external_trigger,
    "PodMetric": pod_trigger,
}


def behavior_of(auto_scaling: AutoScaling | None, env: Env) -> Json:
    """How fast to scale: as the user says, else with the windows of the platform's `autoscaler` section.

    KServe passes on the stabilization windows alone. {} if nobody says anything.
    """
    behavior = (auto_scaling.behavior if auto_scaling is not None else None) or {}
    section = env.platform.autoscaler
    defaults = {
        "scaleDown": section.scale_down_stabilization_window_seconds,
        "scaleUp": section.scale_up_stabilization_window_seconds,
    }
    found = {}
    for direction, default in defaults.items():
        rules = {name: rule for name, rule in (behavior.get(direction) or {}).items() if rule is not None}
        seconds = whole_number(default)
        if WINDOW not in rules and seconds is not None:
            rules[WINDOW] = seconds
        if rules:
            found[direction] = rules
    return found


def whole_number(text: str) -> int | None:
    """A number of 32 bits in decimal digits; None for other text, which KServe passes over. Go: strconv.ParseInt."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    number = integer(text)
    return number if -MAX_INT32 - 1 <= number <= MAX_INT32 else None


def unused(unit: Unit, component: Component, intent: ScaleIntent) -> Iterator[Diagnostic]:
    """Warnings about what KServe passes over without a word."""
    for name, path in scale_settings(component, intent):
        if name in ("scaleTarget", "scaleMetric"):
            yield without_effect(unit, path, "KEDA scales by autoScaling.metrics alone")


def never_woken(unit: Unit, component: Component, scaling: tuple[int, list[Json]]) -> Iterator[Diagnostic]:
    """The warning about zero replicas with nothing that could ask for one."""
    least, triggers = scaling
    if least == 0 and all(t["type"] in POD_RESOURCES for t in triggers):
        message = f"{component.name} may go to zero replicas, but cpu and memory alone cannot bring it back"
        yield finding(unit, ZERO_WITHOUT_EVENTS, message, (*component.path, "minReplicas"))


SCALER = Scaler(name=NAME, modes=frozenset({Mode.STANDARD}), render=render)
