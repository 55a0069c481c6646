"""What an API server checks between the fields of one object, of kinds that are patched or included.

Compiled objects keep these rules by the way they are made, so `seal` does not ask. Takes objects that fit the schema of
their kind, without nulls.
Kubernetes: pkg/apis/{apps,autoscaling,core,networking,policy}/validation/validation.go
"""

from __future__ import annotations

from ipaddress import ip_network
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.digits import integer
from kservec.core.schemas.faults import Fault
from kservec.core.selectors import satisfies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kservec.core.tree import Json, Path

SELECTOR = Code(
    "output/selector-mismatch",
    Severity.ERROR,
    "a workload whose selector does not select its own pods",
    "The labels of the pods' template must match spec.selector, and a selector must select something. A selector can "
    "never be changed once the workload is there.",
)
REPLICAS = Code(
    "output/replicas-range",
    Severity.ERROR,
    "an autoscaler or a budget with bounds that contradict each other",
    "maxReplicas is 1 at least, and not less than minReplicas. A disruption budget has minAvailable or maxUnavailable, "
    "not both.",
)
PORT = Code(
    "output/port",
    Severity.ERROR,
    "a port that there is not, or that is there twice",
    "Ports are numbers from 1 to 65535. Those of a Service are told apart by number and protocol, and by name.",
)
NETWORK = Code(
    "output/network",
    Severity.ERROR,
    "a block of addresses that is none",
    "A block is written as 10.0.0.0/8 or 2001:db8::/32. What `except` takes out of it must lie inside.",
)
LARGEST_PORT = 65535


def workload_faults(body: Json) -> Iterator[Fault]:
    """A selector that selects nothing, or other pods."""
    spec = body.get("spec") or {}
    selector = spec.get("selector") or {}
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    hint = "let the labels of the template match spec.selector"
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield Fault(SELECTOR, ("spec", "selector"), "spec.selector selects nothing", help=hint)
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            has = f"have {labels[key]}" if key in labels else "do not have it"
            message = f"spec.selector wants the label {key}: {value}, and the pods of the template {has}"
            place = ("spec", "template", "metadata", "labels", *((key,) if key in labels else ()))
            yield Fault(SELECTOR, place, message, help=hint, related=((("spec", "selector"), "the selector is here"),))
    for i, one in enumerate(selector.get("matchExpressions") or ()):
        if not satisfies(labels, one):
            message = f"spec.selector does not match the pods of the template by its expression on {one.get('key')}"
            yield Fault(SELECTOR, ("spec", "selector", "matchExpressions", i), message, help=hint)


def scaler_faults(body: Json) -> Iterator[Fault]:
    """Bounds of an autoscaler that leave it nothing."""
    spec = body.get("spec") or {}
    least, most = spec.get("minReplicas", 1), spec.get("maxReplicas")
    if not isinstance(most, int) or not isinstance(least, int):
        return
    if most < 1:
        yield Fault(REPLICAS, ("spec", "maxReplicas"), f"maxReplicas is {most}", help="write 1 or more")
    elif least < 0:
        yield Fault(REPLICAS, ("spec", "minReplicas"), f"minReplicas is {least}", help="write 1 or more")
    elif least > most:
        message = f"minReplicas, {least}, is more than maxReplicas, {most}"
        field = "minReplicas" if "minReplicas" in spec else "maxReplicas"
        yield Fault(REPLICAS, ("spec", field), message, help="lower minReplicas, or raise maxReplicas")


def budget_faults(body: Json) -> Iterator[Fault]:
    """A disruption budget with two bounds, or with one that is no number and no percentage."""
    spec = body.get("spec") or {}
    bounds = [(name, spec[name]) for name in ("minAvailable", "maxUnavailable") if name in spec]
    if len(bounds) > 1:
        message = "minAvailable and maxUnavailable are both there"
        yield Fault(REPLICAS, ("spec", "maxUnavailable"), message, help="leave one of them out")
    for name, bound in bounds:
        number = bound.removesuffix("%") if isinstance(bound, str) and bound.endswith("%") else bound
        is_share = isinstance(number, str) and number.isascii() and number.isdigit() and integer(number) <= 100
        if not is_share and not (isinstance(bound, int) and bound >= 0):
            hint = "write a whole number, or a percentage such as 50%"
            yield Fault(REPLICAS, ("spec", name), f"{name} is {bound}", help=hint)


def port_faults(body: Json) -> Iterator[Fault]:
    """Ports of a Service that there are not, or that are there twice."""
    seen: set[tuple[str, Json]] = set()
    for i, port in enumerate((body.get("spec") or {}).get("ports") or ()):
        at: Path = ("spec", "ports", i)
        for field in ("port", "targetPort"):
            if isinstance(port.get(field), int) and not 1 <= port[field] <= LARGEST_PORT:
                yield out_of_range((*at, field), field, port[field])
        number = f"{port.get('port')}/{port.get('protocol', 'TCP')}"
        for what, key in (("port", number), ("name", port.get("name"))):
            if key and (what, key) in seen:
                yield Fault(PORT, at, f"{what} {key} is there twice", help="remove or change one of the two")
            seen.add((what, key))


def out_of_range(at: Path, field: str, number: int) -> Fault:
    """The fault of a port that there is not."""
    return Fault(PORT, at, f"{field} is {number}", help=f"write a number from 1 to {LARGEST_PORT}")


def network_faults(body: Json) -> Iterator[Fault]:
    """Blocks of addresses and ports that there are not."""
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for i, rule in enumerate((body.get("spec") or {}).get(direction) or ()):
            at: Path = ("spec", direction, i)
            for j, peer in enumerate(rule.get(peers) or ()):
                if "ipBlock" in peer:
                    yield from block_faults(peer["ipBlock"], (*at, peers, j, "ipBlock"))
            for j, port in enumerate(rule.get("ports") or ()):
                for field in ("port", "endPort"):
                    if isinstance(port.get(field), int) and not 1 <= port[field] <= LARGEST_PORT:
                        yield out_of_range((*at, "ports", j, field), field, port[field])


def block_faults(block: Json, at: Path) -> Iterator[Fault]:
    """A block that is none, and exceptions that lie outside it."""
    texts = [((*at, "cidr"), block.get("cidr"))]
    texts += [((*at, "except", i), text) for i, text in enumerate(block.get("except") or ())]
    networks: list[tuple[Path, Json, bool]] = []
    for path, text in texts:
        try:
            networks.append((path, ip_network(str(text), strict=False), "/" in str(text)))
        except ValueError:
            networks.append((path, None, False))
    for (path, network, is_block), (_, text) in zip(networks, texts, strict=True):
        whole = networks[0][1]
        if network is None or not is_block:
            yield Fault(NETWORK, path, f"{text} is no block of addresses", help="write one such as 10.0.0.0/8")
        elif whole is not None and network is not whole and not lies_in(network, whole):
            yield Fault(NETWORK, path, f"{text} does not lie in {whole}", help="take out a smaller block of it")


def lies_in(network: Json, whole: Json) -> bool:
    """Whether a block is a smaller part of another."""
    return bool(network.version == whole.version and network != whole and network.subnet_of(whole))


CHECKS: dict[tuple[str, str], Callable[[Json], Iterator[Fault]]] = {
    ("apps/v1", "DaemonSet"): workload_faults,
    ("apps/v1", "Deployment"): workload_faults,
    ("apps/v1", "ReplicaSet"): workload_faults,
    ("apps/v1", "StatefulSet"): workload_faults,
    ("autoscaling/v1", "HorizontalPodAutoscaler"): scaler_faults,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): scaler_faults,
    ("networking.k8s.io/v1", "NetworkPolicy"): network_faults,
    ("policy/v1", "PodDisruptionBudget"): budget_faults,
    ("v1", "Service"): port_faults,
}


def cross_faults(api_version: str, kind: str, body: Json) -> Iterator[Fault]:
    """Fields of an object that contradict each other, as far as it is known here."""
    check = CHECKS.get((api_version, kind))
    if check is not None:
        yield from check(body)
