"""Readiness: what the agent is told of the probe of the container behind it.

Decides which probe that is and how it is written down for the agent. Must not know what else the agent does.
KServe: pkg/webhook/admission/pod/agent_injector.go, InjectAgent; Kubernetes: api/core/v1/types.go, Probe
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.golang.encoding import encode, struct
from kservec.core.pods.containers import first_port

if TYPE_CHECKING:
    from kservec.core.tree import Json

DEFAULTS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
"""What the API server fills in. Kubernetes: pkg/apis/core/v1/defaults.go, SetDefaults_Probe."""
NUMBERS = ("initialDelaySeconds", *DEFAULTS)
ROOT = "/"


def probe_path(container: Json) -> str:
    """The path that the kubelet asks the agent for: that of the container's own probe."""
    request = (container.get("readinessProbe") or {}).get("httpGet") or {}
    path: str = request.get("path") or ROOT
    return path


def probe_text(container: Json) -> str:
    """The container's readiness probe as JSON, in the order of Go's fields and with the API server's defaults.

    A container without a probe is asked whether its first port accepts connections. Empty for probes that the agent
    cannot run, by command or gRPC: the agent then counts as ready, and the kubelet still asks the container itself. A
    port is given by its number, for the agent knows no names.
    """
    probe = container.get("readinessProbe") or {"tcpSocket": {"port": first_port(container)}}
    if "httpGet" in probe:
        handler = {"httpGet": http_get(probe["httpGet"], container)}
    elif "tcpSocket" in probe:
        handler = {"tcpSocket": tcp_socket(probe["tcpSocket"], container)}
    else:
        return ""
    timing = {name: probe.get(name) or DEFAULTS.get(name) for name in NUMBERS}
    numbers = {name: encode(value) for name, value in timing.items() if value}
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None:
        numbers["terminationGracePeriodSeconds"] = encode(grace)
    return struct(handler | numbers)


def http_get(request: Json, container: Json) -> str:
    """An HTTP request of a probe as JSON."""
    members = {"path": encode(request.get("path") or ROOT), "port": encode(number(request.get("port"), container))}
    if request.get("host"):
        members["host"] = encode(request["host"])
    members["scheme"] = encode(request.get("scheme") or "HTTP")
    if request.get("httpHeaders"):
        headers = (struct({k: encode(h.get(k, "")) for k in ("name", "value")}) for h in request["httpHeaders"])
        members["httpHeaders"] = f"[{','.join(headers)}]"
    return struct(members)


def tcp_socket(socket: Json, container: Json) -> str:
    """A TCP connection of a probe as JSON."""
    members = {"port": encode(number(socket.get("port"), container))}
    if socket.get("host"):
        members["host"] = encode(socket["host"])
    return struct(members)


def number(port: Json, container: Json) -> Json:
    """The number of a container's port that may be given by name; what the container does not have stays as it is."""
    named = (p["containerPort"] for p in container.get("ports") or () if p.get("name") == port)
    return next(named, port)
