"""Services: the ports of a component's Service, and the address of a service inside the cluster.

Decides which container ports are exposed, under which numbers and protocols. Must not know routes or workloads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.containers import serving_container
from kservec.core.diagnostics import ObjectRef
from kservec.core.names import (
    AGENT_PORT,
    APP_LABEL,
    DEFAULT_PORT,
    GENERATION_LABEL,
    ROLE_LABEL,
    SERVICE_PORT,
    app_label,
    head_service_name,
    worker_name,
    workers_service_name,
)
from kservec.core.objects import component_object
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Port, Role

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

H2C = "kubernetes.io/h2c"
GRPC_WORDS = ("grpc", "h2c")
HEADLESS = "None"
INSIDE_SCHEME = "http"
MADE = Origin(Layer.KSERVE_DEFAULT, "expose")


def service_ports(component: Component) -> tuple[Port, ...]:
    """The ports of a component's Service, from those of its serving container.

    The first is port 80 of the Service, the others keep their numbers; with a logger or batcher the first leads to
    the agent. KServe: reconcilers/service/service_reconciler.go, createDefaultSvc
    """
    declared = serving_container(component.pod.value).get("ports") or ()
    undeclared = Port(name=component.name, port=DEFAULT_PORT, target_port=DEFAULT_PORT)
    first, *others = [port_of(p) for p in declared] or [undeclared]
    target = AGENT_PORT if component.agent else first.target_port
    entry = Port(
        name=first.name,
        port=SERVICE_PORT,
        target_port=target,
        protocol=first.protocol,
        app_protocol=first.app_protocol,
    )
    return (entry, *others)


def port_of(declared: Json) -> Port:
    """A container port as a port of a Service. A name with grpc or h2c in it, in lower case, makes it HTTP/2."""
    name, number = declared.get("name") or "", declared["containerPort"]
    return Port(
        name=name,
        port=number,
        target_port=number,
        protocol=declared.get("protocol") or "TCP",
        app_protocol=H2C if any(word in name for word in GRPC_WORDS) else "",
    )


def is_grpc(port: Port) -> bool:
    """Whether routes take a port for a gRPC one. KServe: httproute_reconciler.go, detectServiceProtocolPorts."""
    return port.app_protocol == H2C or any(word in port.name.lower() for word in GRPC_WORDS)


def port_body(port: Port) -> Json:
    """A port as a Service lists it; the protocol is written out, for it is part of the key of the list."""
    body: dict[str, Json] = {"port": port.port, "targetPort": port.target_port, "protocol": port.protocol}
    if port.name:
        body["name"] = port.name
    if port.app_protocol:
        body["appProtocol"] = port.app_protocol
    return body


def render_service(unit: Unit, component: Component) -> Manifest:
    """The Service of a component. KServe: reconcilers/service/service_reconciler.go, createDefaultSvc."""
    spec: dict[str, Json] = {
        "selector": {APP_LABEL: app_label(component.name)},
        "ports": [port_body(p) for p in component.ports],
    }
    if component.headless:
        spec["clusterIP"] = HEADLESS
    ref = ObjectRef("v1", "Service", unit.namespace, component.name)
    return component_object(ref, component, Tree.of(spec, MADE))


def render_node_services(unit: Unit, component: Component) -> tuple[Manifest, ...]:
    """The Services by which the nodes of a component find each other, ready or not; none for a component on one node.

    They have no ports and no address: each is a name for all pods of one kind and generation.
    KServe: reconcilers/service/service_reconciler.go, createHeadlessSvc and createWorkerHeadlessSvc
    """
    if component.workers is None:
        return ()
    name, generation = component.name, unit.generation
    kinds = (
        ("head", head_service_name(name, generation), app_label(name)),
        ("worker", workers_service_name(name, generation), app_label(worker_name(name))),
    )
    return tuple(node_service(unit, component, kind) for kind in kinds)


def node_service(unit: Unit, component: Component, kind: tuple[str, str, str]) -> Manifest:
    """A Service of one kind of nodes: their role, its name, and the `app` label of their pods."""
    role, name, app = kind
    spec = {
        "selector": {APP_LABEL: app, GENERATION_LABEL: unit.generation},
        "clusterIP": HEADLESS,
        "publishNotReadyAddresses": True,
    }
    labelled = evolve(component, labels=component.labels.put((ROLE_LABEL,), role, MADE))
    return component_object(ObjectRef("v1", "Service", unit.namespace, name), labelled, Tree.of(spec, MADE))


def entry_component(unit: Unit) -> Component:
    """The component that requests come to first: the transformer if there is one, else the predictor."""
    return unit.component(Role.TRANSFORMER) or unit.components[0]


def entry_address(unit: Unit, cluster_domain: str) -> str:
    """The URL of a service inside the cluster.

    A Service without an address maps no ports, so the port of the container is named.
    KServe: kube_ingress_reconciler.go, createAddress
    """
    entry = entry_component(unit)
    address = f"{INSIDE_SCHEME}://{entry.name}.{unit.namespace}.svc.{cluster_domain}"
    if not entry.headless:
        return address
    port = next((p.target_port for p in entry.ports if not is_grpc(p)), DEFAULT_PORT)
    return f"{address}:{port}"
