"""Services: the ports of a component's Service, and the address of a service inside the cluster.

Decides which container ports are exposed, under which numbers and protocols. Must not know routes or workloads.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

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
from kservec.core.pods.containers import first_port, serving_container
from kservec.core.records import evolve
from kservec.core.routing.objects import component_object
from kservec.core.serving.arguments import PREDICTOR_HOST, options
from kservec.core.tree import Graft, Layer, Origin, Tree
from kservec.core.unit import Port, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Source
    from kservec.core.unit import Component, Unit

H2C = "kubernetes.io/h2c"
HEADLESS = "None"
INSIDE_SCHEME = "http"
MADE = Origin(Layer.KSERVE_DEFAULT, "expose")


def service_ports(component: Component) -> tuple[Port, ...]:
    """The ports of a component's Service, from those of its serving container.

    The first is port 80 of the Service, the others keep their numbers; with a logger or batcher the first leads to
    the agent. KServe: reconcilers/service/service_reconciler.go, createDefaultSvc
    """
    container = serving_container(component.pod.value)
    declared = container.get("ports") or ()
    target = AGENT_PORT if component.agent else first_port(container)
    if not declared:
        return (Port(name=component.name, port=SERVICE_PORT, target_port=target),)
    first = port_of(declared[0], SERVICE_PORT, target)
    return (first, *(port_of(other, other["containerPort"], other["containerPort"]) for other in declared[1:]))


def port_of(declared: Json, number: int, target: int) -> Port:
    """A container port as a port of a Service. A name with grpc or h2c in it, in lower case, makes it HTTP/2."""
    name = declared.get("name") or ""
    return Port(
        name=name,
        port=number,
        target_port=target,
        protocol=declared.get("protocol") or "TCP",
        app_protocol=H2C if speaks_grpc(name) else "",
    )


def speaks_grpc(name: str) -> bool:
    """Whether the name of a port says that it is for gRPC."""
    return "grpc" in name or "h2c" in name


def is_grpc(port: Port) -> bool:
    """Whether routes take a port for a gRPC one. KServe: httproute_reconciler.go, detectServiceProtocolPorts."""
    return port.app_protocol == H2C or speaks_grpc(port.name.lower())


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
    return component_object(ref, component, Tree.built(spec, ((), MADE), *ports_written(component)))


def ports_written(component: Component) -> Iterator[tuple[Path, Source]]:
    """Where the ports of a component's Service were written: at those of the container that they are made of.

    The number of the first one is KServe's own, and so is where it leads to, if that is the agent.
    """
    pod = component.pod
    container = serving_container(pod.value)
    for i, (port, declared) in enumerate(zip(component.ports, container.get("ports") or (), strict=False)):
        here, there = ("ports", port.port), ("containers", container["name"], "ports", declared["containerPort"])
        number = Graft(pod, (*there, "containerPort"))
        yield here, Graft(pod, there)
        yield (*here, "port"), number if i else MADE
        yield (*here, "targetPort"), number if i or not component.agent else MADE
        yield (*here, "appProtocol"), Graft(pod, (*there, "name"))


def render_node_services(unit: Unit, component: Component) -> tuple[Manifest, ...]:
    """The Services by which the nodes of a component find each other, ready or not; none for a component on one node.

    They have no ports and no address: each is a name for all pods of one kind and generation.
    KServe: reconcilers/service/service_reconciler.go, createHeadlessSvc and createWorkerHeadlessSvc
    """
    if component.workers is None:
        return ()
    name, generation = component.name, component.labels.value[GENERATION_LABEL]
    kinds = (
        ("head", head_service_name(name, generation), app_label(name)),
        ("worker", workers_service_name(name, generation), app_label(worker_name(name))),
    )
    return tuple(node_service(unit, component, kind) for kind in kinds)


def node_service(unit: Unit, component: Component, kind: tuple[str, str, str]) -> Manifest:
    """A Service of one kind of nodes: their role, its name, and the `app` label of their pods."""
    role, name, app = kind
    spec = {
        "selector": {APP_LABEL: app, GENERATION_LABEL: component.labels.value[GENERATION_LABEL]},
        "clusterIP": HEADLESS,
        "publishNotReadyAddresses": True,
    }
    labelled = evolve(component, labels=component.labels.put((ROLE_LABEL,), role, MADE))
    return component_object(ObjectRef("v1", "Service", unit.namespace, name), labelled, Tree.of(spec, MADE))


def entry_component(unit: Unit) -> Component:
    """The component that requests come to first: the transformer if there is one, else the predictor."""
    return unit.component(Role.TRANSFORMER) or unit.components[0]


def entry_address(unit: Unit, env: Env) -> str:
    """The URL inside the cluster of the component that requests come to first.

    A Service without an address maps no ports, so the port of the container is named.
    KServe: kube_ingress_reconciler.go, createAddress
    """
    entry = entry_component(unit)
    address = f"{INSIDE_SCHEME}://{entry.name}.{unit.namespace}.svc.{env.platform.cluster_domain}"
    return f"{address}:{pod_port(entry)}" if entry.headless else address


def pod_port(component: Component, *, grpc: bool = False) -> int:
    """The port of a component's pods for HTTP, or for gRPC."""
    return next((int(p.target_port) for p in component.ports if is_grpc(p) is grpc), DEFAULT_PORT)


def with_predictor_port(unit: Unit) -> Unit:
    """The unit whose transformer and explainer are told the port of a predictor whose Service maps no ports.

    KServe tells them the name alone, so that they ask at port 80, where nobody listens.
    """
    predictor = unit.components[0]
    if not predictor.headless:
        return unit
    host = f"{predictor.name}.{unit.namespace}"
    others = tuple(c if c.role is Role.PREDICTOR else told_port(c, host, predictor) for c in unit.components)
    return unit.with_components(others)


def told_port(component: Component, host: str, predictor: Component) -> Component:
    """A component whose argument for the predictor's host, if it is this one, names the port as well."""
    container = component.pod.value["containers"][0]
    args = container.get("args") or ()
    protocol, _ = options(args).get("--predictor_protocol", ("", 0))
    for i, (option, value) in enumerate(pairwise(args), 1):
        if (option, value) == (PREDICTOR_HOST, host):
            address = f"{host}:{pod_port(predictor, grpc='grpc' in protocol)}"
            at = ("containers", container["name"], "args", i)
            return evolve(component, pod=component.pod.put(at, address, MADE))
    return component
