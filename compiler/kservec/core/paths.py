"""Places in a JSON value: paths with merge keys, and how a write copies only what is on its path.

Decides how an item of a list is named and found. Must not know any kind, nor where values come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list of Json, or dict from str to Json. Never changed once built."""

Path: TypeAlias = tuple[str | int, ...]
"""Steps from the root. In a map a step is a key. In a list it is the merge key of an item (`containers`, `web`;
`ports`, 8080) or, where items have none (`args`), an index."""

KEY_FIELDS: Mapping[str, str] = {
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ports": "containerPort",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
"""Field that holds a list -> field of its items that names them. Ports of a Service are named by `port`."""


def lookup(node: Json, path: Iterable[str | int], field_name: str = "") -> Json:
    """The value at `path` below `node`; None if there is none.

    `field_name` is the field that holds `node`, which matters only if `node` is a list.
    """
    for step in path:
        if node.__class__ is dict:
            node = node.get(step)
        elif node.__class__ is list:
            i = index_of(node, field_name, step)
            node = node[i] if i >= 0 else None
        else:
            return None
        field_name = step if step.__class__ is str else ""
    return node


def index_of(items: list[Json], field_name: str, step: str | int) -> int:
    """Where a step leads in the list that `field_name` holds; -1 for nowhere.

    The first item with that merge key counts. A number is a merge key only for `ports`, and an index elsewhere or if
    no port has it.
    """
    if field_name == "ports":
        for i, item in enumerate(items):
            if item_key(item, field_name) == step:
                return i
    elif step.__class__ is str:
        key = KEY_FIELDS.get(field_name, "name")
        for i, item in enumerate(items):
            if item.__class__ is dict and item.get(key) == step:
                return i
    return step if isinstance(step, int) and 0 <= step < len(items) else -1


def item_key(item: Json, field_name: str) -> str | int | None:
    """The merge key of an item of the list that `field_name` holds; None if it has none."""
    if item.__class__ is not dict:
        return None
    key: str | int | None = item.get(KEY_FIELDS.get(field_name, "name"))
    if key is None and field_name == "ports":
        key = item.get("port")
    return key


def with_keys(node: Json, path: Path) -> Path:
    """The same path with merge keys instead of indices wherever a list has a field of `KEY_FIELDS`."""
    return counterpart(node, node, path) if int in map(type, path) else path


def counterpart(value: Json, other: Json, path: Path) -> Path:
    """The path in another value of the same shape of what is at a path in one: keys of items may differ there.

    Steps stay as they are from a list on whose items are not as many as those of the other.
    """
    steps = list(path)
    field_name = ""
    for n, step in enumerate(path):
        if value.__class__ is dict and other.__class__ is dict:
            value, other = value.get(step), other.get(step)
        elif value.__class__ is list and other.__class__ is list:
            i = index_of(value, field_name, step)
            if i < 0 or len(value) != len(other):
                break
            value, other = value[i], other[i]
            key = item_key(other, field_name) if field_name in KEY_FIELDS else None
            steps[n] = i if key is None else key
        else:
            break
        field_name = step if step.__class__ is str else ""
    return tuple(steps)


def field_of(path: Path) -> str:
    """The field that holds what is at `path`; empty for a list item."""
    last = path[-1] if path else ""
    return last if isinstance(last, str) else ""


def is_keyed(items: list[Json], field_name: str) -> bool:
    """Whether items of this list are addressed by merge keys rather than indices."""
    return field_name in KEY_FIELDS and all(item_key(item, field_name) is not None for item in items)


def with_value(node: Json, path: Path, value: Json, i: int = 0) -> Json:
    """A copy of `node` with `value` at `path[i:]`; everything off the path is shared."""
    if i == len(path):
        return value
    step = path[i]
    if node.__class__ is list:
        return _with_item(node, path, value, i)
    if node is not None and node.__class__ is not dict:
        raise LookupError(f"no {step!r} inside {type(node).__name__} at {'.'.join(map(str, path[:i]))}")
    new = {} if node is None else node.copy()
    child = new.get(step)
    if child is None and i + 1 < len(path) and (step in KEY_FIELDS or path[i + 1].__class__ is int):
        child = []
    new[step] = with_value(child, path, value, i + 1)
    return new


def _with_item(items: list[Json], path: Path, value: Json, i: int) -> list[Json]:
    step, field_name = path[i], field_of(path[:i])
    at = index_of(items, field_name, step)
    if at >= 0:
        return [*items[:at], with_value(items[at], path, value, i + 1), *items[at + 1 :]]
    key = KEY_FIELDS.get(field_name, "name")
    if isinstance(step, int) and key != "containerPort":
        if step != len(items):
            raise LookupError(f"no item {step} in a list of {len(items)} at {'.'.join(map(str, path[:i]))}")
        return [*items, with_value(None, path, value, i + 1)]
    return [*items, with_value({key: step}, path, value, i + 1)]
