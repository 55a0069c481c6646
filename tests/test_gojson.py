"""JSON as Go writes it: recorded encodings and the rules one by one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from kservec.core.golang.encoding import encode, number, quote

VECTORS = json.loads((Path(__file__).parent / "vectors" / "gojson.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_encodes_as_go_does(vector: dict[str, Any]) -> None:
    """Every recorded value has the recorded text."""
    assert encode(vector["value"]) == vector["text"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<b>&c", r'"a\u003cb\u003e\u0026c"'),
        ('"\\/', r'"\"\\/"'),
        ("\b\f\n\r\t\x00\x1f\x7f", '"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f"'),
        ("\u2028\u2029é😀", '"\\u2028\\u2029é😀"'),
        ("\ud800x", r'"\ufffdx"'),
    ],
)
def test_strings(text: str, expected: str) -> None:
    """HTML characters, line separators and lone surrogates are escaped, everything else is as short as can be."""
    assert quote(text) == expected


def test_without_html_escapes() -> None:
    """An encoder may leave HTML characters alone; line separators are escaped even then."""
    assert encode(["<&>", "\u2028"], html=False) == '["<&>","\\u2028"]'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1"), (0.1, "0.1"), (1e20, "100000000000000000000"), (1e21, "1e+21"), (1e-6, "0.000001"), (1e-7, "1e-7"),
        (1.5e-10, "1.5e-10"), (-0.0, "-0"), (123456789012345670000.0, "123456789012345670000"), (5e-324, "5e-324"),
    ],
)  # fmt: skip
def test_floats(value: float, expected: str) -> None:
    """Shortest digits; an exponent only below 1e-6 and from 1e21."""
    assert number(value) == expected


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_has_no_json(value: float) -> None:
    """Infinities and NaN are refused."""
    with pytest.raises(ValueError, match="has no JSON"):
        encode({"a": [value]})


def test_maps_are_sorted_and_compact() -> None:
    """Keys come in code point order, whatever the order they were made in."""
    assert encode({"b": [], "a": {}, "B": None, "é": [True, False, 3]}) == '{"B":null,"a":{},"b":[],"é":[true,false,3]}'
