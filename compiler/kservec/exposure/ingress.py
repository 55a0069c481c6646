"""Exposure by a Kubernetes Ingress: one object, a rule for each host.

Cannot split traffic, route by path or limit the time of a request.
KServe: reconcilers/ingress/kube_ingress_reconciler.go, createRawIngress
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, ObjectRef, Severity
from kservec.core.names import SERVICE_PORT
from kservec.core.registry import Exposed, Style
from kservec.core.routing.domains import service_host, service_url, stays_inside
from kservec.core.routing.objects import ingress_metadata, service_object
from kservec.core.routing.services import entry_address
from kservec.core.serving.stopping import is_cut_off
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode, Role, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

NAME = "ingress"
MADE = Origin(Layer.KSERVE_DEFAULT, NAME)
ROLES = (Role.PREDICTOR, Role.TRANSFORMER, Role.EXPLAINER)

HOST_OF_ANOTHER = Code(
    "exposure/explainer-host",
    Severity.WARNING,
    "an explainer that is reached at the transformer's host",
    "In an Ingress KServe makes the host of the explainer from the name of the transformer, if the service has one, so "
    "that there is no host with the explainer's name. Routes of the Gateway API have one for each component.",
)


def selects(unit: Unit, env: Env) -> bool:
    """Whether the platform routes by Ingress and the service is to be reached from outside."""
    platform = env.platform
    by_ingress = unit.mode is Mode.STANDARD and not platform.ingress.enable_gateway_api
    return by_ingress and not stays_inside(unit, platform)


def render(unit: Unit, env: Env) -> Exposed:
    """The Ingress of a service; none where a component is stopped that KServe waits for."""
    platform = env.platform
    if is_cut_off(unit, STYLE):
        return Exposed()
    rules = [rule(service_host(unit, platform, name), backend) for name, backend in backends(unit)]
    spec: dict[str, Json] = {"rules": rules}
    if platform.ingress.ingress_class_name:
        spec["ingressClassName"] = platform.ingress.ingress_class_name
    ref = ObjectRef("networking.k8s.io/v1", "Ingress", unit.namespace, unit.name)
    made = service_object(ref, ingress_metadata(unit), Tree.of(spec, MADE))
    return Exposed((made,), tuple(astray(unit, env)))


def needed(unit: Unit) -> tuple[Component, ...]:
    """The components that KServe waits for: of transformer and explainer the first that there is, and the predictor.

    So an Ingress may lead to an explainer that is stopped. KServe: kube_ingress_reconciler.go, createRawIngress
    """
    predictor, transformer, explainer = (unit.component(role) for role in ROLES)
    return tuple(component for component in (predictor, transformer or explainer) if component is not None)


def astray(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """The warning that an explainer has no host of its own name."""
    transformer, explainer = unit.component(Role.TRANSFORMER), unit.component(Role.EXPLAINER)
    if transformer is not None and explainer is not None:
        host = service_host(unit, env.platform, transformer.name)
        message = f"{explainer.name} is reached at the host of the transformer, {host}"
        hint = "route by the Gateway API (enableGatewayApi) for a host of its own"
        yield finding(unit, HOST_OF_ANOTHER, message, explainer.path, hint)


def backends(unit: Unit) -> Iterator[tuple[str, str]]:
    """Names that hosts are made of, each with the Service it leads to, in KServe's order.

    With a transformer its host leads to the predictor, and to the explainer if there is one: KServe makes the
    explainer's host of the transformer's name.
    """
    predictor, transformer, explainer = (unit.component(role) for role in ROLES)
    assert predictor is not None
    if transformer is not None:
        if explainer is not None:
            yield transformer.name, explainer.name
        yield unit.name, transformer.name
        yield transformer.name, predictor.name
    else:
        yield unit.name, predictor.name
        if explainer is not None:
            yield explainer.name, explainer.name
    yield predictor.name, predictor.name


def rule(host: str, service: str) -> Json:
    """A rule that sends everything for a host to a Service."""
    backend = {"service": {"name": service, "port": {"number": SERVICE_PORT}}}
    return {"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}


def url(unit: Unit, env: Env) -> str:
    """The URL that KServe writes into the status."""
    return service_url(unit, env.platform)


STYLE = Style(name=NAME, selects=selects, render=render, url=url, address=entry_address, needed=needed)
