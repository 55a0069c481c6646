"""The form in which an API server stores an object, so that reading it back shows no other spelling.

Decides how quantities are written and which empty fields are left out. Must not know defaults (`schema.py` does), nor
what an object is for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.quantity import canonical
from kservec.core.strategic import omit_empty

if TYPE_CHECKING:
    from kservec.core.tree import Json

QUANTITIES: Final = frozenset((
    ("emptyDir", "sizeLimit"), ("resourceFieldRef", "divisor"), ("target", "averageValue"), ("target", "value"),
))  # fmt: skip
"""Fields that hold a quantity, named with the field that holds their struct."""

QUANTITY_MAPS: Final = frozenset((
    ("resources", "limits"), ("resources", "requests"), ("spec", "capacity"), ("spec", "overhead"),
))  # fmt: skip
"""The same for maps of quantities with free keys."""

OF_PODS: Final = frozenset(("containers", "initContainers", "volumes"))
"""Lists of a pod whose items every server and webhook takes through Go's types."""


def stored_form(value: Json, field_name: str = "") -> Json:
    """An object, or a part of one, with quantities and empty fields as they will be stored.

    What needs no change is returned as it is, not copied. What is no quantity stays, for others to refuse.

    Args:
        value: an object, or anything inside one.
        field_name: the field that holds `value`.
    """
    if value.__class__ is list:
        items = [stored_form(item, field_name) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if value.__class__ is not dict:
        return value
    stored = {name: _stored_field(child, field_name, name) for name, child in value.items()}
    return value if all(stored[name] is child for name, child in value.items()) else stored


def _stored_field(value: Json, holder: str, name: str) -> Json:
    if (holder, name) in QUANTITIES:
        return _stored_quantity(value)
    if (holder, name) in QUANTITY_MAPS and isinstance(value, dict):
        quantities = {key: _stored_quantity(quantity) for key, quantity in value.items()}
        return quantities if any(quantities[key] is not value[key] for key in value) else value
    if name in OF_PODS and isinstance(value, list):
        full = omit_empty(value, name)
        value = value if full == value else full
    return stored_form(value, name)


def _stored_quantity(value: Json) -> Json:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    try:
        written = canonical(value)
    except ValueError:
        return value
    return value if written == value else written
