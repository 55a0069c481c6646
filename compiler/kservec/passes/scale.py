"""scale: each component gets the autoscaler that its annotations name, or a fixed number of replicas."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.effects import without_effect
from kservec.core.intents import ScaleIntent
from kservec.core.names import AUTOSCALER_CLASS
from kservec.core.records import evolve
from kservec.core.serving.stopping import is_stopped
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Companion, Env, Plugs, Scaled, Scaler
    from kservec.core.unit import Component, Mode, Unit

TAKEN_BACK = Origin(Layer.PASS, "scale")

UNKNOWN_CLASS = Code(
    "scaling/unknown-class",
    Severity.ERROR,
    "an autoscaler that does not exist",
    "The annotation serving.kserve.io/autoscalerClass names none of the autoscalers that the deployment mode knows.",
)
NO_SCALER = Code(
    "scaling/no-autoscaler",
    Severity.ERROR,
    "no autoscaler for the deployment mode",
    "Every deployment mode has an autoscaler that scales services which name none. Here it is missing, which is a "
    "mistake in one of them.",
)


def scale(unit: Unit, env: Env) -> Step:
    """Turn what each component says about replicas into objects and numbers; what is stopped gets none.

    Takes:   ScaleIntent
    Writes:  objects of the chosen scaler and of what stands beside it; component.replicas, component.pod_annotations
    Reports: scaling/unknown-class, scaling/no-autoscaler, spec/without-effect; what the scaler and its
             companions report
    KServe:  reconcilers/autoscaler/autoscaler_reconciler.go, createAutoscaler
    """
    components: list[Component] = []
    found: list[Diagnostic] = []
    bundle = unit.bundle
    for component in unit.components:
        intents, component = component.take(ScaleIntent)  # noqa: PLW2901 - the loop goes on with what is left
        for intent in intents:
            scaler = choose_scaler(unit, component, intent, env)
            if is_stopped(unit, component):
                continue
            if component.extension.scale_metric_type is not None:
                found.append(unheeded_type(unit, component))
            scaled = scaler.render(unit, component, intent, env)
            component = scaled_component(component, scaled)  # noqa: PLW2901
            beside = [c.render(unit, component, intent, env) for c in companions_of(env.plugs, unit.mode)]
            for made in (scaled, *beside):
                bundle = bundle.add(*made.manifests)
                found += made.diagnostics
        components.append(component)
    return Step(evolve(unit, components=tuple(components), bundle=bundle), tuple(found))


def choose_scaler(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> Scaler:
    """The scaler of a name, or the default one, among those that the mode knows; the only one whatever the name says.

    Raises:
        Reject: there is none.
    """
    fitting = scalers_of(env.plugs, unit.mode)
    if len(fitting) == 1:
        return fitting[0]
    for scaler in fitting:
        if scaler.name == intent.scaler or (scaler.default and not intent.scaler):
            return scaler
    if not any(s.default for s in fitting):
        raise Reject(finding(unit, NO_SCALER, f"nothing scales {component.name} in mode {unit.mode}", component.path))
    names = ", ".join(s.name for s in fitting)
    message = f"there is no autoscaler {intent.scaler!r}: {AUTOSCALER_CLASS} can be {names}"
    span = component.annotations.span((AUTOSCALER_CLASS,))
    raise Reject(finding(unit, UNKNOWN_CLASS, message, span, f"choose one of {names}"))


@lru_cache(maxsize=8)
def scalers_of(plugs: Plugs, mode: Mode) -> tuple[Scaler, ...]:
    """The autoscalers that a mode knows."""
    return tuple(scaler for scaler in plugs.scalers if mode in scaler.modes)


@lru_cache(maxsize=8)
def companions_of(plugs: Plugs, mode: Mode) -> tuple[Companion, ...]:
    """What may stand beside the autoscalers of a mode."""
    return tuple(companion for companion in plugs.companions if mode in companion.modes)


def scaled_component(component: Component, scaled: Scaled) -> Component:
    """The component with its replicas and with annotations for its pods."""
    if scaled.replicas is None and not scaled.pod_annotations:
        return component
    annotations = {**component.pod_annotations, **dict(scaled.pod_annotations)}
    own = component.annotations
    for key in scaled.refused:
        own = own.without((key,), TAKEN_BACK)
    return evolve(component, replicas=scaled.replicas, annotations=own, pod_annotations=annotations)


def unheeded_type(unit: Unit, component: Component) -> Diagnostic:
    """The warning about the type of a metric, whichever the scaler is."""
    path = (*component.path, "scaleMetricType")
    return without_effect(unit, path, "KServe never reads it", "use autoScaling.metrics")
