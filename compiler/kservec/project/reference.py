"""Reference: what the JSON Schema of one of our own documents says about each of its fields.

The docs and the file that `kservec init` writes are made from it, so that neither can say anything else. Pure: a schema
in, values out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kservec.core.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Schema = dict[str, Any]

TYPES = {"string": "text", "boolean": "true or false", "integer": "a whole number", "number": "a number"}
"""Types of JSON, as people call them."""


@record
class Option:
    """A field of a document.

    `path` are the names that lead to it; `kind` says what it takes; `default` is its value where it is left out, None
    where there is none; `takes_null`: null is the same as leaving it out; `example` is another value that it may have.
    `inner` are the fields of a mapping with fixed names, `values` those of each item of a list, or of each value of a
    mapping whose names are free.
    """

    path: tuple[str, ...]
    kind: str
    description: str = ""
    required: bool = False
    takes_null: bool = False
    default: Any = None
    example: Any = None
    inner: tuple[Option, ...] = ()
    values: tuple[Option, ...] = ()

    @property
    def name(self) -> str:
        """The last name of its path."""
        return self.path[-1]


def options_of(schema: Schema) -> tuple[Option, ...]:
    """The fields of a document in the order of its schema."""
    return tuple(fields(schema, schema.get("$defs", {}), ()))


def fields(schema: Schema, types: Mapping[str, Schema], at: tuple[str, ...]) -> Iterator[Option]:
    """The fields of a mapping with fixed names."""
    for name, child in schema.get("properties", {}).items():
        yield option(child, types, (*at, name), required=name in schema.get("required", ()))


def option(given: Schema, types: Mapping[str, Schema], path: tuple[str, ...], *, required: bool) -> Option:
    """One field."""
    schema = resolved(given, types)
    free = free_part(schema, types)
    return Option(
        path=path,
        kind=kind_of(schema, types),
        description=str(given.get("description", schema.get("description", ""))),
        required=required,
        takes_null=any(choice.get("type") == "null" for choice in given.get("anyOf", ())),
        default=given.get("default", schema.get("const") if required else None),
        example=next(iter(given.get("examples", ())), None),
        inner=tuple(fields(schema, types, path)),
        values=tuple(fields(free, types, (*path, "*"))),
    )


def free_part(schema: Schema, types: Mapping[str, Schema]) -> Schema:
    """The schema of each item of a list, or of each value of a mapping."""
    part = schema.get("items", schema.get("additionalProperties"))
    return resolved(part, types) if isinstance(part, dict) else {}


def resolved(schema: Schema, types: Mapping[str, Schema]) -> Schema:
    """A schema without a reference, and without the null that stands for leaving a field out."""
    while True:
        if "$ref" in schema:
            schema = types[schema["$ref"].rpartition("/")[2]]
            continue
        choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
        if len(choices) != 1:
            return schema
        schema = choices[0]


def kind_of(schema: Schema, types: Mapping[str, Schema]) -> str:
    """What a field takes, in words."""
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind_of(resolved(choice, types), types) for choice in schema["anyOf"]))
    if schema.get("type") == "array":
        return list_kind(free_part(schema, types), types)
    if schema.get("type") == "object":
        free = free_part(schema, types)
        return f"a mapping of {several(free, types)}" if free else "a mapping"
    return TYPES.get(schema.get("type", ""), "anything")


def list_kind(item: Schema, types: Mapping[str, Schema]) -> str:
    """What a list takes, in words."""
    return f"a list of {several(item, types)}"


def several(schema: Schema, types: Mapping[str, Schema]) -> str:
    """What the items of a list or the values of a mapping are, in words."""
    kind = kind_of(schema, types)
    return {"a mapping": "mappings", "text": "texts", "a whole number": "whole numbers", "anything": "anything"}.get(
        kind, kind
    )
