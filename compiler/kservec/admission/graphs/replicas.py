"""Replicas of a graph's router, and what they are scaled on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.validation.hpa import METRIC
from kservec.admission.validation.kpa import METRICS
from kservec.admission.validation.replicas import NEGATIVE
from kservec.core.knative.annotations import OWN_CLASSES, SCALING
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject
    from kservec.core.diagnostics import Diagnostic

COUNTS = ("minReplicas", "maxReplicas")


def check_replicas(subject: GraphSubject) -> Iterator[Diagnostic]:
    """Counts that make no sense. KServe checks those of InferenceServices alone, and Knative refuses negative ones."""
    spec = subject.spec
    for field in COUNTS:
        if subject.mode is Mode.KNATIVE and (spec.json.get(field) or 0) < 0:
            yield subject.site.finding(NEGATIVE, f"{field} cannot be negative", ("spec", field), "use 0 or more")
    if subject.mode is Mode.STANDARD and spec.max_replicas < 0:
        yield subject.without_effect(("spec", "maxReplicas"), "it is negative, and minReplicas counts", "use 0 or more")
    low, high = spec.min_replicas, spec.max_replicas
    if low is not None and 0 < high < low:
        path = ("spec", "maxReplicas")
        yield subject.without_effect(
            path, f"minReplicas is greater ({low}), and counts", "raise it, or lower minReplicas"
        )


def check_metric(subject: GraphSubject) -> Iterator[Diagnostic]:
    """A metric that Knative's own autoscaler refuses. KServe writes it all the same."""
    metric, own = subject.spec.scale_metric, OWN_CLASSES[0]
    named = subject.annotations.get(f"{SCALING}class", own)
    if subject.mode is Mode.KNATIVE and named == own and metric is not None and metric not in METRICS:
        message = f"Knative's autoscaler cannot scale on {metric}"
        hint = f"use {' or '.join(METRICS)}, or the annotation {SCALING}class: {OWN_CLASSES[1]}"
        yield subject.site.finding(METRIC, message, ("spec", "scaleMetric"), hint)
