"""Reading and editing containers of a pod: find by name, environment variables, ports, GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.names import DEFAULT_PORT, TRANSFORMER_CONTAINER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.tree import Json, Origin, Tree

PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
"""The fields of a container that hold probes, in the order in which they begin."""
HOOKS = ("postStart", "preStop")
"""What of a container's lifecycle is a hook: `stopSignal`, a text, stands beside them."""


def find(containers: Sequence[Json], name: str) -> Json | None:
    """The first container of a name, or None."""
    for container in containers:
        if container.get("name") == name:
            return container
    return None


def variable(container: Json, name: str) -> str | None:
    """The plain value of the first variable of a name; empty if it has none, None if there is no such variable."""
    for entry in container.get("env") or ():
        if entry["name"] == name:
            value: str = entry.get("value", "")
            return value
    return None


def with_variable(container: Json, name: str, value: str) -> Json:
    """A container in which a variable has a value: the first of that name is overwritten, else one is appended.

    KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, AddEnvVarToPodSpec
    """
    env = container.get("env") or []
    for i, entry in enumerate(env):
        if entry["name"] == name:
            return {**container, "env": [*env[:i], {**entry, "value": value}, *env[i + 1 :]]}
    return {**container, "env": [*env, {"name": name, "value": value}]}


def set_variable(pod: Tree, container: str, name: str, value: str, origin: Origin) -> Tree:
    """A pod in whose container of a name a variable has a value."""
    return pod.put(("containers", container, "env", name, "value"), value, origin)


def first_port(container: Json) -> int:
    """The first port of a container, or KServe's default."""
    ports = container.get("ports") or ()
    port: int = ports[0]["containerPort"] if ports else DEFAULT_PORT
    return port


def serving_container(pod: Json) -> Json:
    """The container whose ports a Service exposes: the collocated transformer, else the first.

    KServe: reconcilers/service/service_reconciler.go, createDefaultSvc
    """
    containers = pod.get("containers") or [{}]
    return find(containers, TRANSFORMER_CONTAINER) or containers[0]


def uses_nvidia_gpu(container: Json) -> bool:
    """Whether a container's limits name an NVIDIA GPU or a slice of one. KServe: pkg/utils/utils.go, IsGPUEnabled."""
    limits = (container.get("resources") or {}).get("limits") or {}
    return any(name == "nvidia.com/gpu" or name.startswith("nvidia.com/mig") for name in limits)
