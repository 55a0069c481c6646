"""Widening an upgrade: what is added to `only`, wherever and however it stands."""

from __future__ import annotations

import pytest
from tests import libyaml

from kservec.edits.upgrade import widened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('upgrade: {kserve: "0.21"}\n', 'upgrade: {kserve: "0.21", only: ["ml"]}\n'),
        ('upgrade: {kserve: "0.21", only: []}\n', 'upgrade: {kserve: "0.21", only: ["ml"]}\n'),
        ('upgrade: {only: [], kserve: "0.21"}\n', 'upgrade: {kserve: "0.21", only: ["ml"]}\n'),
        ("upgrade:\n  only: []\n  kserve: x # next\n", "upgrade:\n  kserve: x # next\n  only:\n  - ml\n"),
        ("upgrade:\n  kserve: x\n  only: [a]\n", 'upgrade:\n  kserve: x\n  only: [a, "ml"]\n'),
        ("upgrade:\n  kserve: x\n  only:\n    - a\n", "upgrade:\n  kserve: x\n  only:\n    - a\n    - ml\n"),
        ("upgrade:\n  kserve: x\n  only: [ml]\n", "upgrade:\n  kserve: x\n  only: [ml]\n"),
    ],
)
def test_a_selection_is_added(text: str, expected: str) -> None:
    """Whether there is a list, an empty one as `kservec init` shows it, or none; the rest of the text stays."""
    made = widened(text, libyaml.load(text), ("upgrade",), ["ml"])
    assert libyaml.load(made) == libyaml.load(expected)
    assert made == expected
