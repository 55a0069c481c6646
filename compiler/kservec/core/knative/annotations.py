"""Values that Knative takes in the annotations of a service and of its revisions: numbers, durations, classes.

Decides validity alone. What an annotation does is Knative's business; which of them KServe sets is the scaler's.
Knative: pkg/apis/autoscaling/annotation_validation.go; pkg/apis/serving/metadata_validation.go;
pkg/apis/serving/v1/revision_validation.go
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.duration import seconds_of
from kservec.core.schemas.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json

ANNOTATION = Code(
    "knative/annotation",
    Severity.ERROR,
    "an annotation with a value that Knative refuses",
    "Knative checks the annotations under autoscaling.knative.dev and serving.knative.dev: numbers, durations with a "
    "unit (90s, 5m) in whole seconds, and the classes and metrics that it knows.",
)

SCALING = "autoscaling.knative.dev/"
SERVING = "serving.knative.dev/"
OWN_CLASSES = (f"kpa.{SCALING[:-1]}", f"hpa.{SCALING[:-1]}")
INITIAL_SCALE = f"{SCALING}initial-scale"
METRICS = ("concurrency", "rps")
LONGEST_WINDOW = 3600
ENDLESS = float("inf")
SHORTEST_WINDOW = 6

CONFIG, ALLOW_ZERO = "config-autoscaler", "allow-zero-initial-scale"
TRUE = ("1", "t", "T", "TRUE", "true", "True")
"""What Go reads as true."""

is_number = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
is_whole = re.compile(r"[+-]?[0-9]+").fullmatch


def outside(least: float, most: float, unit: str = "") -> str:
    """What is said of a value that is out of a range."""
    return f"is not at least {least:g}{unit}" + ("" if most == ENDLESS else f" and at most {most:g}{unit}")


def number(least: float, most: float = ENDLESS) -> Callable[[str], str]:
    """A check that a text is a number in a range; it gives what is wrong, empty if nothing."""

    def check(text: str) -> str:
        if not is_number(text):
            return "is no number"
        return "" if least <= float(text) <= most else outside(least, most)

    return check


def duration(least: int, most: float = ENDLESS, *, whole: bool = True) -> Callable[[str], str]:
    """A check that a text is a duration in a range of seconds, of whole seconds unless told otherwise."""

    def check(text: str) -> str:
        seconds = seconds_of(text)
        if seconds is None:
            return "is no duration such as 90s"
        if not least <= seconds <= most:
            return outside(least, most, "s")
        return "has parts of a second" if whole and seconds.denominator != 1 else ""

    return check


def burst_capacity(text: str) -> str:
    """What is wrong with a burst capacity: -1 stands for no limit."""
    return "" if text == "-1" else number(0)(text)


def own_class(text: str) -> str:
    """What is wrong with a class under Knative's own domain; other classes are other projects'."""
    is_own = text.endswith(SCALING.removesuffix("/"))
    return f"is none of {' and '.join(OWN_CLASSES)}" if is_own and text not in OWN_CLASSES else ""


CHECKS: Mapping[str, Callable[[str], str]] = {
    f"{SCALING}class": own_class,
    f"{SCALING}target": number(0.01),
    f"{SCALING}window": duration(SHORTEST_WINDOW, LONGEST_WINDOW),
    **dict.fromkeys(
        (f"{SCALING}target-utilization-percentage", f"{SCALING}targetUtilizationPercentage"), number(1, 100)
    ),
    **dict.fromkeys((f"{SCALING}target-burst-capacity", f"{SCALING}targetBurstCapacity"), burst_capacity),
    **dict.fromkeys((f"{SCALING}panic-window-percentage", f"{SCALING}panicWindowPercentage"), number(1, 100)),
    **dict.fromkeys((f"{SCALING}panic-threshold-percentage", f"{SCALING}panicThresholdPercentage"), number(110, 1000)),
    **dict.fromkeys((f"{SCALING}scale-down-delay", f"{SCALING}scaleDownDelay"), duration(0, LONGEST_WINDOW)),
    **dict.fromkeys(
        (f"{SCALING}scale-to-zero-pod-retention-period", f"{SCALING}scaleToZeroPodRetentionPeriod"),
        duration(0, LONGEST_WINDOW, whole=False),
    ),
    **dict.fromkeys(
        (f"{SERVING}progress-deadline", f"{SERVING}rollout-duration", f"{SERVING}rolloutDuration"), duration(0)
    ),
}
"""Annotations whose value can be judged by itself."""


def annotation_faults(annotations: Mapping[str, str]) -> Iterator[Fault]:
    """What Knative refuses among annotations; paths are below them."""
    for key, value in annotations.items():
        check = CHECKS.get(key)
        if check is not None and (reason := check(value)):
            yield Fault(ANNOTATION, (key,), f"{key}: {value!r} {reason}", help="correct or remove it")
    yield from metric_faults(annotations)
    yield from activation_faults(annotations)


def metric_faults(annotations: Mapping[str, str]) -> Iterator[Fault]:
    """A metric that the class does not scale on."""
    key, scaler = f"{SCALING}metric", annotations.get(f"{SCALING}class")
    metric = annotations.get(key)
    if metric is None or scaler not in OWN_CLASSES:
        return
    if metric not in METRICS if scaler == OWN_CLASSES[0] else not metric:
        hint = f"use {' or '.join(METRICS)}, or the class {OWN_CLASSES[1]} (cpu, memory)"
        yield Fault(ANNOTATION, (key,), f"{key}: {scaler} does not scale on {metric!r}", help=hint)


def activation_faults(annotations: Mapping[str, str]) -> Iterator[Fault]:
    """A number of pods to start from zero with that lies outside the bounds."""
    key = next((k for k in (f"{SCALING}activation-scale", f"{SCALING}activationScale") if k in annotations), "")
    if not key:
        return
    text = annotations[key]
    bounds = (annotations.get(f"{SCALING}{name}", "0") for name in ("min-scale", "max-scale"))
    least, most = (int(bound) if is_whole(bound) else 0 for bound in bounds)
    if not is_whole(text) or int(text) < max(2, least) or 0 < most < int(text):
        wanted = f"a whole number from {max(2, least)}" + (f" to {most}" if most else "")
        yield Fault(ANNOTATION, (key,), f"{key}: {text!r} is not {wanted}", help="correct or remove it")


def refused_initial_scale(value: str | None, platform: PlatformConfig) -> str:
    """Why a first number of pods does not count; empty if it does. KServe looks at the service's own alone.

    KServe: pkg/controller/v1alpha1/utils/utils.go, ValidateInitialScaleAnnotation
    """
    if value is None:
        return ""
    if not is_whole(value):
        return f"{value!r} is no whole number"
    if int(value) < 0:
        return f"{value} is below 0"
    allowed = platform.knative.get(CONFIG, {}).get(ALLOW_ZERO, "")
    return "" if int(value) or allowed in TRUE else f"0 needs {ALLOW_ZERO}: true in Knative's {CONFIG}"


def service_annotation_faults(body: Json) -> Iterator[Fault]:
    """What Knative refuses among the annotations of a service and of its revisions; paths are below the object."""
    for at in (("metadata",), ("spec", "template", "metadata")):
        owner = body if len(at) == 1 else body["spec"]["template"]
        for fault in annotation_faults((owner.get("metadata") or {}).get("annotations") or {}):
            yield fault._replace(path=(*at, "annotations", *fault.path))
