"""Neighbours: what services of one namespace need to know of each other, for they share routes and names of models.

Decides what a service is to the others, as far as its spec and base configs tell; presets say nothing about it.
KServe looks at the status of live services: pkg/controller/v1alpha2/llmisvc/{router_group,router_validation}.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import MODEL_PORT, POOL, ROUTE, WORKLOAD_SERVICE, child_name
from kservec.core.llm.neighbour import Neighbour, Neighbourhood
from kservec.core.llm.pools import POOL_GROUP, POOL_GROUP_ALPHA, present_group
from kservec.core.llm.resolved import POOL_KIND, SERVICE
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kservec.core.catalog import Catalog
    from kservec.core.llm.neighbour import Name
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

LLM: Final = "LLMInferenceService"


def neighbourhood(units: Iterable[Unit], catalog: Catalog, platform: PlatformConfig) -> Neighbourhood:
    """The services among some units."""
    groups: dict[Name, list[Neighbour]] = {}
    models: dict[Name, list[Neighbour]] = {}
    made: set[Name] = set()
    services = (unit for unit in units if unit.ref.kind == LLM)
    for unit in sorted(services, key=lambda unit: unit.ref):
        made.update((unit.namespace, child_name(unit.name, suffix)) for suffix in (POOL, ROUTE))
        found = neighbour(unit, catalog, platform)
        if found.group:
            groups.setdefault((unit.namespace, found.group), []).append(found)
        for model in found.models:
            models.setdefault((unit.namespace, model), []).append(found)
    return Neighbourhood(
        groups={key: tuple(members) for key, members in groups.items()},
        models={key: tuple(members) for key, members in models.items()},
        made=frozenset(made),
    )


def neighbour(unit: Unit, catalog: Catalog, platform: PlatformConfig) -> Neighbour:
    """A service as the others see it."""
    own: Json = unit.spec.json["spec"]
    specs = (*bases(unit, own, catalog, platform), own)
    route = lookup(own, ("router", "route")) or {}
    replicas = [strongest(specs, path) for path in (("replicas",), ("prefill", "replicas"))]
    return Neighbour(
        ref=unit.ref,
        place=unit.source.span("metadata", "name"),
        models=model_names(unit.name, specs),
        backend=backend_of(unit.name, own, specs, platform),
        group=route.get("group") or "",
        weight=route.get("weight") or 0,
        is_stopped=unit.stopped,
        is_idle=0 in replicas,
        is_routed=strongest(specs, ("router", "route")) is not None,
    )


def bases(unit: Unit, own: Json, catalog: Catalog, platform: PlatformConfig) -> list[Json]:
    """The base configs of a service, the weakest first; those that there are not are left out here."""
    namespaces = (unit.namespace, platform.kserve_namespace)
    names = [ref.get("name") or "" for ref in own.get("baseRefs") or ()]
    found = (next((p for n in namespaces if (p := catalog.presets.get((n, name)))), None) for name in names)
    return [preset.spec for preset in found if preset is not None]


def strongest(specs: Sequence[Json], path: Path) -> Json:
    """The value at a path of specs that are laid over each other, the weakest first."""
    values = (lookup(spec, path) for spec in reversed(specs))
    return next((value for value in values if value is not None), None)


def model_names(name: str, specs: Sequence[Json]) -> tuple[str, ...]:
    """The names that the models of a service answer to; a base config wins over the service when it names the model.

    KServe: router_group.go, resolvedModelNames
    """
    *bases_before, own = specs
    model = strongest((own, *bases_before), ("model", "name")) or name
    sources = (lookup(spec, ("model", "lora", "adapters")) for spec in reversed(specs))
    adapters = next((found for found in sources if found), ())
    named = (adapter["name"] for adapter in adapters if isinstance(adapter, dict) and adapter.get("name"))
    return tuple(sorted({model, *named}))


def backend_of(name: str, own: Json, specs: Sequence[Json], platform: PlatformConfig) -> Json:
    """Where routes of others lead to a service: its pool, in a version that there is, or the Service of its pods.

    KServe: router_group.go, resolveMemberBackendRef; it does not look at which versions there are
    """
    if reference := lookup(own, ("router", "scheduler", "pool", "ref", "name")):
        return pool_backend(present_group(platform, POOL_GROUP_ALPHA), reference)
    if strongest(specs, ("router", "scheduler")) is None:
        return {"kind": SERVICE, "name": child_name(name, WORKLOAD_SERVICE), "port": MODEL_PORT}
    reference = strongest(specs, ("router", "scheduler", "pool", "ref", "name"))
    return pool_backend(present_group(platform, POOL_GROUP), reference or child_name(name, POOL))


def pool_backend(group: str, name: str) -> Json:
    """A pool of one of the API groups as a backend."""
    return {"group": group, "kind": POOL_KIND, "name": name, "port": MODEL_PORT}
