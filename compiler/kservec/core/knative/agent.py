"""The agent in Knative mode: the container that requests come to.

In a cluster with KServe its pod webhook turns queue-proxy towards the agent, which only works on running pods. Knative
sends requests to the one container that lists a port, so here the agent is that one.
KServe: pkg/webhook/admission/pod/agent_injector.go, InjectAgent, where there is a queue-proxy
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.names import AGENT_CONTAINER, AGENT_PORT
from kservec.core.pods.containers import PROBES, serving_container
from kservec.core.sidecars.readiness import number, probe_text
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from kservec.core.tree import Json, Tree

MADE = Origin(Layer.PASS, "add_sidecars")
HTTP2 = "h2c"
PORT_HANDLERS = ("httpGet", "tcpSocket")


def in_front(pod: Tree) -> Tree:
    """A pod with an agent whose other containers list no ports, and whose server is probed by the agent alone.

    The agent speaks HTTP/2 if the server's port was named for it. Probes that stay give their ports by number.
    """
    served = serving_container(pod.value)
    port: dict[str, Json] = {"containerPort": AGENT_PORT, "protocol": "TCP"}
    if any(p.get("name") == HTTP2 for p in (served.get("ports") or ())[:1]):
        port["name"] = HTTP2
    if served.get("readinessProbe") and probe_text(served):
        pod = pod.without(("containers", served["name"], "readinessProbe"), MADE)
    for container in pod.value["containers"]:
        if container["name"] != AGENT_CONTAINER and container.get("ports"):
            pod = with_numbers(pod, container).without(("containers", container["name"], "ports"), MADE)
    return pod.put(("containers", AGENT_CONTAINER, "ports"), [port], MADE)


def with_numbers(pod: Tree, container: Json) -> Tree:
    """A pod in which the probes of a container name no ports."""
    for probe in PROBES:
        for handler in PORT_HANDLERS:
            named = ((container.get(probe) or {}).get(handler) or {}).get("port")
            if isinstance(named, str):
                at = ("containers", container["name"], probe, handler, "port")
                pod = pod.put(at, number(named, container), MADE)
    return pod
