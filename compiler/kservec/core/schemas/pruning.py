"""Pruning: the fields that the schema of a kind does not have, which an API server drops without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.schemas.structure import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.tree import Json, Path


def stray_fields(value: Json, schema: Json) -> Iterator[Path]:
    """The paths of the fields that a schema does not have, outermost only, in the order of the value.

    Args:
        value: an object, or a part of one.
        schema: what describes that part; its references lead into its own `$defs`.
    """
    yield from _strays(value, schema, schema.get("$defs", {}), ())


def _strays(value: Json, schema: Json, definitions: Mapping[str, Json], path: Path) -> Iterator[Path]:
    schema = resolve(schema, definitions)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from _strays(item, schema["items"], definitions, (*path, i))
    elif isinstance(value, dict) and "properties" in schema:
        is_closed = schema.get("additionalProperties") is False
        for name, child in value.items():
            below = schema["properties"].get(name)
            if below is not None:
                yield from _strays(child, below, definitions, (*path, name))
            elif is_closed:
                yield (*path, name)
