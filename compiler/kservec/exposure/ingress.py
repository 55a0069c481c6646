"""Exposure by a Kubernetes Ingress: one object, a rule for each host.

Cannot split traffic, route by path or limit the time of a request.
KServe: reconcilers/ingress/kube_ingress_reconciler.go, createRawIngress
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import ObjectRef
from kservec.core.names import SERVICE_PORT
from kservec.core.registry import Exposed, Style
from kservec.core.routing.domains import is_cluster_local, service_host, service_url
from kservec.core.routing.objects import ingress_metadata, service_object
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.env import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

NAME = "ingress"
MADE = Origin(Layer.KSERVE_DEFAULT, NAME)


def selects(unit: Unit, env: Env) -> bool:
    """Whether the platform routes by Ingress and the service is to be reached from outside."""
    platform = env.platform
    by_ingress = unit.mode is Mode.STANDARD and not platform.ingress.enable_gateway_api
    return by_ingress and not is_cluster_local(unit, platform)


def render(unit: Unit, env: Env) -> Exposed:
    """The Ingress of a service."""
    platform = env.platform
    rules = [rule(service_host(unit, platform, name), backend) for name, backend in backends(unit)]
    spec: dict[str, Json] = {"rules": rules}
    if platform.ingress.ingress_class_name:
        spec["ingressClassName"] = platform.ingress.ingress_class_name
    ref = ObjectRef("networking.k8s.io/v1", "Ingress", unit.namespace, unit.name)
    return Exposed((service_object(ref, ingress_metadata(unit), Tree.of(spec, MADE)),))


def backends(unit: Unit) -> Iterator[tuple[str, str]]:
    """Names that hosts are made of, each with the Service it leads to, in KServe's order.

    With a transformer its host leads to the predictor, and to the explainer if there is one: KServe makes the
    explainer's host of the transformer's name.
    """
    predictor, transformer, explainer = (unit.component(role) for role in Role)
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


STYLE = Style(name=NAME, selects=selects, render=render, url=url)
