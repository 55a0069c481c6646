"""The form in which an API server stores an object, so that reading it back shows no difference.

Decides how quantities are written and where defaults are filled in. Must not know any kind: a plan, made from the
schema of the kind, says where what is due.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from jsonschema_rs import Draft202012Validator, RegexOptions

from kservec.core.quantity import canonical
from kservec.core.schemas.conjunction import both

if TYPE_CHECKING:
    from kservec.core.schemas.structure import Plan
    from kservec.core.tree import Json

Store: TypeAlias = "Callable[[Json], Json]"
"""What brings a value into its stored form. What needs no change is returned as it is, not copied."""
PLAIN_QUANTITY = "^(?:[1-9][0-9]{0,2}[KMGT]i|(?:[1-9][0-9]{0,2}|[1-9][0-9]{0,9}[1-9][0-9]{0,2})[numkMGT]?)$"
"""A regular expression of quantities that are canonical."""
NOT_NULL = {"type": ["array", "boolean", "number", "object", "string"]}


def storing(plan: Plan) -> Store:
    """What brings the values of a plan into their stored form.

    Quantities become canonical, also those of custom resources, for the webhooks of theirs that are met here take them
    through Go's types. What is no quantity stays, for others to refuse. Most values have their stored form already,
    which a validator tells in a fraction of the time that the walk takes.
    """
    is_stored = Draft202012Validator(stored_schema(plan), pattern_options=RegexOptions()).is_valid
    change = changing(plan)
    return lambda value: value if is_stored(value) else change(value)


def stored_schema(plan: Plan) -> Json:
    """The JSON Schema of values of a plan that surely have their stored form. It may miss some."""
    if plan.is_quantity:
        return {"type": "string", "pattern": PLAIN_QUANTITY}
    if plan.items is not None:
        return {"items": stored_schema(plan.items)}
    below = {name: stored_schema(field) for name, field in plan.fields.items() if is_due(field)}
    rest = {} if plan.rest is None else {"additionalProperties": stored_schema(plan.rest)}
    names = [name for name, _ in plan.defaults]
    other = rest.get("additionalProperties", True)
    given = {name: both(below.get(name, other), NOT_NULL) for name in names}
    return {"properties": {**below, **given}, "required": names, **rest}


def changing(plan: Plan) -> Store:
    """What walks the values of a plan and changes what has another form."""
    if plan.is_quantity:
        return stored_quantity
    if plan.items is not None:
        return _storing_items(changing(plan.items), plan.items.only_fields(is_due))
    fields = {name: changing(below) for name, below in plan.fields.items() if is_due(below)}
    return _storing_map(fields, changing(plan.rest) if plan.rest is not None else None, plan.defaults)


def is_due(plan: Plan) -> bool:
    """Whether there is something to store in another form."""
    return plan.measures or plan.fills


def _storing_map(fields: Mapping[str, Store], rest: Store | None, defaults: tuple[tuple[str, Json], ...]) -> Store:
    if rest is None:
        return _storing_fields(tuple(fields.items()), defaults)

    def stored(value: Json) -> Json:
        if value.__class__ is not dict:
            return value
        changed = {}
        for name, default in defaults:
            if value.get(name) is None:
                changed[name] = default  # noqa: PERF403 - a comprehension would be one call more
        for name, child in value.items():
            store = fields.get(name, rest)
            if (new := store(child)) is not child:
                changed[name] = new
        return {**value, **changed} if changed else value

    return stored


def _storing_fields(fields: Sequence[tuple[str, Store]], defaults: tuple[tuple[str, Json], ...]) -> Store:
    def stored(value: Json) -> Json:
        if value.__class__ is not dict:
            return value
        changed = {}
        for name, default in defaults:
            if value.get(name) is None:
                changed[name] = default  # noqa: PERF403 - a comprehension would be one call more
        for name, store in fields:
            child = value.get(name)
            if child is not None and (new := store(child)) is not child:
                changed[name] = new
        return {**value, **changed} if changed else value

    return stored


def _storing_items(store: Store, needed: frozenset[str] | None) -> Store:
    def stored(value: Json) -> Json:
        if value.__class__ is not list:
            return value
        items = value
        for i, item in enumerate(value):
            if needed is not None and item.__class__ is dict and needed.isdisjoint(item):
                continue
            if (new := store(item)) is not item:
                items = items.copy() if items is value else items
                items[i] = new
        return items

    return stored


def as_it_is(value: Json) -> Json:
    """The stored form of what has nothing to be changed."""
    return value


def stored_quantity(value: Json) -> Json:
    """A quantity as it will be stored; what is none stays as it is."""
    try:
        written = canonical(value)
    except ValueError:
        return value
    return value if written == value else written
