"""queue-proxy: what KServe's pod webhook changes in a container of that name.

Knative adds the container to its pods in the cluster; here it can only be one that the user wrote.
KServe: pkg/webhook/admission/pod/{agent_injector,metrics_aggregate_injector}.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.names import AGENT_PORT, PROMETHEUS_PATH, PROMETHEUS_PORT, QUEUE_PROXY
from kservec.core.pods.containers import find, set_variable, variable
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json, Tree

AGGREGATE_PORT = 9088
PORT_NAME = "aggr-metric"
METRICS_PATH = "/metrics"
SERVED_PORT = "8080"
USER_PORT = "USER_PORT"
MADE = Origin(Layer.PASS, "add_sidecars")


def queue_proxy(pod: Tree) -> Json | None:
    """The container, if the pod has one."""
    return find(pod.value["containers"], QUEUE_PROXY)


def forwarding_to_agent(pod: Tree) -> Tree:
    """A pod whose queue-proxy, if any, sends requests to the agent rather than to the server."""
    container = queue_proxy(pod)
    if container is None or variable(container, USER_PORT) is None:
        return pod
    return set_variable(pod, QUEUE_PROXY, USER_PORT, str(AGENT_PORT), MADE)


def aggregating(pod: Tree, annotations: Mapping[str, str]) -> Tree:
    """A pod whose queue-proxy, if any, offers the server's metrics together with its own."""
    container = queue_proxy(pod)
    if container is None:
        return pod
    variables = {
        "KSERVE_CONTAINER_PROMETHEUS_METRICS_PORT": annotations.get(PROMETHEUS_PORT, SERVED_PORT),
        "KSERVE_CONTAINER_PROMETHEUS_METRICS_PATH": annotations.get(PROMETHEUS_PATH, METRICS_PATH),
        "AGGREGATE_PROMETHEUS_METRICS_PORT": str(AGGREGATE_PORT),
    }
    for name, value in variables.items():
        pod = set_variable(pod, QUEUE_PROXY, name, value, MADE)
    if find(container.get("ports") or (), PORT_NAME) is not None:
        return pod
    port = {"name": PORT_NAME, "containerPort": AGGREGATE_PORT, "protocol": "TCP"}
    return pod.append(("containers", QUEUE_PROXY, "ports"), port, MADE)
