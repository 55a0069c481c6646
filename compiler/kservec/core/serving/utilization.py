"""Utilization: a share of what the containers of a pod request, by which autoscalers measure it.

Decides whether it can be measured at all. Must not know which autoscaler asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.serving.replicas import Bounds
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

NO_REQUEST = Code(
    "scaling/no-request",
    Severity.WARNING,
    "a utilization that cannot be measured",
    "A utilization is a share of what the containers request. If one container of the pod requests nothing, and no "
    "LimitRange of the namespace does so for it, the autoscaler has nothing to go by and leaves the number of pods as "
    "it is.",
)


def is_requested(name: str, container: Json) -> bool:
    """Whether a container requests a resource; where it has no request its limit counts."""
    resources = container.get("resources") or {}
    return name in (resources.get("requests") or ()) or name in (resources.get("limits") or ())


def unmeasured(unit: Unit, component: Component, names: tuple[str, ...], counts: Bounds) -> Iterator[Diagnostic]:
    """Warnings about containers that do not request the resources by whose utilization a component is scaled.

    Nothing where there is no choice between numbers of pods.
    """
    if counts.least == counts.most:
        return
    for name in dict.fromkeys(names):
        for container in component.pod.value["containers"]:
            if is_requested(name, container):
                continue
            message = f"{component.name} is scaled by {name}, of which container {container['name']} requests none"
            place = component.pod.span(("containers", container["name"])) or component.path
            yield finding(unit, NO_REQUEST, message, place, f"give the container a request of {name}")
