"""What a component may ask of Knative's own autoscaler, and of Knative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.validation.hpa import METRIC, TARGET
from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic

METRICS = ("concurrency", "rps")

DEPLOYMENT_STRATEGY = Code(
    "knative/deployment-strategy",
    Severity.ERROR,
    "a deployment strategy in Knative mode",
    "Knative rolls a service out by revisions and traffic, so deploymentStrategy is for Standard mode only.",
)


def check(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateScalingKPACompExtension."""
    spec = part.spec
    if spec.get("deploymentStrategy") is not None:
        message = "deploymentStrategy has no meaning in Knative mode"
        help_text = "remove it, or set the annotation serving.kserve.io/deploymentMode to Standard"
        yield subject.finding(DEPLOYMENT_STRATEGY, message, (*part.path, "deploymentStrategy"), help_text)
    metric = spec.get("scaleMetric")
    if metric is not None and metric not in METRICS:
        message = f"Knative's autoscaler cannot scale on {metric}"
        help_text = (
            f"use {' or '.join(METRICS)}, or the annotation autoscaling.knative.dev/class: hpa.autoscaling.knative.dev"
        )
        yield subject.finding(METRIC, message, (*part.path, "scaleMetric"), help_text)
    target = spec.get("scaleTarget")
    if metric == "rps" and target is not None and target < 1:
        message = f"a target of requests per second is at least 1; it is {target}"
        yield subject.finding(TARGET, message, (*part.path, "scaleTarget"), "use 1 or more")
