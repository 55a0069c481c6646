"""Traffic leads somewhere: routes hang on gateways that are there, and lead to ports and pools that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .declared import Reference, services_made_by
from .output import KNATIVE, Output, group, maps, name, namespace, title
from .references import declared_in, missing

if TYPE_CHECKING:
    from collections.abc import Iterator

POOL = "InferencePool"


def routes_hang_on_gateways(output: Output) -> Iterator[str]:
    """The parents of routes, and the gateways of VirtualServices, are declared."""
    for route in output.of("HTTPRoute", "GRPCRoute"):
        for parent in route["spec"].get("parentRefs") or ():
            place = parent.get("namespace") or namespace(route)
            yield from missing(output, route, [Reference(parent.get("kind", "Gateway"), place, parent["name"])])
    for service in output.of("VirtualService"):
        for gateway in service["spec"].get("gateways") or ():
            place, _, called = gateway.rpartition("/")
            yield from missing(output, service, [Reference("Gateway", place or namespace(service), called)])


def routes_lead_to_backends(output: Output) -> Iterator[str]:
    """The backends of a route are ports of Services, or pools, that are there."""
    ports, services = ports_of_services(output), declared_in(output).generated
    for route in output.of("HTTPRoute", "GRPCRoute"):
        for backend in backends_of(route["spec"]):
            place, kind = backend.get("namespace") or namespace(route), backend.get("kind", "Service")
            if (place, backend["name"]) not in services or kind != "Service":
                yield from missing(output, route, [Reference(kind, place, backend["name"])])
            elif (place, backend["name"], backend.get("port")) not in ports:
                yield f"{title(route)}: no port {backend.get('port')} of Service {backend['name']}"


def backends_of(value: object) -> list[dict[str, str]]:
    """Everything that a route sends requests to, copies of requests included."""
    return [
        backend
        for part in maps(value)
        for backend in [*(part.get("backendRefs") or ()), part.get("backendRef")]
        if backend
    ]


def ingresses_lead_to_services(output: Output) -> Iterator[str]:
    """The backends of an Ingress are ports of Services of its namespace, and its class is declared."""
    ports, declared = ports_of_services(output), declared_in(output)
    for ingress in output.of("Ingress"):
        for service in (part["service"] for part in maps(ingress["spec"]) if "service" in part):
            is_said = output.says("exposure/component-stopped", f"what leads to {service['name']} leads nowhere")
            if (namespace(ingress), service["name"], service["port"].get("number")) not in ports and not is_said:
                yield f"{title(ingress)}: no port {service['port']} of a Service {service['name']}"
        asked = ingress["spec"].get("ingressClassName")
        if asked and asked != "istio" and asked not in declared.settings:
            yield f"{title(ingress)}: no class {asked}"


def virtual_services_lead_to_hosts(output: Output) -> Iterator[str]:
    """The destinations of a VirtualService are Services of the output, or gateways that the platform names."""
    services, declared = declared_in(output).generated, declared_in(output)
    for service in output.of("VirtualService"):
        for host in (part["destination"]["host"] for part in maps(service["spec"]) if "destination" in part):
            called, _, rest = host.partition(".")
            if (rest.partition(".")[0], called) in services or host in declared.settings or "local-gateway" in called:
                continue
            yield f"{title(service)}: no Service of the host {host}"


def pools_have_a_picker(output: Output) -> Iterator[str]:
    """The endpoint picker of a pool is a port of a Service that is there."""
    ports = ports_of_services(output)
    for pool in output.of(POOL):
        picker = pool["spec"].get("endpointPickerRef") or pool["spec"].get("extensionRef")
        number = (picker.get("port") or {}).get("number") or picker.get("portNumber")
        kind, place, services = picker.get("kind", "Service"), namespace(pool), declared_in(output).generated
        if (place, picker["name"]) not in services or kind != "Service":
            yield from missing(output, pool, [Reference(kind, place, picker["name"])])
        elif (place, picker["name"], number) not in ports and not output.says("llm/picker-port", name(pool)):
            yield f"{title(pool)}: no port {number} of Service {picker['name']}"


def weights_send_all_traffic(output: Output) -> Iterator[str]:
    """The weights of Knative's traffic make 100, and revisions that it names are made or were made before."""
    for service in (s for s in output.of("Service") if group(s) == KNATIVE):
        shares = [target.get("percent", 0) for target in service["spec"].get("traffic") or ()]
        if shares and sum(shares) != 100:
            yield f"{title(service)}: {sum(shares)} % of the traffic"
    for route in output.of("HTTPRoute"):
        for rule in route["spec"]["rules"]:
            backends = rule.get("backendRefs") or ()
            is_said = output.says("llm/group-without-traffic") or output.says("llm/group-divergent")
            if backends and not any(backend.get("weight", 1) for backend in backends) and not is_said:
                yield f"{title(route)}: a rule whose backends all have no weight"


def urls_name_hosts_of_the_output(output: Output) -> Iterator[str]:
    """The URL of a service has the host of a route, an Ingress, a VirtualService or a Service of the output."""
    hosts = {host for r in output.of("HTTPRoute", "GRPCRoute") for host in r["spec"].get("hostnames") or ()}
    hosts |= {host for v in output.of("VirtualService") for host in v["spec"]["hosts"]}
    hosts |= {rule["host"] for i in output.of("Ingress") for rule in i["spec"]["rules"] if "host" in rule}
    services = {f"{called}.{place}" for place, called in declared_in(output).generated}
    for url in output.urls:
        host = url.split("/")[2].partition(":")[0]
        if host not in hosts and ".".join(host.split(".")[:2]) not in services:
            yield f"nobody has the host {host}"


def ports_of_services(output: Output) -> set[tuple[str, str, int]]:
    """The ports of Services, Knative's included, which listen on 80."""
    stated = {
        (namespace(s), name(s), port["port"])
        for s in output.of("Service")
        if group(s) != KNATIVE
        for port in s["spec"].get("ports") or ()
    }
    return stated | {
        (place, called, 80)
        for body in output.objects
        for place, called in services_made_by(body)
        if group(body) == KNATIVE
    }


INVARIANTS = (
    routes_hang_on_gateways,
    routes_lead_to_backends,
    ingresses_lead_to_services,
    virtual_services_lead_to_hosts,
    pools_have_a_picker,
    weights_send_all_traffic,
    urls_name_hosts_of_the_output,
)
