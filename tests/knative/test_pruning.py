"""Fields that a schema does not have."""

from __future__ import annotations

import pytest

from kservec.core.schemas.pruning import stray_fields

SCHEMA = {
    "properties": {
        "spec": {"$ref": "#/$defs/spec"},
        "open": {"properties": {"a": {}}},
        "free": {"additionalProperties": {"type": "string"}},
    },
    "additionalProperties": False,
    "$defs": {
        "spec": {
            "properties": {
                "items": {"items": {"properties": {"name": {}}, "additionalProperties": False}},
            },
            "additionalProperties": False,
        }
    },
}


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ({}, []),
        ({"x": 1}, [("x",)]),
        ({"spec": {"y": {"z": 1}}}, [("spec", "y")]),
        ({"spec": {"items": [{"name": 1}, {"name": 2, "x": 1}]}}, [("spec", "items", 1, "x")]),
        ({"open": {"b": 1}, "free": {"b": "c"}}, []),
        ({"spec": None}, []),
    ],
)
def test_stray_fields(value, paths):
    """Outermost unknown fields of closed objects; open ones and free maps have none."""
    assert list(stray_fields(value, SCHEMA)) == paths
