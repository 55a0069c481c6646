"""What a component may ask of a HorizontalPodAutoscaler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic

CLASS = "hpa"
METRICS = ("cpu", "memory")

METRIC = Code(
    "scaling/metric",
    Severity.ERROR,
    "a metric that the autoscaler does not have",
    "A HorizontalPodAutoscaler scales on cpu or memory, Knative's autoscaler on concurrency or rps; "
    "KEDA takes its metrics from autoScaling.metrics and no scaleMetric at all.",
)
TARGET = Code(
    "scaling/target",
    Severity.ERROR,
    "a scaling target out of range",
    "A target of cpu or memory utilization is a percentage from 1 to 100. A target of memory as an amount is at least "
    "1 MiB, a target of requests per second at least 1.",
)
METRIC_SOURCE = Code(
    "scaling/metric-source",
    Severity.ERROR,
    "a metric of a type that the autoscaler does not have",
    "autoScaling.metrics of a HorizontalPodAutoscaler are of type Resource, those of KEDA of type Resource, External "
    "or PodMetric; the field of that name describes the metric.",
)


def check(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateScalingHPACompExtension."""
    metric = part.spec.get("scaleMetric") or "cpu"
    if metric not in METRICS:
        message = f"a HorizontalPodAutoscaler cannot scale on {metric}"
        yield subject.finding(METRIC, message, (*part.path, "scaleMetric"), f"use {' or '.join(METRICS)}")
    else:
        yield from _check_target(subject, part)
    metrics = (part.spec.get("autoScaling") or {}).get("metrics") or ()
    for i, entry in enumerate(metrics):
        path = (*part.path, "autoScaling", "metrics", i)
        if entry["type"] != "Resource":
            message = f"a HorizontalPodAutoscaler cannot use a metric of type {entry['type']}"
            help_text = "use type Resource, or KEDA (serving.kserve.io/autoscalerClass: keda)"
            yield subject.finding(METRIC_SOURCE, message, (*path, "type"), help_text)
        elif entry.get("resource") is None:
            yield subject.finding(
                METRIC_SOURCE, "the metric of type Resource does not say which", path, "set `resource`"
            )


def _check_target(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    target = part.spec.get("scaleTarget")
    if target is not None and not 1 <= target <= 100:
        message = f"scaleTarget is a percentage from 1 to 100; it is {target}"
        yield subject.finding(TARGET, message, (*part.path, "scaleTarget"), "use 1 to 100")
