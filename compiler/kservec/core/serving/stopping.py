"""Stopping: which components of a unit are to have no pods, and what that means for the whole.

An object is stopped by its annotation, which its components inherit like any other. So a component may be stopped on
its own, or run although the rest is stopped: what stands on it, or on its runtime, is what its objects carry.
KServe: pkg/utils/utils.go, GetForceStopRuntime; the reconcilers of workloads, Services and autoscalers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.names import STOP
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env, Style
    from kservec.core.unit import Component, Unit

COMPONENT_STOPPED = Code(
    "exposure/component-stopped",
    Severity.WARNING,
    "a component that is stopped on its own",
    "The annotation serving.kserve.io/stop on a component, or on its runtime, takes the pods, the Service and the "
    "autoscaler of that component alone. The service is not ready without it, and so gets no routes of its own; the "
    "Ingress of a service with a transformer only waits for that and for the predictor.",
)


def says_stop(annotations: Mapping[str, str]) -> bool:
    """Whether annotations ask that there are no pods."""
    return annotations.get(STOP, "").lower() == "true"


def is_stopped(unit: Unit, component: Component) -> bool:
    """Whether a component is to have no pods: by its own annotations where they say anything, else by the unit's."""
    annotations: Mapping[str, str] = component.annotations.value
    return says_stop(annotations) if STOP in annotations else unit.stopped


def stopped_alone(unit: Unit) -> tuple[Component, ...]:
    """The components, canaries aside, without which a unit that is not stopped as a whole is not ready."""
    return () if unit.stopped else tuple([c for c in unit.components if not c.canary and is_stopped(unit, c)])


def is_cut_off(unit: Unit, style: Style) -> bool:
    """Whether a unit that is not stopped has a component stopped without which its style makes it no routes."""
    return any(is_needed(unit, component, style) for component in stopped_alone(unit))


def is_needed(unit: Unit, component: Component, style: Style) -> bool:
    """Whether a style makes a unit no routes while a component does not run."""
    return style.needed is None or component in style.needed(unit)


def is_down(unit: Unit, env: Env) -> bool:
    """Whether a unit cannot be reached, for it is stopped, or a component is that has to run for it."""
    if unit.stopped or not stopped_alone(unit):
        return unit.stopped
    style = next((style for style in env.plugs.styles if style.selects(unit, env)), None)
    return style is None or is_cut_off(unit, style)


def stop_findings(unit: Unit, style: Style) -> list[Diagnostic]:
    """Warnings about components that are stopped while the service is not."""
    return [stop_finding(unit, component, style) for component in stopped_alone(unit)]


def stop_finding(unit: Unit, component: Component, style: Style) -> Diagnostic:
    """The warning about a component that is stopped while the service is not."""
    nowhere = f", and what leads to {component.name} leads nowhere"
    then = " and has no routes of its own" if is_needed(unit, component, style) else nowhere
    message = f"{component.name} is stopped, so {unit.ref} is never ready{then}"
    place = component.annotations.span((STOP,))
    return finding(unit, COMPONENT_STOPPED, message, place, f"annotate the whole object with {STOP}")
