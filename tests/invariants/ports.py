"""Ports that are named are there: names in probes and Services, numbers of Services behind routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .output import Object, Output, maps, title
from .selectors import selected

if TYPE_CHECKING:
    from collections.abc import Iterator


def probes_name_ports_of_their_container(output: Output) -> Iterator[str]:
    """A port that a probe or a hook names is one of its container."""
    for pods in output.pods:
        for container in pods.containers:
            named = {port.get("name") for port in container.get("ports") or ()}
            for port in checked_ports(container):
                is_said = isinstance(port, str) and any(
                    output.says(code, container["name"], port) for code in ("pod/port-unknown", "llm/probe-port")
                )
                if isinstance(port, str) and port not in named and not is_said:
                    yield f"{title(pods.workload)}: {container['name']} has no port {port}"


def checked_ports(container: Object) -> list[Any]:
    """The ports that probes and hooks of a container call."""
    checks = [value for field, value in container.items() if field.endswith("Probe") or field == "lifecycle"]
    return [m["port"] for check in checks for m in maps(check) if "port" in m and "service" not in m]


def services_target_ports_of_their_pods(output: Output) -> Iterator[str]:
    """A Service leads to ports that its pods have; where containers state no port at all any number will do."""
    for service in output.of("Service"):
        spec = service["spec"]
        if "selector" not in spec or "template" in spec:
            continue
        for pods in selected(output, service, spec["selector"]):
            for port in spec.get("ports") or ():
                target = port.get("targetPort") or port["port"]
                if not pods.may_listen_at(target):
                    yield f"{title(service)}: {title(pods.workload)} has no port {target}"


def services_target_one_port(output: Output) -> Iterator[str]:
    """A port that a Service names is there once in its pods: of several one is taken, whichever comes first."""
    for service in (s for s in output.of("Service") if "template" not in s["spec"] and "selector" in s["spec"]):
        targets = {port.get("targetPort") for port in service["spec"].get("ports") or ()}
        for pods in selected(output, service, service["spec"]["selector"]):
            names = [port.get("name") for c in pods.spec["containers"] for port in c.get("ports") or ()]
            yield from (
                f"{title(service)}: {title(pods.workload)} has two ports {called}"
                for called in sorted({n for n in names if n in targets and n and names.count(n) > 1})
            )


def monitors_read_ports_of_their_pods(output: Output) -> Iterator[str]:
    """A PodMonitor reads ports that the pods have that it selects."""
    for monitor in output.of("PodMonitor"):
        found = selected(output, monitor, monitor["spec"]["selector"])
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            asked = port_of(endpoint)
            if not any(pods.may_listen_at(asked) for pods in found):
                yield f"{title(monitor)}: no pod has the port {asked}"


def port_of(endpoint: Object) -> str | int | None:
    """The port that is read: named, or found by relabelling where containers need not list it."""
    asked: str | int | None = endpoint.get("port") or endpoint.get("portNumber") or endpoint.get("targetPort")
    for rule in endpoint.get("relabelings") or ():
        if rule.get("targetLabel") == "__address__":
            asked = int(rule["replacement"].rpartition(":")[2])
        if rule.get("sourceLabels") == ["__meta_kubernetes_pod_container_port_number"]:
            asked = int(rule["regex"])
    return asked


def policies_open_ports_of_their_pods(output: Output) -> Iterator[str]:
    """A NetworkPolicy lets traffic in to ports that its pods have."""
    for policy in output.of("NetworkPolicy"):
        found = selected(output, policy, policy["spec"]["podSelector"])
        for port in (p["port"] for rule in policy["spec"].get("ingress") or () for p in rule.get("ports") or ()):
            if found and not any(pods.may_listen_at(port) for pods in found):
                yield f"{title(policy)}: no pod has the port {port}"


def containers_share_no_port(output: Output) -> Iterator[str]:
    """No two containers of a pod listen on one port, as they share a network."""
    for pods in output.pods:
        ports = [
            (port["containerPort"], port.get("protocol", "TCP"))
            for container in pods.spec["containers"]
            for port in container.get("ports") or ()
        ]
        for number, protocol in sorted({port for port in ports if ports.count(port) > 1}):
            yield f"{title(pods.workload)}: two ports are {number}/{protocol}"


INVARIANTS = (
    probes_name_ports_of_their_container,
    services_target_ports_of_their_pods,
    services_target_one_port,
    monitors_read_ports_of_their_pods,
    policies_open_ports_of_their_pods,
    containers_share_no_port,
)
