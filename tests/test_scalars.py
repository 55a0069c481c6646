"""Unquoted scalars: what Kubernetes takes each spelling for, as values and as keys."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.text.scalars import BadNumberError, key_text, resolve
from kservec.core.text.source import parse

BOOLEANS = {"y Y yes Yes YES true True TRUE on On ON": True, "n N no No NO false False FALSE off Off OFF": False}
SCALARS = {
    **{word: value for words, value in BOOLEANS.items() for word in words.split()},
    **dict.fromkeys(("", "~", "null", "Null", "NULL", "# comment"), None),
    "0": 0,
    "-0": 0,
    "+12": 12,
    "017": 15,
    "0o17": 15,
    "0O17": 15,
    "-0o17": -15,
    "0_7": 7,
    "0x1F": 31,
    "-0x1f": -31,
    "0b11": 3,
    "0B11": 3,
    "1_000": 1000,
    "1__0": 10,
    "1_": 1,
    "+_1": 1,
    "08": 8,
    "-08": -8,
    "0_8": 8,
    "1e3": 1000,
    "1E+3": 1000,
    "5.": 5,
    "1.0": 1,
    "1.e3": 1000,
    "08.5": 8.5,
    "-.5": -0.5,
    ".5_0": 0.5,
    "0.1e-7": 1e-8,
    "1e20": 1e20,
    "1_0.5": 10.5,
    "-922337203685477580.": -922337203685477600,
    "9223372036854775807": 2**63 - 1,
    "-9223372036854775808": -(2**63),
    **{text: text for text in ("12:30", "1:2:3", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "nan", "inf", "tRue")},
    **{text: text for text in ("1e400", "0x", "0b12", "0o18", "0x1p4", "+", ".", "..", ".e3", "._5", "1.2.3", "_1")},
    **{text: text for text in ("0xFFFFFFFFFFFFFFFFFF", "1Gi", "500m", "25%", "٣", "b#c", "a:b", "- ".strip() + "x")},
    "!!str 5": "5",
    "!!str": "",
    '!!int "5"': 5,
    "!!float 1": 1,
    "!!bool 'yes'": True,
    "!!null ''": None,
    "!!binary aGk=": "hi",
    "!!timestamp 2001-01-01": "2001-01-01",
    "'on'": "on",
    '"1e3"': "1e3",
    '"\\/\\x41"': "/A",
    "|\n    x\n     y\n\n": "x\n y\n",
    ">-\n    x\n    y\n": "x y",
    "!!map {b: [1, ~]}": {"b": [1, None]},
    "[a, 'b'] # c": ["a", "b"],
}
KEYS = {
    "on": "true", "N": "false", "1": "1", "017": "15", "1.0": "1", "1.5": "1.5", "0.1": "0.1", "1e6": "1e+06",
    "1e5": "100000", "1234567.5": "1.2345675e+06", "0.00001": "1e-05", "1e39": ".inf", ".NaN": ".nan", "-0.0": "-0",
    "2001-01-01": "2001-01-01", "!!str 5": "5", "'~'": "~", "'<<'": "<<", "a b": "a b", "!!int '010'": "8",
}  # fmt: skip


def read(text: str) -> Any:
    """The value of the one document in a text."""
    (document,), findings = parse(text.encode(), "f.yaml")
    assert not findings
    return document.value


@pytest.mark.parametrize(("text", "expected"), SCALARS.items())
def test_scalars_are_what_kubernetes_takes_them_for(text: str, expected: Any) -> None:
    """Each spelling gives the value, and the type, that sigs.k8s.io/yaml gives it."""
    value = read(f"a: {text}\n")["a"]
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(("text", "expected"), KEYS.items())
def test_keys_become_text_as_in_kubernetes(text: str, expected: str) -> None:
    """Truth values and numbers are keys in the spelling that sigs.k8s.io/yaml gives them."""
    assert read(f"{text}: x\n") == {expected: "x"}


@pytest.mark.parametrize("text", [".inf", "-.INF", "+.Inf", ".nan", "9223372036854775808", "-9223372036854775809"])
def test_numbers_that_json_or_kubernetes_cannot_hold(text: str) -> None:
    """They are refused rather than rounded, and the error does not repeat what may be a secret."""
    with pytest.raises(BadNumberError) as error:
        resolve(text)
    assert text not in str(error.value)


def test_digits_without_end() -> None:
    """Thousands of digits are beyond any number, and so text, as in Go; a few too many are an error."""
    assert resolve("9" * 5000) == "9" * 5000
    with pytest.raises(BadNumberError, match="64 bits"):
        resolve("9" * 300)


def test_null_is_no_key() -> None:
    """There is no text for a null key."""
    assert [key_text(text) for text in ("", "~", "null")] == [None] * 3
