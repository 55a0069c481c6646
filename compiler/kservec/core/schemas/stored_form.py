"""The form in which an API server stores an object, so that reading it back shows no difference.

Decides how quantities are written and where defaults are filled in. Must not know any
kind: a plan, made from the schema of the kind, says where what is due.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kservec.core.quantity import canonical

if TYPE_CHECKING:
    from kservec.core.schemas.structure import Plan
    from kservec.core.tree import Json

Store: TypeAlias = "Callable[[Json], Json]"
"""What brings a value into its stored form. What needs no change is returned as it is, not copied."""


def storing(plan: Plan) -> Store:
    """What brings the values of a plan into their stored form.

    Quantities become canonical, also those of custom resources, for the webhooks of theirs that are met here take them
    through Go's types. What is no quantity stays, for others to refuse.
    """
    if plan.is_quantity:
        return stored_quantity
    if plan.items is not None:
        return _storing_items(storing(plan.items), plan.items.only_fields(is_due))
    fields = {name: storing(below) for name, below in plan.fields.items() if is_due(below)}
    return _storing_map(fields, storing(plan.rest) if plan.rest is not None else None, plan.defaults)


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


def stored_quantity(value: Json) -> Json:
    """A quantity as it will be stored; what is none stays as it is."""
    try:
        written = canonical(value)
    except ValueError:
        return value
    return value if written == value else written
