"""Fields of a pod of which one excludes the others: what a probe asks, where a volume lies, where a value comes from.

Decides what of a weaker spec goes when a stronger one says another of them. KServe keeps both, and the API server
refuses the pod. Must not know whose specs they are.
Kubernetes: api/core/v1/types.go, ProbeHandler, LifecycleHandler, VolumeSource, EnvVar
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Final

from kservec.core.pods.containers import HOOKS, PROBES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kservec.core.tree import Json

    Lose = Callable[[Json, Json], Json]

HANDLERS: Final = frozenset(("exec", "httpGet", "tcpSocket", "grpc", "sleep"))
VALUES: Final = frozenset(("value", "valueFrom"))
CONTAINERS: Final = ("containers", "initContainers")


def exclusive(base: Json, patch: Json) -> Json:
    """A pod with nulls for what a pod below it has and must lose; the patch itself if that is nothing."""
    changed = {}
    for field in CONTAINERS:
        if patch.get(field) and base.get(field):
            changed[field] = _items(base[field], patch[field], _container)
    if patch.get("volumes") and base.get("volumes"):
        changed["volumes"] = _items(base["volumes"], patch["volumes"], _volume)
    return _with(patch, changed)


def _items(base: list[Json], patch: list[Json], lose: Lose) -> list[Json]:
    """The same for lists whose items have names."""
    known = {item.get("name"): item for item in reversed(base)}
    items = [lose(known[item.get("name")], item) if item.get("name") in known else item for item in patch]
    return patch if all(map(is_, items, patch)) else items


def _container(base: Json, patch: Json) -> Json:
    changed = {name: _one(base[name], patch[name], HANDLERS) for name in PROBES if patch.get(name) and base.get(name)}
    if patch.get("lifecycle") and base.get("lifecycle"):
        hooks, known = patch["lifecycle"], base["lifecycle"]
        new = {name: _one(known[name], hooks[name], HANDLERS) for name in HOOKS if hooks.get(name) and known.get(name)}
        changed["lifecycle"] = _with(hooks, new)
    if patch.get("env") and base.get("env"):
        changed["env"] = _items(base["env"], patch["env"], lambda old, new: _one(old, new, VALUES))
    return _with(patch, changed)


def _volume(base: Json, patch: Json) -> Json:
    return _one(base, patch, (base.keys() | patch.keys()) - {"name"})


def _one(base: Json, patch: Json, fields: frozenset[str]) -> Json:
    """A map with nulls for those of some fields that only the map below it has, if it has another of them."""
    if patch.keys().isdisjoint(fields):
        return patch
    gone = sorted((base.keys() & fields) - patch.keys())
    return {**patch, **dict.fromkeys(gone)} if gone else patch


def _with(patch: Json, changed: Mapping[str, Json]) -> Json:
    return patch if all(patch[name] is new for name, new in changed.items()) else {**patch, **changed}
