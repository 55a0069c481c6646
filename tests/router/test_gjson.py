"""GJSON paths: recorded answers of the original, our own table, and what must hold for any document."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import libyaml

from kservec_router.gjson import DEEPEST, Document, compile_condition, get, valid
from kservec_router.gjson.result import parse_float, shortest
from kservec_router.gjson.wildcard import matches

ROOT = Path(__file__).parents[2]
RECORDED = Path(os.environ.get("KSERVEC_CONFORMANCE", ROOT.parent / "shared" / "conformance")) / "gjson.json"
NAMES = {"NULL": "Null", "FALSE": "False", "NUMBER": "Number", "STRING": "String", "TRUE": "True", "JSON": "JSON"}
TABLE = [
    (group["json"], str(path), found)
    for group in libyaml.load((Path(__file__).parent / "gjson.yaml").read_text())
    for path, found in group["paths"].items()
]


def test_every_recorded_path_finds_what_the_original_finds() -> None:
    """Existence, type, raw text and string of each recorded vector are the same."""
    if not RECORDED.exists():
        pytest.skip("the recorded vectors are not here")
    cases = json.loads(RECORDED.read_text())["cases"]
    wrong = []
    for case in cases:
        found = get(case["json"].encode(), case["path"].encode())
        mine = (found.exists, NAMES[found.kind.name], found.raw.decode(), found.as_text().decode())
        if mine != (case["exists"], case["type"], case["raw"], case["str"]):
            wrong.append((case["path"], mine))
    assert len(cases) > 100
    assert wrong == []


@pytest.mark.parametrize(("document", "path", "found"), TABLE, ids=lambda value: str(value)[:40])
def test_a_path_finds_what_the_table_says(document: str, path: str, found: str | None) -> None:
    """The raw text of what is found is the table's; nothing is found where it says null."""
    result = get(document.encode(), path.encode())
    assert (result.raw.decode() if result.exists else None) == found


keys = st.sampled_from(["a", "b", "kind", "0", "1"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["a", "1", "true"])
)
documents = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
plain_paths = st.lists(keys, min_size=1, max_size=3).map(".".join)
comparisons = st.sampled_from(["", "==", "!=", "<", "<=", ">", ">="])
rights = st.sampled_from(['"a"', "a", "1", '"1"', "true", "false", "1.5", "x"])
conditions = plain_paths | st.builds(
    lambda path, comparison, right: f"[@this].#({path}{comparison}{right if comparison else ''})",
    plain_paths,
    comparisons,
    rights,
)


@given(documents, conditions, st.booleans())
@settings(max_examples=300, deadline=None)
def test_the_fast_test_of_a_condition_says_what_the_walk_says(document: Any, text: str, repeat: bool) -> None:
    """A condition compiled to a test on the parsed document holds exactly when its path finds something in the text."""
    body = json.dumps(document).encode()
    if repeat:
        body = body.replace(b'"b"', b'"a"')
    condition = compile_condition(text)
    assert condition.test is not None
    assert condition.holds(Document(body)) is get(body, text.encode()).exists


@given(documents)
@settings(max_examples=100, deadline=None)
def test_json_is_valid_and_its_beginning_is_not(document: Any) -> None:
    """What json.dumps writes is valid; without its last byte it is not, unless it was a number."""
    body = json.dumps(document).encode()
    assert valid(body)
    if not isinstance(document, int | float) or isinstance(document, bool):
        assert not valid(body[:-1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1,]",
        '{"a":1,}',
        "01",
        "1.",
        "-",
        "+1",
        "nul",
        '"\x01"',
        '"\\x"',
        "[1}",
        "1 2",
        '{"a"}',
        "{1:2}",
        "NaN",
    ],
)
def test_what_is_not_json_is_not_valid(text: str) -> None:
    """Common mistakes are found."""
    assert not valid(text.encode())


def test_bytes_that_are_no_utf8_are_no_mistake_in_a_string() -> None:
    """As the original, validity does not mind which bytes stand in strings, nor lone surrogates."""
    assert valid(b'{"k":"\xff"}')
    assert valid(rb'"\ud800"')
    assert get(b'{"k":"\xff"}', b"k").exists


def test_depth_costs_no_recursion() -> None:
    """A document of 200,000 levels is walked, one of 1,000 flattened; too deep for a Switch, both are no crash."""
    deep = b"[" * 200_000 + b"]" * 200_000
    assert valid(deep)
    assert get(deep, b"#").raw == b"1"
    assert get(deep[199_000:-199_000], b'@flatten:{"deep":true}').raw == b"[]"
    assert not Document(deep).is_json
    assert Document(b"[" * DEEPEST + b"]" * DEEPEST).is_json


def test_hard_patterns_take_no_time() -> None:
    """A pattern with many stars on a long text that just fails to match is answered at once."""
    begin = time.perf_counter()
    assert not matches(b"a" * 20_000, b"*a" * 15 + b"b")
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize(
    ("text", "pattern", "same"),
    [
        ("", "", True), ("a", "", False), ("", "*", True), ("abc", "a*c", True), ("abc", "a?c", True),
        ("ac", "a?c", False),
        ("abcabc", "*abc", True), ("abcab", "*abc", False), ("a*c", "a\\*c", True), ("abc", "a\\*c", False),
        ("a\nb", "a?b", True), ("\u00fc", "?", True), ("x.y", "x.y", True), ("xzy", "x.y", False), ("a", "a\\", False),
        ("aXbYc", "a*b*c", True), ("acb", "a*b*c", False),
    ],
)  # fmt: skip
def test_wildcards(text: str, pattern: str, same: bool) -> None:
    """A star is any text, a question mark one character, a backslash takes the next one literally."""
    assert matches(text.encode(), pattern.encode()) is same


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        ("-1.5e3", -1500.0),
        ("", 0.0),
        ("x", 0.0),
        ("1_0", 0.0),
        (" 1", 0.0),
        ("0x1p4", 16.0),
        ("1e999", float("inf")),
        ("inf", float("inf")),
    ],
)  # fmt: skip
def test_numbers_are_read_as_go_reads_them(text: str, number: float) -> None:
    """What Go's strconv.ParseFloat does not take is 0, and what is too large an infinity."""
    assert parse_float(text.encode()) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.5, "1.5"),
        (1e21, "1000000000000000000000"),
        (1e-7, "0.0000001"),
        (-2.5e-8, "-0.000000025"),
        (1.25e20, "125000000000000000000"),
        (float("inf"), "+Inf"),
    ],
)  # fmt: skip
def test_numbers_are_written_without_exponents(number: float, text: str) -> None:
    """As Go's 'f' format with the shortest precision."""
    assert shortest(number).decode() == text
