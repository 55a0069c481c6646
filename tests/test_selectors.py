"""Label selectors, and the expressions that they share with terms of node affinity."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.selectors import satisfies, selects

LABELS = {"app": "chat", "gpus": "8", "odd": "--5"}


@pytest.mark.parametrize(
    ("key", "operator", "values", "expected"),
    [
        ("app", "In", ["chat", "other"], True),
        ("app", "In", ["other"], False),
        ("none", "In", ["chat"], False),
        ("app", "NotIn", ["chat"], False),
        ("app", "NotIn", ["other"], True),
        ("none", "NotIn", ["chat"], True),
        ("app", "Exists", None, True),
        ("none", "Exists", None, False),
        ("app", "DoesNotExist", None, False),
        ("none", "DoesNotExist", None, True),
        ("gpus", "Gt", ["4"], True),
        ("gpus", "Gt", ["8"], False),
        ("gpus", "Gt", ["-1"], True),
        ("gpus", "Lt", ["9"], True),
        ("gpus", "Lt", ["8"], False),
        ("gpus", "Gt", ["x"], False),
        ("app", "Gt", ["1"], False),
        ("odd", "Lt", ["1"], False),
        ("none", "Gt", ["1"], False),
        ("none", "Lt", ["1"], False),
    ],
)
def test_expressions(key: str, operator: str, values: list[str] | None, expected: bool) -> None:
    """A label that is not there is in no set, and what is no number is neither more nor less."""
    assert satisfies(LABELS, {"key": key, "operator": operator, "values": values}) is expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, True),
        ({"matchLabels": {"app": "chat"}}, True),
        ({"matchLabels": {"app": "chat", "gpus": "4"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["chat"]}]}, True),
        ({"matchLabels": {"app": "chat"}, "matchExpressions": [{"key": "gpus", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_selectors(selector: Any, expected: bool) -> None:
    """Labels and expressions count together."""
    assert selects(selector, LABELS) is expected
