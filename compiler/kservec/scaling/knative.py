"""Scaling by Knative's own autoscaler, or by the one that an annotation of the service names.

KServe: pkg/controller/v1alpha1/utils/utils.go, SetAutoScalingAnnotations
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.effects import without_effect
from kservec.core.knative.annotations import (
    INITIAL_SCALES,
    MAX_SCALE,
    OWN_CLASSES,
    SCALING,
    refused_initial_scale,
    written,
)
from kservec.core.registry import Scaled, Scaler
from kservec.core.serving.annotations import KEY_WITHOUT_EFFECT
from kservec.core.serving.replicas import DEFAULT_MIN, scale_settings
from kservec.core.unit import Mode, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import ScaleIntent
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit

CLASS = f"{SCALING}class"
POD_AUTOSCALER = OWN_CLASSES[0]

INITIAL_SCALE_IGNORED = Code(
    "scaling/initial-scale-ignored",
    Severity.WARNING,
    "a first number of pods that Knative does not take",
    "autoscaling.knative.dev/initial-scale takes a whole number of at least 1, or 0 where allow-zero-initial-scale is "
    "true in Knative's config-autoscaler. With any other value the annotation is left out, and the first revision "
    "starts as without it.",
)


def render(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> Scaled:
    """Annotations of the revision: the autoscaler's class, its bounds, and what it scales on."""
    bounds = {"min-scale": DEFAULT_MIN if intent.min_replicas is None else intent.min_replicas}
    bounds |= {"max-scale": intent.max_replicas} if intent.max_replicas else {}
    annotations = {f"{SCALING}{name}": str(number) for name, number in bounds.items()}
    if component.annotation(CLASS) is None:
        annotations[CLASS] = POD_AUTOSCALER
    if intent.target is not None:
        annotations[f"{SCALING}target"] = str(intent.target)
    if intent.metric is not None:
        annotations[f"{SCALING}metric"] = intent.metric
    initial = written(component.annotations.value, INITIAL_SCALES)
    reason = refused_initial_scale(component.annotation(initial), env.platform)
    found = list(unused(unit, component, intent))
    if reason:
        message = f"{initial} is left out: {reason}"
        span = component.annotations.span((initial,))
        found.append(finding(unit, INITIAL_SCALE_IGNORED, message, span or component.path, "correct or remove it"))
    return Scaled(
        pod_annotations=tuple(annotations.items()),
        refused=(initial,) if reason else (),
        diagnostics=tuple(found),
    )


def unused(unit: Unit, component: Component, intent: ScaleIntent) -> Iterator[Diagnostic]:
    """Warnings about what the user wrote for other autoscalers."""
    for name, path in scale_settings(component, intent):
        if name == "autoScaling":
            hint = "set scaleMetric and scaleTarget, or use Standard mode"
            yield without_effect(unit, path, "Knative scales by scaleMetric and scaleTarget alone", hint)
    former = MAX_SCALE[1]
    if intent.max_replicas and component.annotation(former) is not None:
        message = f"annotation {former} has no effect beside maxReplicas"
        yield finding(unit, KEY_WITHOUT_EFFECT, message, component.annotations.span((former,)), "remove it")


SCALER = Scaler(name="knative", modes=frozenset({Mode.KNATIVE}), render=render, default=True)
