"""Served ports: at which ports of its pods a workload is called, as Services and InferencePools of its unit say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.network.addresses import tcp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Bundle
    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.tree import Json

POOL = "InferencePool"
QUEUE_PROXY_PORTS = (8012, 8013, 8112, 8022)
"""Of Knative's container: requests as HTTP/1, HTTP/2 and TLS, and its own questions.

Knative: pkg/networking/constants.go
"""
QUEUE_METRICS_PORT = 9090
INNER = frozenset({"metrics", "zmq"})
"""Names of ports that are no business of gateways."""


class Served(NamedTuple):
    """The ports that a workload is called at: those that any caller may use, and those for its own unit."""

    outer: tuple[Json, ...]
    inner: tuple[Json, ...] = ()


def served_ports(workload: tuple[PodSet, ...], bundle: Bundle) -> Served:
    """The ports that a workload is called at. Its pod sets are those of one workload."""
    if workload[0].is_knative:
        return Served(tuple(map(tcp, QUEUE_PROXY_PORTS)), (tcp(QUEUE_METRICS_PORT),))
    found: dict[int | str, str] = {}
    for pods in workload:
        for port, name in called_ports(pods, bundle):
            found.setdefault(port, name)
    outer = tuple(tcp(port) for port, name in found.items() if name not in INNER)
    return Served(outer, tuple(tcp(port) for port, name in found.items() if name in INNER))


def called_ports(pods: PodSet, bundle: Bundle) -> Iterator[tuple[int | str, str]]:
    """The ports of pods that objects lead to, and what those call them."""
    labels = {**pods.labels, **pods.selector, **pods.chooses}
    for made in bundle.manifests:
        spec = made.body.value.get("spec") or {}
        if made.ref.kind == POOL and selects(pool_selector(spec), labels):
            numbers = [p["number"] for p in spec.get("targetPorts") or ()] or [spec.get("targetPortNumber")]
            yield from ((number, "") for number in numbers if number)
        elif made.ref.kind == "Service" and not made.ref.group and selects(spec.get("selector"), labels):
            ports = ((p.get("targetPort", p["port"]), p.get("name", "")) for p in spec.get("ports") or ())
            yield from ((number_of(target, pods.pod), name) for target, name in ports)


def pool_selector(spec: Json) -> Json:
    """The labels that a pool selects by; its versions differ in how they write them."""
    selector = spec.get("selector") or {}
    return selector.get("matchLabels", selector)


def selects(selector: Json, labels: Json) -> bool:
    """Whether a selector selects pods with labels."""
    return bool(selector) and selector.items() <= labels.items()


def number_of(target: int | str, pod: Json) -> int | str:
    """The number of a port that a Service may call by name: not every network plugin knows names of others' ports."""
    containers = (*(pod.get("initContainers") or ()), *pod["containers"])
    listed = (port for container in containers for port in container.get("ports") or ())
    return next((port["containerPort"] for port in listed if port.get("name") == target), target)
