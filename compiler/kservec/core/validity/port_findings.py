"""Ports of a pod that cannot work out: two containers at one, or a server that listens at another than is asked.

Decides from what containers list and are told alone: what an image does by itself cannot be seen. Must not know which
Services and routes lead to the pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.names import DEFAULT_PORT, KSERVE_CONTAINER, TRANSFORMER_CONTAINER
from kservec.core.pods.containers import HOOKS, PROBES, find, first_port, serving_container
from kservec.core.records import evolve
from kservec.core.serving.arguments import HTTP_PORT, options
from kservec.core.unit import Mode, finding
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Component, Unit

TAKEN = Code(
    "pod/port-taken",
    Severity.ERROR,
    "two containers of a pod at one port",
    "The containers of a pod share one network: only one of them can listen at a port, and the other does not start.",
)
ASSUMED = Code(
    "pod/port-assumed",
    Severity.WARNING,
    "a container that is taken to listen at the port of another",
    "KServe takes a container that lists no port to listen at 8080, and asks there whether it is ready. In this pod "
    "that is the port of another container, so the answer is about that one.",
)
ELSEWHERE = Code(
    "pod/port-elsewhere",
    Severity.WARNING,
    "requests go to a port that the server is not told to listen at",
    "Services and readiness probes use the first port that the container lists, or 8080. Arguments that choose another "
    "port do not change that: list the port, too.",
)
UNKNOWN = Code(
    "pod/port-unknown",
    Severity.WARNING,
    "a probe of a port that its container does not list",
    "A probe or a hook that names its port finds it among the ports of its own container. Without a port of that name "
    "it fails each time: the pod never becomes ready, or its container is started again and again.",
)
HTTP_OPTIONS = (
    "--http_port", "--http-port", "--port", "--rest_port", "--rest-port", "--rest_api_port", "--rest-api-port",
)  # fmt: skip
GRPC_OPTIONS = ("--grpc_port", "--grpc-port")
GRPC_SWITCH, OFF = "--enable_grpc", ("false", "0", "no", "n", "f")
MODEL_SERVER_GRPC_PORT = 8081
"""Where KServe's model servers, which are those with an option --http_port, speak gRPC if they are not told.

KServe: python/kserve/kserve/model_server.py, --grpc_port and --enable_grpc
"""
CALLERS = (*((probe,) for probe in PROBES), *(("lifecycle", hook) for hook in HOOKS))
OF_KNATIVE = ("livenessProbe", "readinessProbe")
"""Knative asks the container that serves at its one port, whatever these two name."""
CALLS = ("httpGet", "tcpSocket")


def port_findings(unit: Unit, component: Component) -> list[Diagnostic]:
    """What is wrong with the ports of a component's pod."""
    found: list[Diagnostic] = []
    if len(component.pod.value["containers"]) > 1:
        found += taken_ports(unit, component.pod)
        found += assumed_port(unit, component.pod)
    found += told_elsewhere(unit, component)
    found += unknown_ports(unit, component.pod)
    if component.worker_pod is not None:
        found += unknown_ports(unit, component.worker_pod)
    return found


def unknown_ports(unit: Unit, pod: Tree) -> list[Diagnostic]:
    """Warnings about probes and hooks that name a port which their container does not list."""
    found: list[Diagnostic] = []
    containers = pod.value["containers"]
    for container in containers:
        named = named_ports(container)
        if not named:
            continue
        listed = {port.get("name") for port in container.get("ports") or ()}
        is_served = unit.mode is Mode.KNATIVE and (bool(listed) or len(containers) == 1)
        for path, name in named:
            if name not in listed and not (is_served and path[0] in OF_KNATIVE):
                asks = f"{path[-3]} of container {visible(container['name'])} asks at port {visible(name)}"
                message = f"{asks}, which it does not list"
                span = pod.span(("containers", container["name"], *path))
                found.append(finding(unit, UNKNOWN, message, span, "list a port of that name, or give the number"))
    return found


def named_ports(container: Json) -> list[tuple[Path, str]]:
    """The ports that probes and hooks of a container name, and where that stands in it."""
    found: list[tuple[Path, str]] = []
    for caller in CALLERS:
        if caller[0] not in container:
            continue
        asked = container
        for field in caller:
            asked = asked.get(field) or {}
        for call in CALLS:
            if call in asked:
                name = (asked[call] or {}).get("port")
                if isinstance(name, str):
                    found.append(((*caller, call, "port"), name))
    return found


def taken_ports(unit: Unit, pod: Tree) -> Iterator[Diagnostic]:
    """Errors about ports that two containers list."""
    holders: dict[tuple[int, str], tuple[str, int]] = {}
    for container in pod.value["containers"]:
        for i, port in enumerate(container.get("ports") or ()):
            key = (port["containerPort"], port.get("protocol") or "TCP")
            name, first = holders.setdefault(key, (container["name"], i))
            if name == container["name"]:
                continue
            span, there = (pod.span(("containers", n, "ports", k)) for n, k in ((container["name"], i), (name, first)))
            message = f"the containers {name} and {container['name']} both list port {key[0]}"
            found = finding(unit, TAKEN, message, span, "give one of them another port")
            yield evolve(found, related=((there, f"the port of {name}"),) if there is not None else ())


def assumed_port(unit: Unit, pod: Tree) -> Iterator[Diagnostic]:
    """The warning about a predictor and the transformer beside it, if one is taken to listen at the other's port."""
    server, transformer = (find(pod.value["containers"], n) for n in (KSERVE_CONTAINER, TRANSFORMER_CONTAINER))
    if server is None or transformer is None or first_port(server) != first_port(transformer):
        return
    silent = [c["name"] for c in (server, transformer) if not c.get("ports")]
    if silent:
        names = "neither container lists a port" if len(silent) == 2 else f"{silent[0]} lists no port"
        message = f"{names}, so {KSERVE_CONTAINER} and {TRANSFORMER_CONTAINER} are both asked at {DEFAULT_PORT}"
        span = pod.span(("containers", silent[0]))
        yield finding(unit, ASSUMED, message, span, "list the port of each container under its ports")


def told_elsewhere(unit: Unit, component: Component) -> tuple[Diagnostic, ...]:
    """The warning about a server that listens at ports of which none is the one that requests go to."""
    container = serving_container(component.pod.value)
    asked = [arg for arg in container.get("args") or () if arg.startswith(HTTP_OPTIONS)]
    if not asked:
        return ()
    target = first_port(container)
    if len(asked) == 1 and asked[0].endswith(f"={target}"):
        return ()
    told = told_ports(container)
    http = [option for option in HTTP_OPTIONS if option in told]
    if not http or str(target) in {port for port, _ in told.values()} or speaks_grpc_at(target, container, told):
        return ()
    port, i = told[http[0]]
    message = f"requests and probes go to port {target} of {container['name']}, and {http[0]} has it listen at {port}"
    span = component.pod.span(("containers", container["name"], "args", i))
    return (finding(unit, ELSEWHERE, message, span, f"list the port: ports: [{{containerPort: {port}}}]"),)


def speaks_grpc_at(port: int, container: Json, told: Mapping[str, tuple[str, int]]) -> bool:
    """Whether a server speaks gRPC at a port without being told to."""
    if port != MODEL_SERVER_GRPC_PORT or HTTP_PORT not in told or any(option in told for option in GRPC_OPTIONS):
        return False
    switch, _ = options(container.get("args") or ()).get(GRPC_SWITCH, ("true", 0))
    return switch.lower() not in OFF


def told_ports(container: Json) -> dict[str, tuple[str, int]]:
    """The options of a container's arguments that name ports: the port, and the number of the argument."""
    told = options(container.get("args") or ())
    return {name: told[name] for name in (*HTTP_OPTIONS, *GRPC_OPTIONS) if name in told and told[name][0].isdecimal()}
