"""Groups: services of one namespace that share the requests for one model, each by its weight.

Decides who takes part. Must not know rules of routes.
KServe: pkg/controller/v1alpha2/llmisvc/router_group.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.listing import SHOWN, listed
from kservec.core.records import evolve
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.neighbour import Neighbour
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

GROUP: Final = ("router", "route", "group")
MOST_MEMBERS: Final = 16
"""Backends of one rule of an HTTPRoute. Gateway API: HTTPRouteRule, backendRefs"""

DIVERGENT: Final = Code(
    "llm/group-divergent",
    Severity.WARNING,
    "members of a routing group that serve other models",
    "Members of a group share the requests for one model and its adapters. One that serves others gets none of the "
    "requests for this one. Give all of them the same model name and adapters.",
)
FROM_BASE: Final = Code(
    "llm/group-from-config",
    Severity.WARNING,
    "a routing group that only a base config names",
    "KServe finds the members of a group by their own specs. A service that has its group from a config sends its "
    "requests to the members, and is none itself.",
)
WITHOUT_TRAFFIC: Final = Code(
    "llm/group-without-traffic",
    Severity.WARNING,
    "a routing group whose members all have the weight 0",
    "Requests for the model are answered with an error while nobody has a weight. Give one of the members a weight.",
)
TOO_LARGE: Final = Code(
    "llm/group-too-large",
    Severity.ERROR,
    "a routing group with more members than a route can have",
    "A rule of an HTTPRoute leads to at most 16 backends, and every member of a group is one. Those that are stopped, "
    "or serve other models, do not count. Split the group, or remove members.",
)
SHARED_NAME: Final = Code(
    "llm/model-name-shared",
    Severity.WARNING,
    "services of one namespace that serve a model of the same name",
    "Requests are sent by the model's name, so that one of the services gets all of them. Each is still reached at its "
    "own path. Give the models names of their own, or put the services into one routing group.",
)


def group_of(unit: Unit) -> str:
    """The group of a service; empty for none."""
    assert unit.resolved is not None
    group: str = unit.resolved.get(*GROUP) or ""
    return group


def members(unit: Unit, env: Env) -> tuple[Neighbour, ...]:
    """The services of a group, in the order of their names; those that are stopped are none."""
    found = env.neighbours.groups.get((unit.namespace, group_of(unit)), ())
    return tuple(member for member in found if not member.is_stopped)


def sharing(unit: Unit, env: Env) -> tuple[Neighbour, ...]:
    """The members that share the requests for a service: those that serve the same models and have pods."""
    models = own_models(unit)
    return tuple(
        member
        for member in members(unit, env)
        if member.models == models and (member.ref == unit.ref or not member.is_idle)
    )


def with_pods(sharers: Sequence[Neighbour]) -> list[Neighbour]:
    """The sharers that are in the routes of all others, too; one without pods is in its own alone."""
    return [member for member in sharers if not member.is_idle]


def own_models(unit: Unit) -> tuple[str, ...]:
    """The names that the models of a service answer to."""
    assert unit.resolved is not None
    model = unit.resolved.get("model") or {}
    adapters = (model.get("lora") or {}).get("adapters") or ()
    names = {adapter["name"] for adapter in adapters if isinstance(adapter, dict) and adapter.get("name")}
    return tuple(sorted({model.get("name") or unit.name, *names}))


def member_backends(sharers: Sequence[Neighbour]) -> list[Json]:
    """The members as backends of a rule."""
    return [{**member.backend, "weight": member.weight} for member in sharers]


def group_findings(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """What is odd about the group of a service."""
    assert unit.resolved is not None
    group, sharers, models = group_of(unit), sharing(unit, env), own_models(unit)
    place = unit.resolved.span(GROUP)
    if len(sharers) > MOST_MEMBERS and (unit.ref == sharers[0].ref or len(with_pods(sharers)) <= MOST_MEMBERS):
        names = listed(member.ref.name for member in sharers)
        message = f"the group {group} has {len(sharers)} members, and a route leads to {MOST_MEMBERS}: {names}"
        yield finding(unit, TOO_LARGE, message, place, "split the group")
    others = [member for member in members(unit, env) if member.models != models and member.ref != unit.ref]
    if others:
        names = listed(member.ref.name for member in others)
        message = f"{names} of the group {group} serves other models than {unit.ref}, and gets none of its requests"
        related = tuple((member.place, f"serves {listed(member.models)}") for member in others[:SHOWN])
        yield evolve(finding(unit, DIVERGENT, message, place, "name the models alike"), related=related)
    if all(member.ref != unit.ref for member in members(unit, env)):
        message = f"{unit.ref} has its group {group} from a config, and is no member of it"
        yield finding(unit, FROM_BASE, message, place, "write router.route.group and weight into the service")
    elif not any(member.weight for member in sharers):
        message = f"no member of the group {group} has a weight, so nobody gets requests for {models[0]}"
        yield finding(unit, WITHOUT_TRAFFIC, message, place, "give a member a weight")


def name_findings(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """A warning where services that are in no group with this one serve a model of the same name."""
    group = group_of(unit)
    found = {
        other.ref: other
        for model in own_models(unit)
        for other in env.neighbours.models.get((unit.namespace, model), ())
        if other.ref != unit.ref and is_in_the_way(other) and not (group and other.group == group)
    }
    if found:
        names = listed(ref.name for ref in sorted(found))
        message = f"{unit.ref} and {names} serve models of the same name, and one of them gets the requests of all"
        yield finding(unit, SHARED_NAME, message, None, "name the models apart, or put the services into one group")


def is_in_the_way(other: Neighbour) -> bool:
    """Whether a service gets requests by the names of its models."""
    return other.is_routed and not other.is_stopped
