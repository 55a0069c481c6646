"""A canary in Standard mode: an entry of `spec.canary` with a share of the traffic and pods of its own.

The stable version takes over name and model of the canary when it is promoted, so that the canary's pods stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.paths import lookup
from kservec.edits.changes import Add, Put, Remove
from kservec.edits.pins import MODEL, format_of, model_path, pin_changes, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.paths import Json, Path
    from kservec.edits.changes import Change
    from kservec.edits.service import Service

CANARY: Path = ("spec", "canary")
PREDICTOR: Path = ("spec", "predictor")
LOADED_INTO = "kserve-container"
"""The container that a model is loaded into; KServe's schema wants it as the name of a canary's model."""
OWN = frozenset({"name", "minReplicas"})
"""Fields of a canary's predictor that are its own and not the stable one's."""

_odd = re.compile(r"[^a-z0-9]+")


def started(service: Service, percent: int, wanted: Mapping[str, str], name: str) -> list[Change]:
    """The changes that start a canary.

    Raises:
        Reject: the stable predictor has no model that a canary could be another version of, or a canary of that name
            runs already.
    """
    predictor = service.value["spec"]["predictor"]
    at = model_path(predictor)
    if not at:
        hint = "a canary is another version of a model; deploy a service of its own and split the traffic in front"
        raise refusal(f"{service.name} has no model in its predictor", service.span(*PREDICTOR), hint)
    name = name or name_of(wanted.get(MODEL, ""))
    running = service.value["spec"].get("canary") or []
    if name in (entry["predictor"].get("name") for entry in running):
        hint = f"change its share: kservec canary step {service.name} --to N --canary {name}"
        raise refusal(f"{service.name} has a canary called {name} already", service.span(*CANARY), hint)
    model: Json = {"name": LOADED_INTO, "modelFormat": format_of(predictor, at)}
    for path, value in pin_changes(predictor, wanted):
        model = with_value(model, path[1:], value)
    entry = {"trafficPercent": percent, "predictor": {"name": name, MODEL: model}}
    return [Add((*CANARY, len(running)), entry)] if running else [Add(CANARY, [entry])]


def with_value(model: Json, path: Path, value: str) -> Json:
    """A model with one field more."""
    first, rest = path[0], path[1:]
    return {**model, first: with_value(model.get(first, {}), rest, value) if rest else value}


def name_of(uri: str) -> str:
    """The name of a canary by what its model is called: the last step of the URI, as a label."""
    last = uri.rstrip("/").rpartition("/")[2].lower()
    name = _odd.sub("-", last).strip("-")
    return (name if name[:1].isalpha() else f"v{name}")[:20].strip("-") if name else "canary"


def stepped(service: Service, percent: int, canary: str) -> list[Change]:
    """The change of a running canary's share."""
    return [Put((*CANARY, index_of(service, canary), "trafficPercent"), percent)]


def rolled_back(service: Service, canary: str) -> list[Change]:
    """The change that takes a canary away."""
    return [Remove((*CANARY, index_of(service, canary)))]


def promoted(service: Service, canary: str) -> list[Change]:
    """The changes that make a canary the stable version: its name and all that it overrides, and its removal.

    Raises:
        Reject: it overrides a list or a map that the stable version has, too.
    """
    i = index_of(service, canary)
    predictor, stable = service.value["spec"]["canary"][i]["predictor"], service.value["spec"]["predictor"]
    changes: list[Change] = []
    for path, value in leaves(predictor, ()):
        where = (*model_path(stable), *path[1:]) if path[0] == MODEL else path
        if (path[0] in OWN and path != ("name",)) or path[:2] == (MODEL, "name"):
            continue
        if path[:2] == (MODEL, "modelFormat") and model_path(stable) != (MODEL,):
            continue
        present = lookup(stable, where)
        if isinstance(present, list | dict) or (isinstance(value, list | dict) and present is not None):
            message = (
                f"canary {canary} of {service.name} overrides {'.'.join(map(str, where))}, which is no single value"
            )
            raise refusal(message, service.span(*CANARY, i, "predictor", *path), "move it to the predictor by hand")
        if present != value:
            changes.append(Add((*PREDICTOR, *where), value) if present is None else Put((*PREDICTOR, *where), value))
    return [*changes, Remove((*CANARY, i))]


def leaves(value: Json, at: Path) -> Iterator[tuple[Path, Json]]:
    """The single values, lists and empty maps below a map, with their paths."""
    for key, part in value.items():
        if isinstance(part, dict) and part:
            yield from leaves(part, (*at, key))
        else:
            yield (*at, key), part


def running_in(service: Service) -> dict[str, int]:
    """The canaries that run, with their shares."""
    entries = service.value["spec"].get("canary") or []
    return {entry["predictor"].get("name", ""): entry.get("trafficPercent", 0) for entry in entries}


def index_of(service: Service, canary: str) -> int:
    """Which canary is meant: the only one, or the one of that name.

    Raises:
        Reject: there is none, or several and no name.
    """
    names = list(running_in(service))
    if canary in names:
        return names.index(canary)
    if len(names) == 1 and not canary:
        return 0
    if not names:
        raise refusal(f"{service.name} has no canary", service.span("metadata", "name"), "start one first")
    known = f"it has {', '.join(names)}"
    message = f"{service.name} has no canary called {canary}; {known}" if canary else f"which canary is meant? {known}"
    raise refusal(message, service.span(*CANARY), "name it with --canary")
