"""YAML as sigs.k8s.io/yaml writes it; the texts were written by its version 1.6.0."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.golang.yaml_text import shortest, yaml_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [{"z": 1, "y": []}, {}]}, 'a:\n- "y": []\n  z: 1\n- {}\nb: 1\n'),
        ({"a10": 1, "a9": 2, "a": 3, "_": 4, "B": 5}, "_: 4\nB: 5\na: 3\na9: 2\na10: 1\n"),
        ({"t": "yes"}, 't: "yes"\n'),
        ({"t": "012"}, 't: "012"\n'),
        ({"t": "12:30"}, 't: "12:30"\n'),
        ({"t": "2001-01-01"}, 't: "2001-01-01"\n'),
        ({"t": "99999999999999999999"}, 't: "99999999999999999999"\n'),
        ({"t": ""}, 't: ""\n'),
        ({"t": "a: b"}, "t: 'a: b'\n"),
        ({"t": "- x"}, "t: '- x'\n"),
        ({"t": "--flag"}, "t: --flag\n"),
        ({"t": "tab\tin"}, 't: "tab\\tin"\n'),
        ({"t": "<<"}, "t: <<\n"),
        ({"t": "a\n  b\n"}, "t: |\n  a\n    b\n"),
        ({"t": "a\n\n"}, "t: |+\n  a\n\n"),
        ({"t": "word " * 20}, f"t: '{'word ' * 15}word\n  {'word ' * 4}'\n"),
        ({"n": None, "t": True, "f": 2.5, "w": 3.0, "i": 7}, 'f: 2.5\ni: 7\n"n": null\nt: true\nw: 3\n'),
    ],
)
def test_a_value_is_written_as_go_writes_it(value: Any, text: str) -> None:
    """Keys are in their natural order, and text is quoted only where go-yaml would quote it."""
    assert yaml_text(value) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.1"),
        (123456.5, "123456.5"),
        (1234567.5, "1.2345675e+06"),
        (1e-05, "1e-05"),
        (1e21, "1e+21"),
        (-0.5, "-0.5"),
    ],
)
def test_a_float_has_the_fewest_digits(number: float, text: str) -> None:
    """Large and small numbers have an exponent of at least two digits."""
    assert shortest(number) == text
