"""Values that Knative takes in the annotations of a service and of its revisions: numbers, durations, classes.

Decides validity alone. What an annotation does is Knative's business; which of them KServe sets is the scaler's.
Knative: pkg/apis/autoscaling/{annotation_validation,register}.go; pkg/apis/serving/metadata_validation.go;
pkg/apis/serving/v1/revision_validation.go; networking/pkg/apis/networking/metadata_validation.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.digits import integer
from kservec.core.golang.duration import seconds_of
from kservec.core.patterns import Pattern
from kservec.core.quantity import parse_quantity
from kservec.core.schemas.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json

ANNOTATION = Code(
    "knative/annotation",
    Severity.ERROR,
    "an annotation with a value that Knative refuses",
    "Knative checks the annotations under autoscaling.knative.dev and serving.knative.dev: numbers, durations with a "
    "unit (90s, 5m) in whole seconds, and the classes and metrics that it knows. Under networking.knative.dev it takes "
    "a few annotations of its own and refuses all others on revisions; visibility is a label there.",
)

SCALING = "autoscaling.knative.dev/"
SERVING = "serving.knative.dev/"
NETWORKING = "networking.knative.dev/"
QUEUE = f"queue.sidecar.{SERVING}"
OWN_CLASSES = (f"kpa.{SCALING[:-1]}", f"hpa.{SCALING[:-1]}")
INITIAL_SCALE = f"{SCALING}initial-scale"
INITIAL_SCALES = (INITIAL_SCALE, f"{SCALING}initialScale")
MAX_SCALE = (f"{SCALING}max-scale", f"{SCALING}maxScale")
MIN_SCALE = (f"{SCALING}min-scale", f"{SCALING}minScale")
METRICS = ("concurrency", "rps")
ALGORITHMS = ("", "linear", "weighted-exponential", "weightedExponential")
NETWORK_KEYS = frozenset({
    "certificate-class", "certificate.class", "disable-auto-tls", "disable-external-domain-tls", "disableAutoTLS",
    "http-protocol", "httpOption", "ingress-class", "ingress.class",
})  # fmt: skip
"""What Knative takes under networking.knative.dev among the annotations of a revision."""

LONGEST_WINDOW = 3600
LARGEST = 2**31 - 1
ENDLESS = float("inf")
SHORTEST_WINDOW = 6

CONFIG, ALLOW_ZERO = "config-autoscaler", "allow-zero-initial-scale"
TRUE = ("1", "t", "T", "TRUE", "true", "True")
FALSE = ("0", "f", "F", "FALSE", "false", "False")
"""What Go reads as true, and as false."""

is_number = Pattern(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
is_whole = Pattern(r"[+-]?[0-9]+").fullmatch


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


def duration(
    least: int, most: float = ENDLESS, *, whole: bool = True, may_be_empty: bool = False
) -> Callable[[str], str]:
    """A check that a text is a duration in a range of seconds, of whole seconds unless told otherwise."""

    def check(text: str) -> str:
        if not text and may_be_empty:
            return ""
        seconds = seconds_of(text)
        if seconds is None:
            return "is no duration such as 90s"
        if not least <= seconds <= most:
            return outside(least, most, "s")
        return "has parts of a second" if whole and seconds.denominator != 1 else ""

    return check


def burst_capacity(text: str) -> str:
    """What is wrong with a burst capacity: -1 stands for no limit."""
    return "" if is_number(text) and float(text) == -1 else number(0)(text)


def pods(text: str) -> str:
    """What is wrong with a number of pods."""
    return "" if is_whole(text) and 0 <= integer(text) <= LARGEST else "is no whole number of at least 0"


def quantity(text: str) -> str:
    """What is wrong with a quantity of a resource."""
    try:
        parse_quantity(text)
    except ValueError:
        return "is no quantity such as 100m or 64Mi"
    return ""


def own_class(text: str) -> str:
    """What is wrong with a class under Knative's own domain; other classes are other projects'."""
    is_own = text.endswith(SCALING.removesuffix("/"))
    return f"is none of {' and '.join(OWN_CLASSES)}" if is_own and text not in OWN_CLASSES else ""


QUEUE_RESOURCES = tuple(
    f"{QUEUE}{resource}-resource-{kind}"
    for resource in ("cpu", "memory", "ephemeral-storage")
    for kind in ("request", "limit")
)
CHECKS: Mapping[tuple[str, ...], Callable[[str], str]] = {
    (f"{SCALING}class",): own_class,
    (f"{SCALING}target",): number(0.01),
    (f"{SCALING}window",): duration(SHORTEST_WINDOW, LONGEST_WINDOW),
    (f"{SCALING}target-utilization-percentage", f"{SCALING}targetUtilizationPercentage"): number(1, 100),
    (f"{SCALING}target-burst-capacity", f"{SCALING}targetBurstCapacity"): burst_capacity,
    (f"{SCALING}panic-window-percentage", f"{SCALING}panicWindowPercentage"): number(1, 100),
    (f"{SCALING}panic-threshold-percentage", f"{SCALING}panicThresholdPercentage"): number(110, 1000),
    (f"{SCALING}scale-down-delay", f"{SCALING}scaleDownDelay"): duration(0, LONGEST_WINDOW),
    (f"{SCALING}scale-to-zero-pod-retention-period", f"{SCALING}scaleToZeroPodRetentionPeriod"): duration(
        0, LONGEST_WINDOW, whole=False
    ),
    MIN_SCALE: pods,
    MAX_SCALE: pods,
    (f"{SERVING}progress-deadline",): duration(0, may_be_empty=True),
    (f"{SERVING}rollout-duration", f"{SERVING}rolloutDuration"): duration(0, may_be_empty=True),
    (f"{QUEUE}resource-percentage", f"{QUEUE}resourcePercentage"): number(0.1, 100),
    **{(key,): quantity for key in QUEUE_RESOURCES},
}
"""Annotations whose value can be judged by itself. Of several spellings the first that is there counts."""


def written(annotations: Mapping[str, str], keys: Iterable[str]) -> str:
    """The spelling of an annotation that counts: the first that is there; empty if none is."""
    return next((key for key in keys if key in annotations), "")


def annotation_faults(annotations: Mapping[str, str]) -> Iterator[Fault]:
    """What Knative refuses among annotations; paths are below them."""
    for keys, check in CHECKS.items():
        key = written(annotations, keys)
        if key and (reason := check(annotations[key])):
            yield Fault(ANNOTATION, (key,), f"{key}: {annotations[key]!r} {reason}", help="correct or remove it")
    yield from metric_faults(annotations)
    yield from bound_faults(annotations)


def metric_faults(annotations: Mapping[str, str]) -> Iterator[Fault]:
    """A metric that the class does not scale on, and a way to average that Knative's own class does not know."""
    key, scaler = f"{SCALING}metric", annotations.get(f"{SCALING}class")
    metric = annotations.get(key)
    if metric is not None and scaler in OWN_CLASSES and is_refused(metric, scaler):
        hint = f"use {' or '.join(METRICS)}, or the class {OWN_CLASSES[1]} (cpu, memory)"
        yield Fault(ANNOTATION, (key,), f"{key}: {scaler} does not scale on {metric!r}", help=hint)
    key = written(annotations, (f"{SCALING}metric-aggregation-algorithm", f"{SCALING}metricAggregationAlgorithm"))
    if key and scaler == OWN_CLASSES[0] and annotations[key] not in ALGORITHMS:
        hint = f"use {' or '.join(ALGORITHMS[1:3])}"
        yield Fault(ANNOTATION, (key,), f"{key}: {scaler} knows no {annotations[key]!r}", help=hint)


def is_refused(metric: str, scaler: str) -> bool:
    """Whether one of Knative's own classes does not scale on a metric."""
    return metric not in METRICS if scaler == OWN_CLASSES[0] else not metric


def bound_faults(annotations: Mapping[str, str]) -> Iterator[Fault]:
    """Bounds that exclude each other, and a number of pods to start from zero with that lies outside them."""
    least, most = (bound_of(annotations, keys) for keys in (MIN_SCALE, MAX_SCALE))
    if 0 < most < least:
        key = written(annotations, MAX_SCALE)
        message = f"{key}: {annotations[key]!r} is less than the least number of pods, {least}"
        yield Fault(ANNOTATION, (key,), message, help="correct or remove it")
    key = f"{SCALING}activation-scale"
    text = annotations.get(key)
    if text is not None and (not is_whole(text) or integer(text) < max(2, least) or 0 < most < integer(text)):
        wanted = f"a whole number from {max(2, least)}" + (f" to {most}" if most else "")
        yield Fault(ANNOTATION, (key,), f"{key}: {text!r} is not {wanted}", help="correct or remove it")


def bound_of(annotations: Mapping[str, str], keys: Iterable[str]) -> int:
    """A bound on the number of pods; 0 where there is none."""
    text = annotations.get(written(annotations, keys), "")
    return integer(text) if is_whole(text) else 0


def network_faults(annotations: Mapping[str, str]) -> Iterator[Fault]:
    """Annotations of a revision under the domain of Knative's network that it does not know."""
    for key in annotations:
        if key.startswith(NETWORKING) and key.removeprefix(NETWORKING) not in NETWORK_KEYS:
            hint = "write it as a label" if key.endswith("/visibility") else "correct or remove it"
            yield Fault(ANNOTATION, (key,), f"Knative refuses the annotation {key} on revisions", help=hint)


def refused_initial_scale(value: str | None, platform: PlatformConfig) -> str:
    """Why a first number of pods does not count; empty if it does. KServe looks at the service's own alone.

    KServe: pkg/controller/v1alpha1/utils/utils.go, ValidateInitialScaleAnnotation
    """
    if value is None:
        return ""
    if not is_whole(value):
        return f"{value!r} is no whole number"
    if integer(value) < 0:
        return f"{value} is below 0"
    allowed = platform.knative.get(CONFIG, {}).get(ALLOW_ZERO, "")
    return "" if integer(value) or allowed in TRUE else f"0 needs {ALLOW_ZERO}: true in Knative's {CONFIG}"


def service_annotation_faults(body: Json) -> Iterator[Fault]:
    """What Knative refuses among the annotations of a service and of its revisions; paths are below the object."""
    for at in (("metadata",), ("spec", "template", "metadata")):
        owner = body if len(at) == 1 else body["spec"]["template"]
        annotations = (owner.get("metadata") or {}).get("annotations") or {}
        for fault in (*annotation_faults(annotations), *(network_faults(annotations) if len(at) > 1 else ())):
            yield fault._replace(path=(*at, "annotations", *fault.path))
