"""The structure of one kind as a schema states it: defaults, keys of lists, quantities, which field is allowed where.

Decides nothing about validity (`schema.py` does) and words nothing (`faults.py` does). Everything here takes a
self-contained schema (references lead into its own `$defs`) and plain JSON values, and changes neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.records import fresh, record

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

_DEFINITION = len("#/$defs/")
_SCALARS = ("string", "integer", "boolean")

LIST_KEYS = "x-kubernetes-list-map-keys"
"""Schemas name the fields that tell the items of a list apart under this keyword."""

QUANTITY = "[numkMGTPE]"
"""Part of the pattern by which a schema says that a field holds a quantity."""

FindRepeats: TypeAlias = "Callable[[Json], Sequence[Repeat]]"


@record
class Plan:
    """What a schema says about defaults, list keys and quantities, without the parts that say nothing of them.

    `defaults`: fields and the values that they have when missing. `keys`: for a list of type map, the fields of its
    items that identify them, with their defaults (None: no default). `is_quantity`: the value is one. `fields`, `rest`,
    `items`: the plans below. `fills`, `tells_apart`, `measures`: whether this plan or one below has defaults, keys, or
    quantities.
    """

    defaults: tuple[tuple[str, Json], ...] = ()
    keys: tuple[tuple[str, Json], ...] = ()
    fields: Mapping[str, Plan] = fresh(factory=dict)
    rest: Plan | None = None
    items: Plan | None = None
    is_quantity: bool = False
    fills: bool = False
    tells_apart: bool = False
    measures: bool = False

    @cached_property
    def filling(self) -> tuple[Mapping[str, Plan | None], Plan | None]:
        """The plans of named fields that have defaults below them, and that of all others."""
        fields = {name: below if below.fills else None for name, below in self.fields.items()}
        return fields, self.rest if self.rest is not None and self.rest.fills else None

    @cached_property
    def only_filling(self) -> frozenset[str] | None:
        """The named fields without which a map of the plan gets no defaults; None where it may without them."""
        return self.only_fields(lambda plan: plan.fills)

    def only_fields(self, concerned: Callable[[Plan], bool]) -> frozenset[str] | None:
        """The named fields with a plan that is concerned, if the plan concerns nothing else in a map; else None.

        A map that has none of them need not be looked into.
        """
        if self.is_quantity or self.defaults or self.items is not None or self.rest is not None:
            return None
        return frozenset(name for name, below in self.fields.items() if concerned(below))

    @cached_property
    def find_repeats(self) -> FindRepeats:
        """What finds items of keyed lists that repeat the key of an earlier one."""
        return _finding(self)


def bundle(document: Json, types: Mapping[str, Json]) -> Json:
    """One schema that needs no other file: the document with the shared types that it reaches among its `$defs`.

    Args:
        document: the schema of a kind; its references are `#/$defs/<name>`, to its own definitions or to `types`.
        types: the definitions that the kinds of a folder share, by name.

    Raises:
        KeyError: a reference leads nowhere.
    """
    own = document.get("$defs", {})
    reached: dict[str, Json] = {}
    left: list[Json] = [{key: value for key, value in document.items() if key != "$defs"}]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if not isinstance(reference, str):
                left.extend(node.values())
            elif (name := reference[_DEFINITION:]) not in reached:
                reached[name] = own[name] if name in own else types[name]
                left.append(reached[name])
        elif isinstance(node, list):
            left.extend(node)
    return {**document, "$defs": {name: reached[name] for name in sorted(reached)}}


def plan_of(schema: Json, wanted: Callable[[str], bool] | None = None) -> Plan | None:
    """The plan of a self-contained schema; None if it has neither defaults nor keyed lists nor quantities.

    Args:
        schema: the schema.
        wanted: which fields' defaults to take, by the name of the field; all if not given.
    """
    return _Planner(schema.get("$defs", {}), wanted or (lambda _: True), {}).plan(schema)


class _Planner(NamedTuple):
    definitions: Mapping[str, Json]
    wanted: Callable[[str], bool]
    known: dict[str, Plan | None]

    def plan(self, schema: Json) -> Plan | None:
        reference = schema.get("$ref")
        if reference is not None:
            name = reference[_DEFINITION:]
            if name not in self.known:
                self.known[name] = self.plan(self.definitions[name])
            return self.known[name]
        fields, defaults = self.fields(schema.get("properties", {}))
        items, rest = (self.plan_below(schema.get(key)) for key in ("items", "additionalProperties"))
        keys = _keys(schema, self.definitions)
        is_quantity = QUANTITY in schema.get("pattern", "")
        if not (defaults or keys or is_quantity or fields or items or rest):
            return None
        nested = [*fields.values(), *filter(None, (items, rest))]
        return Plan(
            defaults=defaults,
            keys=keys,
            fields=fields,
            rest=rest,
            items=items,
            is_quantity=is_quantity,
            fills=bool(defaults) or any(plan.fills for plan in nested),
            tells_apart=bool(keys) or any(plan.tells_apart for plan in nested),
            measures=is_quantity or any(plan.measures for plan in nested),
        )

    def plan_below(self, schema: Json) -> Plan | None:
        return self.plan(schema) if isinstance(schema, dict) else None

    def fields(self, properties: Mapping[str, Json]) -> tuple[dict[str, Plan], tuple[tuple[str, Json], ...]]:
        fields: dict[str, Plan] = {}
        defaults: list[tuple[str, Json]] = []
        for name, child in properties.items():
            if "default" not in child and child.get("type") in _SCALARS:
                continue
            below = self.plan(child)
            if below is not None:
                fields[name] = below
            target = resolve(child, self.definitions)
            if "default" in target and self.wanted(name):
                defaults.append((name, fill(target["default"], below)))
        return fields, tuple(defaults)


def _keys(schema: Json, definitions: Mapping[str, Json]) -> tuple[tuple[str, Json], ...]:
    names = schema.get(LIST_KEYS)
    if not names:
        return ()
    properties = resolve(schema["items"], definitions).get("properties", {})
    return tuple((name, resolve(properties.get(name, {}), definitions).get("default")) for name in names)


def resolve(schema: Json, definitions: Mapping[str, Json]) -> Json:
    """The schema that a reference leads to; any other schema is returned as it is."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"][_DEFINITION:]]
    return schema


def fill(value: Json, plan: Plan | None) -> Json:
    """The value with its defaults, as the API server fills them in before it validates. Never changes `value`.

    A default appears only where its parent exists. A null counts as missing: no field of the schemas has a default
    and also takes null. What needs no change is returned as it is, not copied.

    Kubernetes: apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go, Default
    """
    if plan is None or not plan.fills:
        return value
    if isinstance(value, dict):
        return _fill_map(value, plan)
    if isinstance(value, list) and plan.items is not None:
        return _fill_items(value, plan.items, plan.items.only_filling)
    return value


def _fill_items(value: list[Json], plan: Plan, needed: frozenset[str] | None) -> list[Json]:
    items = value
    for i, item in enumerate(value):
        if needed is not None and item.__class__ is dict and needed.isdisjoint(item):
            continue
        if (filled := fill(item, plan)) is not item:
            items = items.copy() if items is value else items
            items[i] = filled
    return items


def _fill_map(value: dict[str, Json], plan: Plan) -> dict[str, Json]:
    changed = {}
    for name, default in plan.defaults:
        if value.get(name) is None:
            changed[name] = default  # noqa: PERF403 - a comprehension would be one call more
    filling, rest = plan.filling
    for name, child in value.items():
        below = filling.get(name, rest)
        if below is not None and child is not None and (filled := fill(child, below)) is not child:
            changed[name] = filled
    return {**value, **changed} if changed else value


class Repeat(NamedTuple):
    """An item of a keyed list whose key an earlier item has: its path, that of the first one, and the key by field."""

    path: Path
    first: Path
    key: tuple[tuple[str, Json], ...]


def repeats(value: Json, plan: Plan | None) -> Sequence[Repeat]:
    """The items of keyed lists that repeat the key of an earlier item, in the order of the value."""
    return plan.find_repeats(value) if plan is not None and plan.tells_apart else ()


def _finding(plan: Plan) -> FindRepeats:
    """What finds the repeats in values of a plan, which tells items apart."""
    if plan.keys or plan.items is not None:
        return _finding_in_list(plan.keys, plan.items if plan.items is not None and plan.items.tells_apart else None)
    fields = {name: _finding(below) if below.tells_apart else None for name, below in plan.fields.items()}
    rest = _finding(plan.rest) if plan.rest is not None and plan.rest.tells_apart else None

    def find(value: Json) -> Sequence[Repeat]:
        found: Sequence[Repeat] = ()
        for name, child in value.items() if value.__class__ is dict else ():
            below = fields.get(name, rest)
            if below is not None and (deeper := below(child)):
                found = (*found, *(_moved(repeat, name) for repeat in deeper))
        return found

    return find


def _finding_in_list(keys: tuple[tuple[str, Json], ...], items: Plan | None) -> FindRepeats:
    find_below = _finding(items) if items is not None else None
    needed = items.only_fields(lambda plan: plan.tells_apart) if items is not None else None

    def find(value: Json) -> Sequence[Repeat]:
        if value.__class__ is not list:
            return ()
        found: Sequence[Repeat] = (*_repeated_items(value, keys),) if keys and len(value) > 1 else ()
        if find_below is None:
            return found
        for i, item in enumerate(value):
            if needed is not None and item.__class__ is dict and needed.isdisjoint(item):
                continue
            if deeper := find_below(item):
                found = (*found, *(_moved(repeat, i) for repeat in deeper))
        return found

    return find


def _moved(repeat: Repeat, step: str | int) -> Repeat:
    return repeat._replace(path=(step, *repeat.path), first=(step, *repeat.first))


def _repeated_items(items: list[Json], keys: tuple[tuple[str, Json], ...]) -> Iterator[Repeat]:
    first: dict[tuple[Json, ...], int] = {}
    for i, item in enumerate(items):
        if item.__class__ is not dict:
            continue
        key = tuple([default if item.get(name) is None else item[name] for name, default in keys])
        if all(map(_is_key, key)) and first.setdefault(key, i) != i:
            names = (name for name, _ in keys)
            yield Repeat((i,), (first[key],), tuple(zip(names, key, strict=True)))


def _is_key(value: Json) -> bool:
    return isinstance(value, (str, int))


def without_nulls(value: Json) -> Json:
    """The value without the fields that are null. Items of lists stay, so that paths keep their meaning."""
    if isinstance(value, dict):
        return {name: without_nulls(child) for name, child in value.items() if child is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def schema_at(schema: Json, path: Path) -> Json:
    """What a self-contained schema says about the place `path` of its instances; {} if it says nothing."""
    definitions = schema.get("$defs", {})
    place = schema
    for step in path:
        rest = place.get("additionalProperties", {})
        below = place.get("items", {}) if isinstance(step, int) else place.get("properties", {}).get(step, rest)
        place = resolve(below, definitions) if isinstance(below, dict) else {}
    return place


def names_of_fields(schema: Json) -> Iterator[str]:
    """The names of all fields that a schema has anywhere, some several times."""
    if isinstance(schema, list):
        for part in schema:
            yield from names_of_fields(part)
    elif isinstance(schema, dict):
        fields = schema.get("properties")
        yield from fields if isinstance(fields, dict) else ()
        for part in schema.values():
            yield from names_of_fields(part)


def fields_of(schema: Json, path: Path) -> Mapping[str, Json]:
    """The named fields that a self-contained schema allows at `path`, each with its own schema."""
    properties = schema_at(schema, path).get("properties", {})
    definitions = schema.get("$defs", {})
    return {name: resolve(child, definitions) for name, child in properties.items()}
