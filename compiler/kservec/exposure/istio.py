"""Exposure of Knative services by Istio: a VirtualService, and a Service whose name leads to the local gateway.

Every component has a Knative service of its own, which Knative routes to; what stands here gives the InferenceService
as a whole one name.
KServe: pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/ingress_reconciler.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import ObjectRef
from kservec.core.knative.annotations import INITIAL_SCALE, refused_initial_scale
from kservec.core.knative.domains import component_host, domain_endings, public_host, undeclared_domain
from kservec.core.names import CLUSTER_LOCAL, KNATIVE_VISIBILITY_LABEL, SERVICE_PORT
from kservec.core.patterns import Pattern
from kservec.core.records import record
from kservec.core.registry import Exposed, Style, StyleTrait
from kservec.core.routing.domains import DEFAULT_SCHEME, additional_hosts, request_path, service_path
from kservec.core.routing.objects import Metadata, service_object, unit_metadata
from kservec.core.routing.services import INSIDE_SCHEME, entry_address, entry_component
from kservec.core.serving.metadata import passed_on
from kservec.core.serving.stopping import stopped_alone
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit
    from kservec.spec.configuration import Ingress

NAME = "istio"
MADE = Origin(Layer.KSERVE_DEFAULT, NAME)
API_VERSION, KIND = "networking.istio.io/v1beta1", "VirtualService"
MESH = "mesh"
"""What Istio calls the proxies of the mesh among the gateways of a route."""

WHOLE = 100
ANY_PORT = r"(?::\d{1,5})?"
EXPLAIN = r"^/v1/models/[\w-]+:explain$"
EXPLAIN_BELOW_PATH = r"(/v1/models/[\w-]+:explain)$"
FIRST_GROUP = r"\1"

find_special = Pattern(r"[\\.+*?()|\[\]{}^$]")


@record
class Hosts:
    """The names of a service: inside the cluster, from outside (empty if it stays inside), and further ones."""

    inside: str
    outside: str = ""
    further: tuple[str, ...] = ()


@record
class Routes:
    """What the routes of a service share."""

    unit: Unit
    platform: PlatformConfig
    hosts: Hosts

    @property
    def ingress(self) -> Ingress:
        """The `ingress` section of KServe's configuration."""
        return self.platform.ingress

    @property
    def inner(self) -> list[str]:
        """The gateways that requests from inside the cluster pass."""
        return [self.ingress.local_gateway, MESH]

    def route(self, component: str, matches: list[Json], rewrite: Json | None = None) -> Json:
        """A route by Knative's local gateway, which finds the component by its host name."""
        unit, ingress = self.unit, self.ingress
        headers = {
            "Host": inside_host(component, unit, self.platform),
            "KServe-Isvc-Name": unit.name,
            "KServe-Isvc-Namespace": unit.namespace,
        }
        gateway = ingress.knative_local_gateway_service or ingress.local_gateway_service
        destination = {"host": gateway, "port": {"number": SERVICE_PORT}}
        route: dict[str, Json] = {
            "match": matches,
            "route": [{"destination": destination, "weight": WHOLE}],
            "headers": {"request": {"set": headers}},
        }
        return route if rewrite is None else {**route, "rewrite": rewrite}

    def by_host(self, uri: Json | None = None) -> list[Json]:
        """Matches for each name of the service."""
        hosts, outer = self.hosts, [self.ingress.ingress_gateway]
        matches = [match(hosts.inside, self.inner, uri)]
        return matches + [match(host, outer, uri) for host in (hosts.outside, *hosts.further) if host]

    def by_path(self, uri: Json) -> Json:
        """A match under the ingress domain."""
        return match(self.ingress.ingress_domain, [self.ingress.ingress_gateway], uri)


def match(host: str, gateways: list[str], uri: Json | None = None) -> Json:
    """A match of a host with any port, and of a URI if one is given, for requests that pass one of the gateways."""
    plain = find_special.sub(r"\\\g<0>", host)
    named = {"authority": {"regex": f"^{plain}{ANY_PORT}$"}, "gateways": gateways}
    return named if uri is None else {"uri": uri, **named}


def inside_host(name: str, unit: Unit, platform: PlatformConfig) -> str:
    """The host name of a Service inside the cluster."""
    return f"{name}.{unit.namespace}.svc.{platform.cluster_domain}"


def selects(unit: Unit, env: Env) -> bool:
    """Every service in Knative mode that has a name of its own beside those of its components."""
    del env
    return unit.mode is Mode.KNATIVE and unit.routed


def render(unit: Unit, env: Env) -> Exposed:
    """The objects that give a service one name; none where the platform leaves that to Knative.

    Where a component is stopped there is the Service alone: KServe makes no routes before all are ready.

    Raises:
        Reject: a template of KServe's or Knative's configuration gives no host name or path.
    """
    platform = env.platform
    found = undeclared_domain(platform)
    if platform.ingress.disable_istio_virtual_host:
        component_host(unit, entry_component(unit), platform)
        return Exposed((), found)
    if stopped_alone(unit) or not platform.has(API_VERSION, KIND):
        public_host(unit, platform)
        return Exposed((gateway_service(unit, platform),), found)
    hosts, unused = hosts_of(unit, platform)
    routes = Routes(unit=unit, platform=platform, hosts=hosts)
    return Exposed((gateway_service(unit, platform), virtual_service(routes)), (*found, *unused))


def hosts_of(unit: Unit, platform: PlatformConfig) -> tuple[Hosts, tuple[Diagnostic, ...]]:
    """The names of a service, and what is to be said about additional domains.

    KServe: ingress_reconciler.go, createIngress

    Raises:
        Reject: a configuration gives no host name.
    """
    inside, outside = inside_host(unit.name, unit, platform), public_host(unit, platform)
    if unit.labels.get(KNATIVE_VISIBILITY_LABEL) == CLUSTER_LOCAL or outside == inside:
        return Hosts(inside=inside), ()
    further, found = additional_hosts(platform, outside, domain_endings(platform))
    return Hosts(inside=inside, outside=outside, further=further), found


def gateway_service(unit: Unit, platform: PlatformConfig) -> Manifest:
    """The Service of the service's own name: another name of the local gateway. KServe: reconcileExternalService."""
    spec = {"type": "ExternalName", "externalName": platform.ingress.local_gateway_service, "sessionAffinity": "None"}
    ref = ObjectRef("v1", "Service", unit.namespace, unit.name)
    return service_object(ref, Metadata(Tree.of({}, MADE), Tree.of({}, MADE)), Tree.of(spec, MADE))


def virtual_service(routes: Routes) -> Manifest:
    """The VirtualService of a service. KServe: createIngress.

    Raises:
        Reject: the path template gives no path.
    """
    unit, platform, hosts = routes.unit, routes.platform, routes.hosts
    by_path = list(path_routes(routes)) if platform.ingress.path_template else []
    names = [hosts.inside, hosts.outside, platform.ingress.ingress_domain if by_path else "", *hosts.further]
    spec = {
        "hosts": [name for name in dict.fromkeys(names) if name],
        "gateways": [*routes.inner, *([platform.ingress.ingress_gateway] if hosts.outside else [])],
        "http": [*host_routes(routes), *by_path],
    }
    annotations = passed_on(unit.annotations, platform)
    if refused_initial_scale(annotations.get(INITIAL_SCALE), platform):
        del annotations[INITIAL_SCALE]
    metadata = unit_metadata(unit, unit.labels, annotations)
    return service_object(ObjectRef(API_VERSION, KIND, unit.namespace, unit.name), metadata, Tree.of(spec, MADE))


def host_routes(routes: Routes) -> Iterator[Json]:
    """Routes by host name: explanations to the explainer, all else to the transformer or predictor."""
    explainer = routes.unit.component(Role.EXPLAINER)
    if explainer is not None:
        yield routes.route(explainer.name, routes.by_host({"regex": EXPLAIN}))
    yield routes.route(entry_component(routes.unit).name, routes.by_host())


def path_routes(routes: Routes) -> Iterator[Json]:
    """Routes by path under the ingress domain; the server sees the path without the service's part.

    Raises:
        Reject: the path template gives no path.
    """
    path = service_path(routes.unit, routes.platform)
    explainer = routes.unit.component(Role.EXPLAINER)
    if explainer is not None:
        expression = f"{path}{EXPLAIN_BELOW_PATH}"
        rewrite = {"uriRegexRewrite": {"match": expression, "rewrite": FIRST_GROUP}}
        yield routes.route(explainer.name, [routes.by_path({"regex": expression})], rewrite)
    matches = [routes.by_path({"prefix": f"{path}/"}), routes.by_path({"exact": path})]
    yield routes.route(entry_component(routes.unit).name, matches, {"uri": "/"})


def address(unit: Unit, env: Env) -> str:
    """The URL inside the cluster: that of the service's own name, if it has one. KServe: getHostBasedServiceUrl."""
    if env.platform.ingress.disable_istio_virtual_host:
        return entry_address(unit, env)
    return f"{INSIDE_SCHEME}://{inside_host(unit.name, unit, env.platform)}"


def url(unit: Unit, env: Env) -> str:
    """The URL that KServe writes into the status. KServe: getServiceUrl."""
    platform, ingress = env.platform, env.platform.ingress
    scheme = ingress.url_scheme or DEFAULT_SCHEME
    if ingress.path_template:
        return f"{scheme}://{ingress.ingress_domain}{request_path(unit, platform)}"
    if ingress.disable_istio_virtual_host:
        return f"{scheme}://{component_host(unit, entry_component(unit), platform)}"
    return f"{scheme}://{public_host(unit, platform)}"


STYLE = Style(
    name=NAME,
    selects=selects,
    render=render,
    url=url,
    address=address,
    traits=frozenset({StyleTrait.WEIGHTS, StyleTrait.PATHS, StyleTrait.GRPC, StyleTrait.TIMEOUTS}),
)
"""Weights and timeouts are honoured below the route: a Knative service has both."""
