"""What Knative's webhook fills in when a service is applied, written out beforehand.

The list of containers is compared as a whole, so what a cluster fills in would be a difference for ever. The port that
requests come to is written out as well: with one container Knative takes 8080, with more it wants to be told.
Knative: pkg/apis/serving/v1/revision_defaults.go; pkg/apis/config/defaults.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.digits import natural
from kservec.core.names import AGENT_CONTAINER, DEFAULT_PORT
from kservec.core.pods.containers import PROBES, find, serving_container
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json, Path, Tree

DEFAULTED = Origin(Layer.KSERVE_DEFAULT, "knative_service")
REVISION_TIMEOUT = 300
PORT_HANDLERS = ("httpGet", "tcpSocket")
HANDLERS = (*PORT_HANDLERS, "exec", "grpc")
WRITABLE = ("emptyDir", "persistentVolumeClaim")
"""The sources of volumes that Knative lets pods write to; mounts of all others are made read-only."""

RESOURCES = ("cpu", "memory", "ephemeral-storage")


def revision_defaults(pod: Tree, settings: Mapping[str, str]) -> Tree:
    """The spec of a revision with everything that Knative would fill in.

    Args:
        pod: containers and volumes, and the fields that a revision has besides.
        settings: Knative's `config-defaults`.
    """
    if pod.get("timeoutSeconds") == 0:
        pod = pod.without(("timeoutSeconds",), DEFAULTED)
    pod = pod.fill((), limits(pod.value, settings), DEFAULTED)
    server = serving_name(pod.value)
    if len(pod.value["containers"]) > 1 and not any(c.get("ports") for c in pod.value["containers"]):
        pod = pod.put(("containers", server, "ports"), [{"containerPort": DEFAULT_PORT, "protocol": "TCP"}], DEFAULTED)
    pod = with_probe_ports(pod, server)
    pod = with_readiness(pod, server)
    for container in pod.value["containers"]:
        pod = with_resources(pod, container, settings)
        pod = with_read_only_mounts(pod, container)
    return pod


def limits(pod: Json, settings: Mapping[str, str]) -> dict[str, Json]:
    """The fields of a revision that have numbers as defaults. A timeout of 0 stands for the default.

    The default for the first byte of a response counts only where it is shorter than the whole request may take.
    """
    timeout = pod.get("timeoutSeconds") or whole(settings, "revision-timeout-seconds", REVISION_TIMEOUT)
    filled: dict[str, Json] = {
        "timeoutSeconds": timeout,
        "containerConcurrency": whole(settings, "container-concurrency", 0),
    }
    links = settings.get("enable-service-links", "false").lower()
    if links in ("true", "false"):
        filled["enableServiceLinks"] = links == "true"
    usual = whole(settings, "revision-timeout-seconds", REVISION_TIMEOUT)
    start = whole(settings, "revision-response-start-timeout-seconds", usual)
    idle = whole(settings, "revision-idle-timeout-seconds", 0)
    shorter = {"responseStartTimeoutSeconds": start, "idleTimeoutSeconds": idle}
    return filled | {name: seconds for name, seconds in shorter.items() if 0 < seconds < timeout}


def whole(settings: Mapping[str, str], key: str, default: int) -> int:
    """A number of the settings."""
    number = natural(settings.get(key, ""))
    return default if number is None else number


def serving_name(pod: Json) -> str:
    """The container that requests come to: the only one with ports, the agent, or the one that KServe would expose."""
    listening = [c for c in pod["containers"] if c.get("ports")]
    agent = find(listening, AGENT_CONTAINER)
    server = agent or (listening[0] if len(listening) == 1 else serving_container(pod))
    name: str = server["name"]
    return name


def with_probe_ports(pod: Tree, server: str) -> Tree:
    """The pod whose probes of the serving container name a port; without one they mean that of requests."""
    container = pod.get("containers", server)
    for name in PROBES:
        for handler in PORT_HANDLERS:
            target = (container.get(name) or {}).get(handler)
            if target is not None and target.get("port") in (None, "", 0):
                pod = pod.put(("containers", server, name, handler, "port"), port_of(container), DEFAULTED)
    return pod


def port_of(container: Json) -> int:
    """The port of a container that serves."""
    ports = container.get("ports") or ()
    number: int = ports[0]["containerPort"] if ports else DEFAULT_PORT
    return number


def with_readiness(pod: Tree, server: str) -> Tree:
    """The pod whose serving container has a readiness probe; all readiness probes state their thresholds."""
    serving = pod.get("containers", server)
    if not any(handler in (serving.get("readinessProbe") or {}) for handler in HANDLERS):
        pod = pod.fill(("containers", server, "readinessProbe"), {"tcpSocket": {"port": port_of(serving)}}, DEFAULTED)
    for container in pod.value["containers"]:
        probe = container.get("readinessProbe")
        if probe:
            filled = {"successThreshold": 1}
            filled |= {"failureThreshold": 3, "timeoutSeconds": 1} if probe.get("periodSeconds") else {}
            pod = pod.fill(("containers", container["name"], "readinessProbe"), filled, DEFAULTED)
    return pod


def with_resources(pod: Tree, container: Json, settings: Mapping[str, str]) -> Tree:
    """The pod with the platform's default resources in a container."""
    at: Path = ("containers", container["name"], "resources")
    for kind in ("requests", "limits"):
        keys = {name: f"revision-{name}-{kind.removesuffix('s')}" for name in RESOURCES}
        filled = {name: settings[key] for name, key in keys.items() if settings.get(key)}
        if filled:
            pod = pod.fill((*at, kind), filled, DEFAULTED)
    return pod


def with_read_only_mounts(pod: Tree, container: Json) -> Tree:
    """The pod with every mount of a volume that cannot be written to marked so."""
    volumes = {v["name"]: v for v in pod.value.get("volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        volume = volumes.get(mount["name"], {})
        if not mount.get("readOnly") and not any(volume.get(source) is not None for source in WRITABLE):
            pod = pod.put(
                ("containers", container["name"], "volumeMounts", mount["mountPath"], "readOnly"), True, DEFAULTED
            )
    return pod
