"""The form in which an API server stores an object, so that reading it back shows no difference.

Decides how quantities are written, which empty fields are left out and where defaults are filled in. Must not know any
kind: a plan, made from the schema of the kind, says where what is due.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Final

from kservec.core.quantity import canonical
from kservec.core.strategic import omit_empty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.structure import Plan
    from kservec.core.tree import Json

OF_PODS: Final = frozenset(("containers", "initContainers", "volumes"))
"""Lists of a pod whose items every server and webhook takes through Go's types, which drop what is empty."""


def stored_form(value: Json, plan: Plan | None) -> Json:
    """An object, or a part of one, as it will be stored. What needs no change is returned as it is, not copied.

    Quantities become canonical, also those of custom resources, for the webhooks of theirs that are met here take them
    through Go's types. What is no quantity stays, for others to refuse.

    Args:
        value: an object, or anything inside one.
        plan: what the schema of the kind says of `value`.
    """
    if plan is None or not (plan.measures or plan.fills):
        return value
    if plan.is_quantity:
        return _stored_quantity(value)
    if value.__class__ is dict:
        return _stored_map(value, plan)
    if value.__class__ is list and plan.items is not None:
        items = [stored_form(item, plan.items) for item in value]
        return value if all(map(is_, items, value)) else items
    return value


def _stored_map(value: dict[str, Json], plan: Plan) -> dict[str, Json]:
    changed = dict(_missing(value, plan)) if plan.defaults else {}
    fields, rest = plan.fields, plan.rest
    for name, child in value.items():
        below = fields.get(name, rest)
        if below is None or name in changed:
            continue
        stored = stored_form(_full_items(child, name) if name in OF_PODS else child, below)
        if stored is not child:
            changed[name] = stored
    return {**value, **changed} if changed else value


def _missing(value: dict[str, Json], plan: Plan) -> Iterator[tuple[str, Json]]:
    return (default for default in plan.defaults if value.get(default[0]) is None)


def _full_items(items: Json, field_name: str) -> Json:
    full = omit_empty(items, field_name)
    return items if full == items else full


def _stored_quantity(value: Json) -> Json:
    try:
        written = canonical(value)
    except ValueError:
        return value
    return value if written == value else written
