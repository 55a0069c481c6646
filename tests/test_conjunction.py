"""Two schemas in one: it takes what both take, and nothing else."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from kservec.core.schemas.conjunction import both, conjunction

SCHEMAS: tuple[Any, ...] = (
    True,
    False,
    {},
    {"type": "object"},
    {"type": ["object", "array"]},
    {"properties": {"a": {"type": "integer", "minimum": 1}}},
    {"properties": {"a": {"minimum": 2}, "b": False}, "required": ["a"]},
    {"properties": {"a": True}, "required": ["b", "a"]},
    {"additionalProperties": {"type": "string"}},
    {"properties": {"b": True}, "additionalProperties": False},
    {"patternProperties": {"^a": {"type": "string"}}},
    {"propertyNames": {"enum": ["a"]}},
    {"items": {"type": "integer"}},
    {"items": {"minimum": 2}, "maxItems": 1},
    {"items": False},
    {"maxItems": 2},
    {"allOf": [{"minItems": 1}]},
    {"allOf": [{"minProperties": 1}], "anyOf": [{"required": ["a"]}, {"type": "array"}]},
    {"anyOf": [{"required": ["b"]}, {"maxItems": 1}]},
)
VALUES: tuple[Any, ...] = (
    None, 1, "a", {}, {"a": 0}, {"a": 1}, {"a": 2}, {"a": "x"}, {"b": 1}, {"b": "x"}, {"a": 2, "b": "x"},
    {"a": "x", "b": "x"}, {"c": 1}, {"a": 2, "c": 1}, [], [1], [2], [2, 2], ["a"], [2, 2, 2],
)  # fmt: skip


@pytest.mark.parametrize(("left", "right"), [*product(SCHEMAS, SCHEMAS)])
def test_both_takes_what_each_of_two_takes(left: Any, right: Any) -> None:
    """Whatever keywords stand in the two."""
    one, other, together = (Draft202012Validator(schema).is_valid for schema in (left, right, both(left, right)))
    assert [together(value) for value in VALUES] == [one(value) and other(value) for value in VALUES]


def test_what_can_be_said_in_one_is_walked_once() -> None:
    """Fields and items of several schemas are those of one; only what contradicts stands apart."""
    schemas = [{"properties": {"a": {"items": {"minimum": n}}}} for n in (1, 1, 2)]
    assert conjunction(schemas) == {"properties": {"a": {"items": {"minimum": 1, "allOf": [{"minimum": 2}]}}}}
    assert conjunction([]) is True
