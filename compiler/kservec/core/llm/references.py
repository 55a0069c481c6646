"""References of a service's router: Gateways, HTTPRoutes and InferencePools that others have to bring.

Decides which are there. KServe deploys no router for a service that refers to one that is not.
KServe: pkg/controller/v1alpha2/llmisvc/router_validation.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.diagnostics import Code, Needed, Severity
from kservec.core.llm.presets import pool_reference
from kservec.core.llm.resolved import POOL_KIND
from kservec.core.llm.resolved import ROUTE as ROUTE_SPEC
from kservec.core.records import evolve
from kservec.core.remembering import once_a_run
from kservec.core.spelling import meant_name
from kservec.core.tree import lookup
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

GATEWAY, HTTP_ROUTE = "Gateway", "HTTPRoute"
GATEWAY_REFS: Final = ("router", "gateway", "refs")
ROUTE_REFS: Final = ("router", "route", "http", "refs")
POOL_REF: Final = ("router", "scheduler", "pool", "ref")
PARENTS: Final = (*ROUTE_SPEC, "parentRefs")

GATEWAY_UNDECLARED: Final = Code(
    "llm/gateway-undeclared",
    Severity.WARNING,
    "a Gateway that nothing declares",
    "A route of the service is attached to a Gateway that is in none of the documents. It is written all the same; if "
    "there is no such Gateway in the cluster, no request comes in.",
)
ROUTE_NOT_FOUND: Final = Code(
    "llm/route-not-found",
    Severity.ERROR,
    "a service that leaves its routes to an HTTPRoute which is not there",
    "router.route.http.refs names HTTPRoutes of the service's namespace. Declare them among the input or the "
    "platform's documents.",
)
ROUTE_WITHOUT_GATEWAY: Final = Code(
    "llm/route-without-gateway",
    Severity.ERROR,
    "a service that leaves its routes to an HTTPRoute at no gateway",
    "An HTTPRoute without parentRefs is attached to nothing, and no request comes in by it. KServe makes no scheduler "
    "and no route for a service that refers to one.",
)
POOL_NOT_FOUND: Final = Code(
    "llm/pool-not-found",
    Severity.ERROR,
    "a service that leaves its scheduler to an InferencePool which is not there",
    "router.scheduler.pool.ref names an InferencePool of the service's namespace. Declare it among the input or the "
    "platform's documents.",
)


@once_a_run
def declared(env: Env, kind: str) -> Mapping[tuple[str, str], Json]:
    """The objects of a kind that documents describe, by namespace and name."""
    found = (metadata_of(body) for body in env.cluster.others.get(kind, ()))
    names = ((str(metadata.get("namespace") or "default"), str(metadata.get("name") or "")) for metadata in found)
    return dict(zip(names, env.cluster.others.get(kind, ()), strict=True))


def metadata_of(body: Json) -> Json:
    """The metadata of an object that nothing has checked; empty where it is no map."""
    metadata = body.get("metadata")
    return metadata if is_map(metadata) else {}


def is_map(value: Json) -> bool:
    """Whether a value of such an object is a map."""
    return isinstance(value, dict)


def gateways_of(unit: Unit, env: Env) -> list[Json]:
    """The Gateways that a service refers to, as far as documents describe them."""
    assert unit.resolved is not None
    refs = unit.resolved.get(*GATEWAY_REFS) or ()
    names = [(ref.get("namespace") or unit.namespace, ref.get("name") or "") for ref in refs]
    return [declared(env, GATEWAY)[name] for name in names if name in declared(env, GATEWAY)]


def missing_references(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """What a service refers to and nobody brings, each once."""
    yield from missing_gateways(unit, env)
    yield from missing_routes(unit, env)
    assert unit.resolved is not None
    pool = pool_reference(unit.resolved.value)
    if pool and not is_there(unit, env, POOL_KIND, pool):
        message = f"InferencePool {unit.namespace}/{pool} is not declared, and {unit.ref} leaves its requests to it"
        absent = Absent(POOL_NOT_FOUND, message, POOL_REF, Needed(POOL_KIND, unit.namespace, pool))
        yield missing(unit, env, absent)


def missing_gateways(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """Warnings about Gateways that nothing declares: those of the spec, and those of the HTTPRoutes it refers to.

    Of each a run tells once, whatever services lead to it, so no service is named.
    """
    seen: set[tuple[str, str]] = set()
    for path, (namespace, name) in gateways_needed(unit, env):
        if (namespace, name) not in env.cluster.gateways and (namespace, name) not in seen:
            seen.add((namespace, name))
            message = f"no document declares the Gateway {namespace}/{name} that routes of LLM services are attached to"
            absent = Absent(GATEWAY_UNDECLARED, message, path, Needed(GATEWAY, namespace, name))
            found = missing(unit, env, absent)
            yield evolve(found, subject=None, once=True)


def gateways_needed(unit: Unit, env: Env) -> Iterator[tuple[Path, tuple[str, str]]]:
    """The Gateways that requests for a service come through, and where the spec leads to them."""
    spec, here = unit.resolved, unit.namespace
    assert spec is not None
    for i, ref in enumerate(spec.get(*GATEWAY_REFS) or ()):
        yield (*GATEWAY_REFS, i), (ref.get("namespace") or here, ref.get("name") or "")
    for i, ref in enumerate(spec.get(*PARENTS) or ()):
        if ref.get("kind", GATEWAY) == GATEWAY:
            yield (*PARENTS, i), (ref.get("namespace") or here, ref.get("name") or "")
    for i, ref in enumerate(spec.get(*ROUTE_REFS) or ()):
        route = declared(env, HTTP_ROUTE).get((here, ref.get("name") or ""), {})
        for parent in filter(is_map, parents_of(route)):
            if parent.get("kind", GATEWAY) == GATEWAY:
                yield (*ROUTE_REFS, i), (str(parent.get("namespace") or here), str(parent.get("name") or ""))


def parents_of(route: Json) -> list[Json]:
    """What an HTTPRoute is attached to, as far as it can be read."""
    parents = lookup(route, ("spec", "parentRefs"))
    return parents if isinstance(parents, list) else []


def missing_routes(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """Errors about HTTPRoutes that nothing declares, or that are attached to nothing.

    KServe: validateHTTPRouteReferences, validateHTTPRouteTargets
    """
    assert unit.resolved is not None
    for i, ref in enumerate(unit.resolved.get(*ROUTE_REFS) or ()):
        name = ref.get("name") or ""
        route = declared(env, HTTP_ROUTE).get((unit.namespace, name))
        if route is not None and not parents_of(route):
            message = f"HTTPRoute {unit.namespace}/{name}, which {unit.ref} leaves its routes to, is at no gateway"
            place = unit.resolved.span((*ROUTE_REFS, i))
            yield finding(unit, ROUTE_WITHOUT_GATEWAY, message, place, "give it parentRefs, or correct the reference")
        if not is_there(unit, env, HTTP_ROUTE, name):
            message = f"HTTPRoute {unit.namespace}/{name} is not declared, and {unit.ref} leaves its routes to it"
            needed = Needed(HTTP_ROUTE, unit.namespace, name)
            yield missing(unit, env, Absent(ROUTE_NOT_FOUND, message, (*ROUTE_REFS, i), needed))


def is_there(unit: Unit, env: Env, kind: str, name: str) -> bool:
    """Whether a document describes an object, or a service of the run leads to it."""
    return (unit.namespace, name) in declared(env, kind) or (unit.namespace, name) in env.neighbours.made


class Absent(NamedTuple):
    """A reference at a path of the resolved spec to something that is not there, and what there is to say of it."""

    code: Code
    message: str
    path: Path
    needed: Needed


def missing(unit: Unit, env: Env, absent: Absent) -> Diagnostic:
    """A diagnostic about a reference."""
    assert unit.resolved is not None
    needed = absent.needed
    known = env.cluster.gateways if needed.kind == GATEWAY else declared(env, needed.kind)
    meant = meant_name(needed.name, [name for namespace, name in known if namespace == needed.namespace])
    declare = f"declare {needed.kind} {needed.namespace}/{needed.name} among the files"
    remedy = f"did you mean {meant}? If not, {declare}" if meant is not None else f"{declare}, or correct the reference"
    found = finding(unit, absent.code, absent.message, unit.resolved.span(absent.path), remedy)
    return evolve(found, rests_on=(needed,))
