"""Routes: which hosts and paths lead to which Services, of every kind of object that routes requests.

Decides what of a rule is shown at an edge. Must not know how routes are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.shapes import map_at, maps_at, number_at
from kservec.topology.labels import listed, told
from kservec.topology.names import CORE, SERVICE, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kservec.core.paths import Json
    from kservec.topology.inventory import Inventory, Item

GATEWAY_GROUP, GATEWAY = "gateway.networking.k8s.io", "Gateway"
ISTIO_GROUP = "networking.istio.io"
INGRESS_GROUP, INGRESS_CLASS = "networking.k8s.io", "IngressClass"
MESH = "mesh"
"""What VirtualServices call the pods of the mesh themselves."""
HOST = "Host"
EVERY_PATH = ("", "/", "^/.*$", "/.*", ".*")


class Target(NamedTuple):
    """Where a rule leads: an object, or a host where none is known, and its weight among the targets of the rule."""

    name: Name | None
    host: str = ""
    weight: int = 1


class Rule(NamedTuple):
    """Requests that one rule is about, by hosts and paths, and where they go. Without hosts: all of the route."""

    hosts: tuple[str, ...]
    paths: tuple[str, ...]
    targets: tuple[Target, ...]


class Route(NamedTuple):
    """A route: the hosts that it answers to, the gateways that it is attached to, and its rules.

    `in_mesh`: clients in the cluster take it without a gateway.
    """

    hosts: tuple[str, ...]
    gateways: tuple[Name, ...]
    rules: tuple[Rule, ...]
    in_mesh: bool = False

    @property
    def targets(self) -> tuple[Name, ...]:
        """The objects that the rules lead to, each once."""
        return tuple(dict.fromkeys(target.name for rule in self.rules for target in rule.targets if target.name))


class Way(NamedTuple):
    """What leads from a route to one target: the share of the requests in percent, 0 to 100, and what they ask for.

    `share` is None where the rule has one target.
    """

    target: Target
    share: float | None
    asked: str

    @property
    def text(self) -> str:
        """The way in words."""
        share = "" if self.share is None else f"{self.share:.4g}%"
        return told(share, self.asked)


def route_of(item: Item, inventory: Inventory) -> Route | None:
    """What a route says; None if an object is none."""
    read = READERS.get((item.ref.group, item.ref.kind))
    return None if read is None else read(item, inventory)


def gateway_route(item: Item, inventory: Inventory) -> Route:
    """An HTTPRoute or GRPCRoute of the Gateway API."""
    del inventory
    namespace, spec = item.ref.namespace, map_at(item.value, "spec")
    parents = tuple(
        named(parent, Name(GATEWAY_GROUP, GATEWAY, namespace, "")) for parent in maps_at(spec, "parentRefs")
    )
    rules = tuple(
        Rule((), tuple(match_paths(rule)), tuple(backends(rule, namespace))) for rule in maps_at(spec, "rules")
    )
    return Route(texts(spec.get("hostnames")), parents, rules)


def named(reference: Mapping[str, Json], default: Name) -> Name:
    """The object that a reference names, with what it leaves out."""
    given = (str(reference.get(field, standing)) for field, standing in zip(Name._fields, default, strict=True))
    return Name(*given)


def match_paths(rule: Json) -> Iterator[str]:
    """The paths of a rule of the Gateway API, each with the headers or method that it asks for besides."""
    for match in maps_at(rule, "matches"):
        path = str(map_at(match, "path").get("value", ""))
        method = map_at(match, "method")
        call = "/".join(str(method[part]) for part in ("service", "method") if part in method)
        headers = [f"{header.get('name')}: {header.get('value')}" for header in maps_at(match, "headers")]
        yield " ".join(filter(None, (call, path, f"[{', '.join(headers)}]" if headers else "")))


def backends(rule: Json, namespace: str) -> Iterator[Target]:
    """Where a rule of the Gateway API leads."""
    for backend in maps_at(rule, "backendRefs"):
        weight = number_at(backend, ("weight",))
        yield Target(named(backend, Name(CORE, SERVICE, namespace, "")), weight=1 if weight is None else weight)


def ingress_route(item: Item, inventory: Inventory) -> Route:
    """An Ingress; its class stands for the gateway."""
    del inventory
    namespace, spec = item.ref.namespace, map_at(item.value, "spec")
    rules = []
    for rule in maps_at(spec, "rules"):
        hosts: tuple[str, ...] = (str(rule["host"]),) if rule.get("host") else ()
        for path in maps_at(rule, "http", "paths"):
            service = str(map_at(path, "backend", "service").get("name", ""))
            rules.append(Rule(hosts, (str(path.get("path", "")),), (Target(Name(CORE, SERVICE, namespace, service)),)))
    name = str(spec.get("ingressClassName") or "default")
    every = tuple(dict.fromkeys(host for rule in rules for host in rule.hosts))
    return Route(every, (Name(INGRESS_GROUP, INGRESS_CLASS, "", name),), tuple(rules))


def istio_route(item: Item, inventory: Inventory) -> Route:
    """A VirtualService. Where it sets the header Host, the gateway that it sends requests back to goes by that."""
    namespace, spec = item.ref.namespace, map_at(item.value, "spec")
    gateways = texts(spec.get("gateways")) or (MESH,)
    names = tuple(istio_gateway(text, namespace) for text in gateways if text != MESH)
    rules = tuple(
        Rule((), tuple(istio_paths(rule)), tuple(istio_targets(rule, namespace, inventory)))
        for rule in maps_at(spec, "http")
    )
    return Route(texts(spec.get("hosts")), names, rules, in_mesh=MESH in gateways)


def istio_gateway(text: str, namespace: str) -> Name:
    """The gateway that a VirtualService names as `namespace/name` or `name`."""
    place, mark, name = text.partition("/")
    return Name(ISTIO_GROUP, GATEWAY, place if mark else namespace, name if mark else place)


def istio_paths(rule: Json) -> Iterator[str]:
    """The paths of a rule of a VirtualService."""
    for match in maps_at(rule, "match"):
        yield next((str(value) for value in map_at(match, "uri").values()), "")


def istio_targets(rule: Json, namespace: str, inventory: Inventory) -> Iterator[Target]:
    """Where a rule of a VirtualService leads. A lone target has all of the traffic."""
    host = map_at(rule, "headers", "request", "set").get(HOST)
    for target in maps_at(rule, "route"):
        to = str(host or map_at(target, "destination").get("host", ""))
        found = inventory.at_host(to, namespace)
        weight = number_at(target, ("weight",))
        yield Target(None if found is None else found.name, to, 1 if weight is None else weight)


def texts(value: Json) -> tuple[str, ...]:
    """The texts in a list, each once; none if it is no list."""
    return tuple(dict.fromkeys(map(str, value))) if isinstance(value, list) else ()


READERS: Mapping[tuple[str, str], Callable[[Item, Inventory], Route]] = {
    (GATEWAY_GROUP, "HTTPRoute"): gateway_route,
    (GATEWAY_GROUP, "GRPCRoute"): gateway_route,
    (INGRESS_GROUP, "Ingress"): ingress_route,
    (ISTIO_GROUP, "VirtualService"): istio_route,
}


def ways(route: Route) -> Iterator[Way]:
    """The ways that lead from a route: rules with the same targets are one, and say what tells them from the others."""
    grouped: dict[tuple[Target, ...], list[Rule]] = {}
    for rule in route.rules:
        grouped.setdefault(rule.targets, []).append(rule)
    hosts = {targets: {host for rule in rules for host in rule.hosts} for targets, rules in grouped.items()}
    same_hosts = len({frozenset(found) for found in hosts.values()}) < 2
    for targets, rules in grouped.items():
        asked = asked_by(rules, with_hosts=not same_hosts)
        whole = sum(target.weight for target in targets)
        for target in targets:
            share = 100 * target.weight / whole if whole and len(targets) > 1 else None
            yield Way(target, share if whole or len(targets) == 1 else 0.0, asked)


def asked_by(rules: Sequence[Rule], *, with_hosts: bool) -> str:
    """What requests of rules ask for, in short."""
    paths = [path for rule in rules for path in rule.paths or ("",)]
    if with_hosts:
        found = [f"{host}{'' if path in EVERY_PATH else path}" for rule in rules for host in rule.hosts or ("",)
                 for path in rule.paths or ("",)]  # fmt: skip
        return listed(tuple(dict.fromkeys(found)))
    return "" if any(path in EVERY_PATH for path in paths) else listed(tuple(dict.fromkeys(paths)))
