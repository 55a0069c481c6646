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
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.unit import Component, Unit

COMPONENT_STOPPED = Code(
    "exposure/component-stopped",
    Severity.WARNING,
    "a component that is stopped on its own",
    "The annotation serving.kserve.io/stop on a component, or on its runtime, takes the pods, the Service and the "
    "autoscaler of that component alone. The service is not ready without it, and so gets no routes of its own.",
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
    return () if unit.stopped else tuple(c for c in unit.components if not c.canary and is_stopped(unit, c))


def is_down(unit: Unit) -> bool:
    """Whether a unit cannot be reached, for it is stopped, or one of its components is."""
    return unit.stopped or bool(stopped_alone(unit))


def stop_findings(unit: Unit) -> Iterator[Diagnostic]:
    """Warnings about components that are stopped while the service is not."""
    for component in stopped_alone(unit):
        message = f"{component.name} is stopped, so {unit.ref} is never ready and has no routes of its own"
        place = component.annotations.span((STOP,))
        yield finding(unit, COMPONENT_STOPPED, message, place, f"annotate the whole object with {STOP}")
