"""What Knative fills into the security settings of containers where its feature `secure-pod-defaults` is on.

Knative: pkg/apis/serving/v1/revision_defaults.go, defaultSecurityContext
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json, Path, Tree

DEFAULTED = Origin(Layer.KSERVE_DEFAULT, "knative_service")
FLAG = "secure-pod-defaults"
ENABLED, ROOT_ALLOWED = "enabled", "allowrootbounded"
FIRST_FREE_PORT = 1024
"""Ports below it need a capability."""


def secured(pod: Tree, features: Mapping[str, str]) -> Tree:
    """The spec of a revision with safe settings where containers say nothing, if the platform has them filled in."""
    state = features.get(FLAG, "").lower()
    if state not in (ENABLED, ROOT_ALLOWED):
        return pod
    own = pod.get("securityContext") or {}
    for field in ("containers", "initContainers"):
        for container in pod.value.get(field) or ():
            at: Path = (field, container["name"], "securityContext")
            pod = pod.fill(at, missing(container, own, rootless=state == ENABLED), DEFAULTED)
    return pod


def missing(container: Json, pod: Json, *, rootless: bool) -> dict[str, Json]:
    """What a container is given, as far as neither it nor its pod says anything.

    Args:
        container: the container.
        pod: the security settings of the pod.
        rootless: whether it is kept from running as root.
    """
    filled: dict[str, Json] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    if any(port["containerPort"] < FIRST_FREE_PORT for port in container.get("ports") or ()):
        filled["capabilities"]["add"] = ["NET_BIND_SERVICE"]
    if not (pod.get("seccompProfile") or {}).get("type"):
        filled["seccompProfile"] = {"type": "RuntimeDefault"}
    if rootless and pod.get("runAsNonRoot") is None:
        filled["runAsNonRoot"] = True
    return filled
