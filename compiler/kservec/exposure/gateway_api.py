"""Exposure by the Gateway API: an HTTPRoute for each component and one for the service as a whole.

KServe: reconcilers/ingress/httproute_reconciler.go
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.diagnostics import Code, Diagnostic, Needed, ObjectRef, Reject, Severity
from kservec.core.effects import without_effect
from kservec.core.intents import CanaryIntent
from kservec.core.names import SERVICE_PORT, predictor_name
from kservec.core.registry import Exposed, Style, StyleTrait
from kservec.core.routing.domains import (
    SECTION,
    additional_hosts,
    service_host,
    service_path,
    service_url,
    stays_inside,
)
from kservec.core.routing.objects import Metadata, route_metadata, service_object
from kservec.core.routing.services import entry_address, entry_component, is_grpc
from kservec.core.serving.stopping import is_stopped, stopped_alone
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode, Role, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

NAME = "gateway_api"
MADE = Origin(Layer.KSERVE_DEFAULT, NAME)
GROUP = "gateway.networking.k8s.io"
API_VERSION, KIND = f"{GROUP}/v1", "HTTPRoute"
DEFAULT_TIMEOUT = 60
MAX_PART = 99_999
"""The greatest number in one part of a Gateway API duration."""

Rules: TypeAlias = "dict[Role, tuple[Component, list[Json]]]"
"""By role a component and the rules for all requests to it."""

BEHIND_TRANSFORMER = Code(
    "exposure/canary-behind-transformer",
    Severity.WARNING,
    "a canary that gets no requests, for a transformer stands before it",
    "Routes split what goes to the predictor. Requests for a service with a transformer go to the transformer, which "
    "calls the stable predictor, so that a canary gets its share only of requests for the predictor's own host. KServe "
    "sends it requests past the transformer, which it cannot read.",
)
EVERYTHING = "^/.*$"
EXPLAIN = r"^/v1/models/[\w-]+:explain$"
EXPLAIN_BELOW_PATH = r"(/v1/models/[\w-]+:explain)$"
GRPC_MATCH = {
    "path": {"type": "RegularExpression", "value": r"^/inference\.GRPCInferenceService/.*$"},
    "headers": [{"type": "RegularExpression", "name": "content-type", "value": "^application/grpc.*"}],
}

KIND_ABSENT = Code(
    "exposure/kind-absent",
    Severity.ERROR,
    "the cluster lacks the kind that routes are made of",
    "KServe's configuration asks for the Gateway API (enableGatewayApi), but HTTPRoute is declared absent.",
)
GATEWAY_UNDECLARED = Code(
    "exposure/gateway-undeclared",
    Severity.WARNING,
    "routes refer to a Gateway that nothing declares",
    "The Gateway named by kserveIngressGateway is in none of the platform's documents. Routes are written all the "
    "same; if there is no such Gateway in the cluster, they lead nowhere.",
)


class Routes(NamedTuple):
    """What the routes of a service share.

    `weights` are the shares of the stable predictor, under an empty name, and of each canary's Service; none where
    traffic is not split.
    """

    unit: Unit
    platform: PlatformConfig
    metadata: Metadata
    weights: tuple[tuple[str, int], ...] = ()

    def route(self, name: str, hosts: list[str], rules: list[Json]) -> Manifest:
        """One HTTPRoute, attached to the Gateway of KServe's configuration."""
        spec = Tree.of({"parentRefs": parents(self.platform), "hostnames": hosts, "rules": rules}, MADE)
        return service_object(ObjectRef(API_VERSION, KIND, self.unit.namespace, name), self.metadata, spec)

    def rule(self, match: Json, component: Component, port: int = SERVICE_PORT) -> Json:
        """A rule that sends what matches to a port of a component's Service, or of a predictor and its canaries.

        KServe splits the rules of transformers and explainers as well, so that canaries get requests that are not for
        a predictor.
        """
        unit = self.unit
        backend = {
            "group": "", "kind": "Service", "name": component.name, "namespace": unit.namespace, "port": port,
            "weight": 1,
        }  # fmt: skip
        weights = self.weights if component.role is Role.PREDICTOR else ()
        shares = [{**backend, "name": name or component.name, "weight": weight} for name, weight in weights]
        rule: dict[str, Json] = {
            "matches": [match],
            "filters": [service_headers(unit)],
            "backendRefs": shares or [backend],
        }
        if not self.platform.ingress.disable_http_route_timeout:
            rule["timeouts"] = {"request": duration(component.extension.timeout)}
        return rule

    def of_components(self) -> Rules:
        """The first component of each role that there is, and the rules for all requests to it."""
        found: Rules = {}
        for component in self.unit.components:
            if component.role not in found:
                found[component.role] = (component, self.component_rules(component))
        return found

    def component_rules(self, component: Component) -> list[Json]:
        """The rules for all requests to a component: gRPC apart from the rest where its Service has ports for both."""
        if len(component.ports) > 1:
            grpc = next((p.port for p in component.ports if is_grpc(p)), 0)
            http = next((p.port for p in component.ports if not is_grpc(p)), 0)
            if grpc and http:
                return [self.rule(GRPC_MATCH, component, grpc), self.rule(matches(EVERYTHING), component, http)]
        return [self.rule(matches(EVERYTHING), component)]


@lru_cache(maxsize=8)
def parents(platform: PlatformConfig) -> list[Json]:
    """The Gateway of KServe's configuration, as each route refers to it."""
    namespace, _, gateway = platform.ingress.kserve_ingress_gateway.partition("/")
    return [{"group": GROUP, "kind": "Gateway", "namespace": namespace, "name": gateway}]


def matches(expression: str) -> Json:
    """A match of a path by a regular expression."""
    return {"path": {"type": "RegularExpression", "value": expression}}


def service_headers(unit: Unit) -> Json:
    """The filter that tells a server which service a request was for."""
    names = {"KServe-Isvc-Name": unit.name, "KServe-Isvc-Namespace": unit.namespace}
    headers = [{"name": k, "value": v} for k, v in names.items()]
    return {"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": headers}}


def duration(seconds: int | None) -> str:
    """A request's time limit as the Gateway API writes it: seconds, or hours and less where those are too many."""
    seconds = DEFAULT_TIMEOUT if seconds is None else seconds
    if seconds <= MAX_PART:
        return f"{seconds}s"
    hours, rest = divmod(seconds, 3600)
    return f"{hours}h{rest // 60}m{rest % 60}s"


def canary_weights(unit: Unit, env: Env) -> tuple[tuple[str, int], ...]:
    """The stable predictor's share, under an empty name, and that of each canary that has pods.

    KServe: httproute_reconciler.go, applyCanaryWeights; there a canary that is not ready has no share
    """
    if not env.profile.splits_canaries:
        return ()
    canaries = [(c, i.percent) for c in unit.components if c.canary for i in c.peek(CanaryIntent)]
    if not canaries:
        return ()
    shares = [(c.name, percent) for c, percent in canaries if c.replicas != 0 and not is_stopped(unit, c)]
    return (("", 100 - sum(percent for _, percent in shares)), *shares)


def selects(unit: Unit, env: Env) -> bool:
    """Whether the platform routes by the Gateway API and the service is to be reached from outside."""
    platform = env.platform
    by_gateway = unit.mode is Mode.STANDARD and platform.ingress.enable_gateway_api
    return by_gateway and not stays_inside(unit, platform)


def render(unit: Unit, env: Env) -> Exposed:
    """The routes of a service; where a component is stopped there is none to the service as a whole.

    Raises:
        Reject: the cluster has no HTTPRoute, or a template of the configuration gives no host name or path.
    """
    platform = env.platform
    if not platform.has(API_VERSION, KIND):
        raise Reject(finding(unit, KIND_ABSENT, f"{unit.ref} needs HTTPRoute, which the cluster lacks", ("metadata",)))
    weights, metadata = canary_weights(unit, env), route_metadata(unit, platform)
    routes = Routes(unit=unit, platform=platform, metadata=metadata, weights=weights)
    rules = routes.of_components()
    top, found = service_route(routes, rules)
    parts = component_routes(routes, rules, env)
    manifests = parts if stopped_alone(unit) else [*parts, top]
    unsent = behind_transformer(routes) if weights else ()
    return Exposed(tuple(manifests), (*undeclared_gateway(env), *found, *unused_timeouts(unit, platform), *unsent))


def component_routes(routes: Routes, rules_of: Rules, env: Env) -> list[Manifest]:
    """A route for each component that runs; the predictor's has a name that its `name` does not change.

    In versions of KServe without canaries it has the name of the predictor.

    KServe: createRawPredictorHTTPRoute, createRawTransformerHTTPRoute, createRawExplainerHTTPRoute
    """
    made: list[Manifest] = []
    for role, (component, rules) in rules_of.items():
        if is_stopped(routes.unit, component):
            continue
        is_stable = role is Role.PREDICTOR and env.profile.splits_canaries
        name = predictor_name(routes.unit.name) if is_stable else component.name
        made.append(routes.route(name, [service_host(routes.unit, routes.platform, name)], rules))
    return made


def service_route(routes: Routes, rules_of: Rules) -> tuple[Manifest, tuple[Diagnostic, ...]]:
    """The route of the service as a whole. KServe: createRawTopLevelHTTPRoute."""
    unit, platform = routes.unit, routes.platform
    own = service_host(unit, platform, unit.name)
    further, found = additional_hosts(platform, own)
    hosts = [own, *further]
    entry, explainer = entry_component(unit), unit.component(Role.EXPLAINER)
    rules = [routes.rule(matches(EXPLAIN), explainer)] if explainer is not None else []
    rules += rules_of[entry.role][1]
    if platform.ingress.path_template:
        hosts.append(platform.ingress.ingress_domain)
        path = service_path(unit, platform)
        if explainer is not None:
            rules.append(routes.rule(matches(f"{path}{EXPLAIN_BELOW_PATH}"), explainer))
        rules.append(routes.rule(matches(f"{path}/"), entry))
    return routes.route(unit.name, hosts, rules), found


def behind_transformer(routes: Routes) -> Iterator[Diagnostic]:
    """Warnings about canaries of which a transformer knows nothing."""
    unit, shares = routes.unit, dict(routes.weights)
    for component in unit.components if unit.component(Role.TRANSFORMER) is not None else ():
        if component.canary and shares.get(component.name):
            message = f"canary {component.canary} gets no requests for {unit.name}: they go to the transformer"
            host = service_host(unit, routes.platform, predictor_name(unit.name))
            help_text = f"send requests to {host}, or try the canary with the transformer in a service of its own"
            yield finding(unit, BEHIND_TRANSFORMER, message, (*component.path[:-1], "trafficPercent"), help_text)


def unused_timeouts(unit: Unit, platform: PlatformConfig) -> tuple[Diagnostic, ...]:
    """Warnings about timeouts where the platform keeps them out of routes."""
    if not platform.ingress.disable_http_route_timeout:
        return ()
    reason = "the platform keeps timeouts out of routes (disableHTTPRouteTimeout)"
    timed = [component for component in unit.components if component.extension.timeout is not None]
    return tuple(without_effect(unit, (*component.path, "timeout"), reason) for component in timed)


def undeclared_gateway(env: Env) -> tuple[Diagnostic, ...]:
    """The warning about a Gateway that no document declares; the same for every service, so it names none."""
    namespace, _, name = env.platform.ingress.kserve_ingress_gateway.partition("/")
    if (namespace, name) in env.cluster.gateways:
        return ()
    section = env.platform.texts.get(SECTION)
    return (
        Diagnostic(
            code=GATEWAY_UNDECLARED,
            message=f"no document declares the Gateway {namespace}/{name} that kserveIngressGateway names",
            span=section.setting("kserveIngressGateway") if section else None,
            help="add the Gateway to the platform's documents, or list it in the Cluster document",
            rests_on=(Needed("Gateway", namespace, name),),
        ),
    )


def url(unit: Unit, env: Env) -> str:
    """The URL that KServe writes into the status."""
    return service_url(unit, env.platform)


STYLE = Style(
    name=NAME,
    selects=selects,
    render=render,
    url=url,
    address=entry_address,
    traits=frozenset({StyleTrait.WEIGHTS, StyleTrait.PATHS, StyleTrait.GRPC, StyleTrait.TIMEOUTS}),
)
