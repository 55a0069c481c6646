"""Containers that do not say how much they need or may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.schemas.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Json
    from kservec.policy.scene import Scene

RESOURCES_MISSING = Code(
    "policy/resources-missing",
    Severity.WARNING,
    "a container without requests or a memory limit",
    "Off unless the project turns the rule on. Without requests the scheduler takes a pod for one that needs nothing; "
    "without a memory limit one server can take the memory of all on its node.",
)
DEMANDED = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))


def check_resources(scene: Scene) -> Iterator[Fault]:
    """Requests and the memory limit of every container."""
    for pod in scene.pods:
        for container in pod.containers:
            missing = list(missing_in(container.body.get("resources") or {}))
            if missing:
                message = f"container {container.name} has no {', no '.join(missing)}"
                path = (*container.path, "resources")
                yield Fault(RESOURCES_MISSING, path, message, help="set them in resources of the spec or the runtime")


def missing_in(resources: Json) -> Iterator[str]:
    """What is not said; a limit is a request, too."""
    limits = resources.get("limits") or {}
    for field, name in DEMANDED:
        said = resources.get(field) or {}
        if name not in said and not (field == "requests" and name in limits):
            yield f"{name} {'request' if field == 'requests' else 'limit'}"
