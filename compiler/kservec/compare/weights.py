"""Which share of the requests goes where, before and after: routes of the Gateway API and Istio, Knative's traffic.

Pure. Decides what a row of the table of traffic is; a route that is new or goes has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.objects import Action
from kservec.compare.shapes import map_at, maps_at, number_at
from kservec.compare.values import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kservec.compare.objects import Changed
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json

ROUTE_KINDS = ("HTTPRoute", "GRPCRoute")
WHOLE = 100


class Shift(NamedTuple):
    """A backend whose weight changed, or one beside such a backend; None where the rule does not list it."""

    backend: str
    before: int | None
    after: int | None


class Traffic(NamedTuple):
    """The rules of a route in which the same weights changed; `rules` are their names or paths."""

    ref: ObjectRef
    owner: str
    rules: tuple[str, ...]
    shifts: tuple[Shift, ...]

    def share(self, *, after: bool) -> tuple[float, ...]:
        """The share of each backend in percent."""
        weights = [(s.after if after else s.before) or 0 for s in self.shifts]
        return tuple(WHOLE * weight / (sum(weights) or 1) for weight in weights)


def traffic_changes(changes: Sequence[Changed]) -> tuple[Traffic, ...]:
    """The weights that changed, by route."""
    return tuple(row for change in changes if change.action is Action.CHANGED for row in rows_of(change))


def rows_of(change: Changed) -> Iterator[Traffic]:
    """The weights of one route that changed; rules with the same ones are one row."""
    read = readers().get(change.ref.kind)
    if read is None:
        return
    before, after = dict(read(change.before)), dict(read(change.after))
    grouped: dict[tuple[Shift, ...], list[str]] = {}
    for rule, weights in after.items():
        old = before.get(rule)
        if old is not None and old != weights:
            names = dict.fromkeys((*old, *weights))
            shifts = tuple(Shift(name, old.get(name), weights.get(name)) for name in names)
            grouped.setdefault(shifts, []).append(rule)
    for shifts, rules in grouped.items():
        yield Traffic(change.ref, change.owner, tuple(rules), shifts)


def readers() -> Mapping[str, Callable[[Json], Iterator[tuple[str, dict[str, int]]]]]:
    """How the rules and weights of each kind are read."""
    return {**dict.fromkeys(ROUTE_KINDS, gateway_rules), "VirtualService": istio_rules, "Service": knative_traffic}


def gateway_rules(body: Json) -> Iterator[tuple[str, dict[str, int]]]:
    """The rules of an HTTPRoute or GRPCRoute."""
    for rule in maps_at(body, "spec", "rules"):
        backends = maps_at(rule, "backendRefs")
        yield rule_name(rule), {backend_name(b): weight_of(b, "weight", 1) for b in backends}


def istio_rules(body: Json) -> Iterator[tuple[str, dict[str, int]]]:
    """The rules of a VirtualService. A lone target has all of the traffic."""
    for rule in maps_at(body, "spec", "http"):
        targets = maps_at(rule, "route")
        default = 0 if len(targets) > 1 else WHOLE
        name = str(rule.get("name") or match_text(maps_at(rule, "match")))
        yield name, {str(host_of(target)): weight_of(target, "weight", default) for target in targets}


def knative_traffic(body: Json) -> Iterator[tuple[str, dict[str, int]]]:
    """The traffic of a Knative service; a Service of the core group has none."""
    targets = maps_at(body, "spec", "traffic")
    if targets:
        yield "", {str(t.get("revisionName") or "the latest revision"): weight_of(t, "percent", 0) for t in targets}


def weight_of(target: Mapping[str, Json], field: str, default: int) -> int:
    """The weight of a target."""
    weight = number_at(target, (field,))
    return default if weight is None else weight


def host_of(target: Mapping[str, Json]) -> Json:
    """The host and subset that a target of a VirtualService leads to."""
    destination = map_at(target, "destination")
    subset = destination.get("subset")
    return f"{destination.get('host')}/{subset}" if subset else destination.get("host")


def backend_name(backend: Mapping[str, Json]) -> str:
    """A backend, with its kind unless that is a Service."""
    kind = backend.get("kind") or "Service"
    return f"{backend.get('name')}" if kind == "Service" else f"{kind} {backend.get('name')}"


def rule_name(rule: Mapping[str, Json]) -> str:
    """What tells a rule apart: its name and all that it matches."""
    name = rule.get("name")
    return str(name) if name else match_text(maps_at(rule, "matches"))


def match_text(found: Sequence[Mapping[str, Json]]) -> str:
    """What a rule matches, in short: its path if that is all."""
    if not found:
        return ""
    path = found[0].get("path") if len(found) == 1 and len(found[0]) == 1 else None
    return str(path.get("value")) if isinstance(path, dict) else text_of(found)
