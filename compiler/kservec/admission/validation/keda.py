"""What a component may ask of KEDA."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from kservec.admission.validation.hpa import METRIC, METRIC_SOURCE, TARGET
from kservec.core.diagnostics import Code, Severity
from kservec.core.quantity import parse_quantity

if TYPE_CHECKING:
    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

CLASS = "keda"
LEAST_MEMORY = 1 << 20
TYPES_OF_RESOURCES: Mapping[str, tuple[str, ...]] = {"cpu": ("Utilization",), "memory": ("AverageValue", "Utilization")}
"""The target types that each resource can have."""
TARGET_FIELDS = {"Utilization": "averageUtilization", "AverageValue": "averageValue", "Value": "value"}
"""The field of a target that its type asks for."""

TARGET_TYPE = Code(
    "scaling/target-type",
    Severity.ERROR,
    "a scaling target of the wrong type, or without its value",
    "KEDA scales cpu by Utilization and memory by Utilization or AverageValue. A target has the field that its type "
    "names: averageUtilization, averageValue or value. Metrics of type External and PodMetric need a value.",
)
QUERY = Code(
    "scaling/query",
    Severity.ERROR,
    "a metric without a query",
    "A metric of type External or PodMetric says by its query what is measured.",
)


def check(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateScalingKedaCompExtension."""
    if part.spec.get("scaleMetric") is not None:
        message = "KEDA takes no scaleMetric"
        help_text = "describe the metric in autoScaling.metrics"
        yield subject.finding(METRIC, message, (*part.path, "scaleMetric"), help_text)
    metrics = (part.spec.get("autoScaling") or {}).get("metrics") or ()
    for i, entry in enumerate(metrics):
        yield from _check_metric(subject, entry, (*part.path, "autoScaling", "metrics", i))


def _check_metric(subject: Subject, entry: Json, path: Path) -> Iterator[Diagnostic]:
    field, check_source = SOURCES[entry["type"]]
    source = entry.get(field)
    if source is None:
        message = f"the metric of type {entry['type']} does not say which"
        yield subject.finding(METRIC_SOURCE, message, path, f"set `{field}`")
    else:
        yield from check_source(subject, source, (*path, field))


def _check_resource(subject: Subject, resource: Json, path: Path) -> Iterator[Diagnostic]:
    name, target = resource["name"], resource["target"]
    types, kind, amount = TYPES_OF_RESOURCES[name], target.get("type"), target.get("averageValue")
    if kind not in types:
        message = f"a target of {name} is of type {' or '.join(types)}" + (f", not {kind}" if kind else "")
        yield subject.finding(TARGET_TYPE, message, (*path, "target", "type"), f"use {' or '.join(types)}")
        return
    yield from _check_target(subject, target, (*path, "target"))
    if kind == "AverageValue" and amount is not None and parse_quantity(amount) < LEAST_MEMORY:
        message = f"a target of memory is at least 1 MiB; it is {amount}"
        yield subject.finding(TARGET, message, (*path, "target", "averageValue"), "use 1Mi or more")


def _check_queried(subject: Subject, source: Json, path: Path) -> Iterator[Diagnostic]:
    metric, target = source["metric"], source["target"]
    if not metric.get("query"):
        yield subject.finding(QUERY, "the metric has no query", (*path, "metric", "query"), "set metric.query")
    if target.get("value") is None:
        message = "the metric has no value to scale at"
        yield subject.finding(TARGET_TYPE, message, (*path, "target"), "set target.value")
    else:
        yield from _check_target(subject, target, (*path, "target"))


def _check_target(subject: Subject, target: Json, path: Path) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateScaleTarget."""
    kind = target.get("type")
    field = TARGET_FIELDS.get(kind)
    if field is None:
        return
    if target.get(field) is None:
        message = f"a target of type {kind} needs {field}"
        yield subject.finding(TARGET_TYPE, message, path, f"set {field}")
    elif field == "averageUtilization" and not 1 <= target[field] <= 100:
        message = f"a target utilization is a percentage from 1 to 100; it is {target[field]}"
        yield subject.finding(TARGET, message, (*path, field), "use 1 to 100")


SOURCES: Mapping[str, tuple[str, Callable[[Subject, Json, Path], Iterator[Diagnostic]]]] = {
    "Resource": ("resource", _check_resource),
    "External": ("external", _check_queried),
    "PodMetric": ("podmetric", _check_queried),
}
"""Types of metrics: the field that describes one, and its rules."""
