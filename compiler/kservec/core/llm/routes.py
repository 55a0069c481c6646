"""Rules of an HTTPRoute: which requests for a service go where.

Decides what becomes of the rules of the merged spec. Must not know other services.
KServe: pkg/controller/v1alpha2/llmisvc/router.go, expectedHTTPRoute; config_merge.go, isModelBasedRoutingEnabled
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.llm.names import MODEL_ROUTING, POOL, WORKLOAD_SERVICE, child_name, model_resource_name
from kservec.core.llm.presets import pool_reference
from kservec.core.llm.resolved import POOL_KIND, SERVICE
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json

DISABLED, FORCED = "disabled", "forced"
"""What the platform's mode of model-based routing may be, besides on."""

OFF: Final = "false"


class Rules(NamedTuple):
    """Rules, and the number that each had in the spec."""

    rules: list[Json]
    numbers: tuple[int, ...]


def routes_by_model(spec: Json, platform: PlatformConfig, gateways: Iterable[Mapping[str, Json]]) -> bool:
    """Whether a header of requests names the model that they are for.

    Args:
        spec: the merged spec.
        platform: the target cluster.
        gateways: the Gateways that the spec refers to, as far as they are declared.
    """
    mode = platform.ingress.model_based_routing_mode.lower()
    if mode == DISABLED or (spec.get("annotations") or {}).get(MODEL_ROUTING) != "true":
        return False
    annotations = ((gateway.get("metadata") or {}).get("annotations") or {} for gateway in gateways)
    return mode == FORCED or not any(notes.get(MODEL_ROUTING) == OFF for notes in annotations)


def without_model_rules(rules: Sequence[Json], header: str) -> Rules:
    """The rules without matches that ask for the model's header; one that is left without matches is gone.

    KServe: config_merge.go, stripModelBasedRoutingRules
    """
    kept = ([m for m in rule.get("matches") or () if not asks_for(m, header)] for rule in rules)
    left = [(i, {**rules[i], "matches": matches}) for i, matches in enumerate(kept) if matches]
    return Rules([rule for _, rule in left], tuple(i for i, _ in left))


def with_adapters(rules: Sequence[Json], header: str, namespace: str, adapters: Iterable[Json]) -> list[Json]:
    """The rules whose matches for the model match each of its adapters, too.

    KServe: config_merge.go, expandLoRAAdapterMatches
    """
    names = sorted(adapter["name"] for adapter in adapters if adapter.get("name") is not None)
    values = [model_resource_name(namespace, name) for name in names]
    return [with_values(rule, header, values) for rule in rules]


def with_values(rule: Json, header: str, values: Sequence[str]) -> Json:
    """A rule with copies of the matches that ask for a header, for further values of that header."""
    matches = rule.get("matches") or ()
    copies = [with_value(match, header, value) for match in matches if asks_for(match, header) for value in values]
    return {**rule, "matches": [*matches, *copies]} if copies else rule


def with_value(match: Json, header: str, value: str) -> Json:
    """A match that asks for another value of a header."""
    headers = [{**h, "value": value} if h.get("name") == header else h for h in match["headers"]]
    return {**match, "headers": headers}


def asks_for(match: Json, header: str) -> bool:
    """Whether a match asks for a header, by that very name."""
    return any(h.get("name") == header for h in match.get("headers") or ())


def with_pool_group(rules: Sequence[Json], pool: str, group: str) -> list[Json]:
    """The rules that refer to a pool by an API group."""
    return [
        {**rule, "backendRefs": [{**r, "group": group} if is_pool(r, pool) else r for r in rule["backendRefs"]]}
        if any(is_pool(ref, pool) for ref in rule.get("backendRefs") or ())
        else rule
        for rule in rules
    ]


def is_pool(ref: Json, name: str) -> bool:
    """Whether a backend is the pool of a name, in whichever API group."""
    return backend_of(ref) == (POOL_KIND, name)


def leads_to_group(rules: Iterable[Json], group: str) -> bool:
    """Whether a backend is a pool of an API group."""
    backends = (ref for rule in rules for ref in rule.get("backendRefs") or ())
    return any(ref.get("kind") == POOL_KIND and ref.get("group") == group for ref in backends)


def with_members(rules: Sequence[Json], namespace: str, name: str, spec: Json, backends: list[Json]) -> Rules:
    """The rules that lead to all members of a group, where they led to the service; and the numbers of those.

    Rules for the service's own path, and for backends of the user's own, stay as they are.
    KServe: router_group_routing.go, rewriteRulesForGroup
    """
    path = f"/{namespace}/{name}"
    own = own_backends(name, spec)
    shared = tuple(
        i
        for i, rule in enumerate(rules)
        if not is_below(rule, path) and any(backend_of(ref) in own for ref in rule.get("backendRefs") or ())
    )
    changed = [{**rule, "backendRefs": backends} if i in shared else rule for i, rule in enumerate(rules)]
    return Rules(changed, shared)


def own_backends(name: str, spec: Json) -> set[tuple[str, str]]:
    """The backends that a service's routes lead to unless the user says otherwise: kinds and names."""
    own = {(POOL_KIND, child_name(name, POOL)), (SERVICE, child_name(name, WORKLOAD_SERVICE))}
    return own | ({(POOL_KIND, reference)} if (reference := pool_reference(spec)) else set())


def backend_of(ref: Json) -> tuple[str, str]:
    """Kind and name of a backend."""
    return ref.get("kind") or SERVICE, ref.get("name") or ""


def is_below(rule: Json, path: str) -> bool:
    """Whether a rule is for a path, or for what is below it."""
    values = (lookup(match, ("path", "value")) or "" for match in rule.get("matches") or ())
    return any(value == path or value.startswith(f"{path}/") for value in values)
