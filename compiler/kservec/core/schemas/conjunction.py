"""Two JSON Schemas in one: what takes a value that both take, and walks it once.

Decides how keywords of two schemas go together. Must not know what any schema is for.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kservec.core.tree import Json

_REST = "additionalProperties"
_NAMED = frozenset({_REST, "properties", "patternProperties"})
"""What fields are judged by the first of these keywords depends on the others beside it."""


def conjunction(schemas: Iterable[Json]) -> Json:
    """The schema of values that fit all schemas."""
    return reduce(both, schemas, True)


def both(left: Json, right: Json) -> Json:
    """The schema of values that fit two schemas. What cannot be said in one stands in `allOf`."""
    if left is True or right is False:
        return right
    if right is True or left is False:
        return left
    if (_REST in left and not _NAMED.isdisjoint(right)) or (_REST in right and not _NAMED.isdisjoint(left)):
        return {"allOf": [left, right]}
    joined, apart = {**left}, {}
    for keyword, value in right.items():
        if keyword not in joined:
            joined[keyword] = value
        elif keyword == "properties":
            named = joined[keyword]
            joined[keyword] = {**named, **{name: both(named.get(name, True), one) for name, one in value.items()}}
        elif keyword == "items":
            joined[keyword] = both(joined[keyword], value)
        elif keyword in ("allOf", "required"):
            joined[keyword] = [*joined[keyword], *(one for one in value if one not in joined[keyword])]
        elif joined[keyword] != value:
            apart[keyword] = value
    return both(joined, {"allOf": [apart]}) if apart else joined
