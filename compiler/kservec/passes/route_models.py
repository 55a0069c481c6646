"""route_models: the route by which requests for a service and its models come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.diagnostics import Code, ObjectRef, Reject, Severity, has_errors
from kservec.core.llm.groups import MOST_MEMBERS, group_findings, group_of, member_backends, name_findings, sharing
from kservec.core.llm.names import POOL, POOL_MIGRATED, ROUTE, ROUTING_GROUP_LABEL, child_name
from kservec.core.llm.pools import POOL_GROUP, POOL_GROUP_ALPHA, POOL_VERSION, POOL_VERSION_ALPHA, pool_versions
from kservec.core.llm.presets import pool_reference
from kservec.core.llm.references import GATEWAY_REFS, HTTP_ROUTE, ROUTE_REFS, gateways_of, missing_references
from kservec.core.llm.resolved import ROUTE as ROUTE_SPEC
from kservec.core.llm.routes import (
    leads_to_group,
    routes_by_model,
    with_adapters,
    with_members,
    with_pool_group,
    without_model_rules,
)
from kservec.core.llm.scheduler import part_labels
from kservec.core.llm.settings import model_header
from kservec.core.records import evolve
from kservec.core.routing.objects import Metadata, service_object
from kservec.core.tree import Layer, Moved, Origin, Tree
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "route_models")
ROUTER_COMPONENT: Final = "llminferenceservice-router"
ROUTE_VERSION: Final = "gateway.networking.k8s.io/v1"
MIGRATED: Final = "v1"

KIND_ABSENT: Final = Code(
    "llm/route-kind-absent",
    Severity.ERROR,
    "the cluster has no HTTPRoute",
    "Requests for an LLMInferenceService come in by an HTTPRoute of the Gateway API, which is declared absent. Install "
    "it, or leave out router.route.",
)


class Routed(NamedTuple):
    """The spec of a route, and in which API group it refers to the service's own pool, if it has one."""

    spec: Tree
    pool_group: str = ""


def route_models(unit: Unit, env: Env) -> Step:
    """Make the HTTPRoute of a service that leaves its routes to KServe.

    Takes:   nothing
    Writes:  the HTTPRoute
    Reports: llm/gateway-undeclared, llm/route-not-found, llm/route-without-gateway, llm/pool-not-found,
             llm/route-kind-absent, llm/group-*, llm/model-name-shared
    KServe:  pkg/controller/v1alpha2/llmisvc/router.go, reconcileHTTPRoutes
    """
    if unit.stopped or unit.resolved is None or unit.resolved.get("router") is None:
        return Step(unit)
    found = tuple(missing_references(unit, env))
    if has_errors(found) or unit.resolved.get(*ROUTE_SPEC) is None or unit.resolved.get(*ROUTE_REFS):
        return Step(unit, found)
    if not env.platform.has(ROUTE_VERSION, HTTP_ROUTE):
        message = f"{unit.ref} needs HTTPRoute, which the cluster lacks"
        raise Reject(*found, finding(unit, KIND_ABSENT, message, ("spec", "router", "route")))
    routed = routed_spec(unit, env)
    found += tuple(name_findings(unit, env))
    if group_of(unit):
        found += tuple(group_findings(unit, env))
        if len(sharing(unit, env)) > MOST_MEMBERS:
            return Step(unit, found)
        routed = routed._replace(spec=shared_among_members(unit, routed.spec, env))
    return Step(evolve(unit, bundle=unit.bundle.add(route_object(unit, routed))), found)


def routed_spec(unit: Unit, env: Env) -> Routed:
    """The spec of a route: with rules for models and adapters, or without, and with the pool of the right API group."""
    assert unit.resolved is not None
    spec = with_model_rules(unit, unit.resolved.sub(*ROUTE_SPEC), env)
    if unit.resolved.get("router", "scheduler") is None:
        return Routed(spec)
    rules: list[Json] = spec.get("rules") or []
    if foreign := pool_reference(unit.resolved.value):
        is_as_kserve_has_it = POOL_VERSION in pool_versions(env.platform)
        return Routed(spec if is_as_kserve_has_it else regrouped(spec, rules, foreign, POOL_GROUP_ALPHA))
    own = child_name(unit.name, POOL)
    group = pool_group(unit, with_pool_group(rules, own, ""), env)
    return Routed(regrouped(spec, rules, own, group), group)


def regrouped(spec: Tree, rules: list[Json], pool: str, group: str) -> Tree:
    """The spec of a route that refers to a pool by an API group; the same one if it does already, or not at all."""
    changed = with_pool_group(rules, pool, group)
    return spec if changed == rules else with_rules(spec, changed, tuple(range(len(rules))))


def with_model_rules(unit: Unit, spec: Tree, env: Env) -> Tree:
    """The spec of a route with rules for each adapter, or without those for models where the platform has none."""
    assert unit.resolved is not None
    rules: list[Json] = spec.get("rules") or []
    header = model_header(env.platform)
    gateways = gateways_of(unit, env) if unit.resolved.get(*GATEWAY_REFS) else ()
    if not routes_by_model(unit.resolved.value, env.platform, gateways):
        return with_rules(spec, *without_model_rules(rules, header))
    adapters = unit.resolved.get("model", "lora", "adapters")
    if not adapters:
        return spec
    return with_rules(spec, with_adapters(rules, header, unit.namespace, adapters), tuple(range(len(rules))))


def with_rules(spec: Tree, rules: list[Json], numbers: tuple[int, ...]) -> Tree:
    """The spec of a route with other rules; `numbers` are those that they had."""
    return spec.put(("rules",), rules, Moved(spec, ("rules",), numbers))


def pool_group(unit: Unit, rules: list[Json], env: Env) -> str:
    """The API group by which a route refers to the service's own pool; empty if it does not.

    KServe begins with v1alpha2, and changes over for good as soon as a gateway takes a pool of v1 on the route, or
    none of v1alpha2: so it does where the route leads to another pool of v1, which those of a group are.
    KServe: router.go, expectedHTTPRoute
    """
    versions = pool_versions(env.platform)
    if POOL_VERSION not in versions:
        return POOL_GROUP_ALPHA
    backends = member_backends(sharing(unit, env)) if group_of(unit) else []
    if leads_to_group([*rules, {"backendRefs": backends}], POOL_GROUP):
        return POOL_GROUP
    if not leads_to_group(rules, ""):
        return ""
    return POOL_GROUP_ALPHA if POOL_VERSION_ALPHA in versions else POOL_GROUP


def shared_among_members(unit: Unit, spec: Tree, env: Env) -> Tree:
    """The spec of a route that leads to all members of the service's group."""
    assert unit.resolved is not None
    rules: list[Json] = spec.get("rules") or []
    backends = member_backends(sharing(unit, env))
    changed, numbers = with_members(rules, unit.namespace, unit.name, unit.resolved.value, backends)
    spec = with_rules(spec, changed, tuple(range(len(rules))))
    for i in numbers:
        spec = spec.note(("rules", i, "backendRefs"), MADE)
    return spec


def route_object(unit: Unit, routed: Routed) -> Manifest:
    """The HTTPRoute of a service."""
    group = group_of(unit)
    labels = part_labels(unit.name, ROUTER_COMPONENT) | ({ROUTING_GROUP_LABEL: group} if group else {})
    notes = {POOL_MIGRATED: MIGRATED} if routed.pool_group == POOL_GROUP else {}
    ref = ObjectRef(ROUTE_VERSION, HTTP_ROUTE, unit.namespace, child_name(unit.name, ROUTE))
    return service_object(ref, Metadata(Tree.of(labels, MADE), Tree.of(notes, MADE)), routed.spec)
