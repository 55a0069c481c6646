"""Differences of values: by name where items have one, aligned elsewhere, inside texts that hold JSON."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.compare.phrases import difference_lines
from kservec.compare.values import differences
from kservec.core.diagnostics import NOT_SHOWN


def told(before: Any, after: Any) -> list[str]:
    """The differences as lines."""
    return [line for difference in differences(before, after) for line in difference_lines(difference)]


CASES: tuple[tuple[str, Any, Any, list[str]], ...] = (
    ("nothing", {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, []),
    ("a value", {"a": {"b": 1}}, {"a": {"b": 2}}, ["- a.b: 1", "+ a.b: 2"]),
    ("true is not 1", {"a": 1}, {"a": True}, ["- a: 1", "+ a: true"]),
    ("a text is not a number", {"a": "1"}, {"a": 1}, ["- a: 1", "+ a: 1"]),
    ("added and removed", {"a": 1}, {"b": None}, ["- a: 1", "+ b: null"]),
    ("an empty text", {"a": ""}, {"a": "x"}, ['- a: ""', "+ a: x"]),
    (
        "by name",
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"env": [{"name": "B", "value": "3"}]},
        ['- env[A]: {"name": "A", "value": "1"}', "- env[B].value: 2", "+ env[B].value: 3"],
    ),
    (
        "by port",
        {"ports": [{"containerPort": 1}, {"containerPort": 2}]},
        {"ports": [{"containerPort": 2}]},
        ['- ports[1]: {"containerPort": 1}'],
    ),
    (
        "another order",
        {"env": [{"name": "A"}, {"name": "B"}]},
        {"env": [{"name": "B"}, {"name": "A"}]},
        ['! env: the order is now ["B", "A"]'],
    ),
    (
        "twice the same name",
        {"env": [{"name": "A"}, {"name": "A"}]},
        {"env": [{"name": "A"}]},
        ['- env[1]: {"name": "A"}'],
    ),
    ("an argument more", {"args": ["a", "b"]}, {"args": ["x", "a", "b"]}, ["+ args[0]: x"]),
    ("an argument less", {"args": ["x", "a", "b"]}, {"args": ["a", "b"]}, ["- args[0]: x"]),
    (
        "a rule in front",
        {"rules": [{"m": 1}, {"m": 2}]},
        {"rules": [{"m": 0}, {"m": 1}, {"m": 2}]},
        ['+ rules[0]: {"m": 0}'],
    ),
    (
        "JSON in a text",
        {"data": {"a.json": '{"x": [1, 2], "y": 3}'}},
        {"data": {"a.json": '{"y": 4, "x": [1, 2]}'}},
        ['- data["a.json"] » y: 3', '+ data["a.json"] » y: 4'],
    ),
    ("JSON written otherwise", {"a": '{"x": 1}'}, {"a": '{ "x": 1 }'}, ['- a: {"x": 1}', '+ a: { "x": 1 }']),
    (
        "a long text",
        {"a": "one\ntwo\nthree\n"},
        {"a": "one\n2\nthree\n"},
        ["! a:", "    @@ -1,3 +1,3 @@", "    one", "-   two", "+   2", "    three"],
    ),
    ("a key with dots", {"l": {"a.b/c": "1"}}, {"l": {"a.b/c": "2"}}, ['- l["a.b/c"]: 1', '+ l["a.b/c"]: 2']),
    ("control characters", {"a": "x"}, {"a": "\x1b[2J"}, ["- a: x", "+ a: \\x1b[2J"]),
)


@pytest.mark.parametrize(("about", "before", "after", "lines"), CASES, ids=[case[0] for case in CASES])
def test_differences(about: str, before: Any, after: Any, lines: list[str]) -> None:
    """Each kind of difference is told once, at the place where it is."""
    del about
    assert told(before, after) == lines


def test_long_values_are_cut() -> None:
    """A line stays readable."""
    (line,) = told({}, {"a": "x y " * 300})
    assert (len(line) < 200, line.endswith("…")) == (True, True)


SECRETS: tuple[tuple[str, Any, Any], ...] = (
    (
        "a variable",
        {"env": [{"name": "HF_TOKEN", "value": "s3cr3t-a"}]},
        {"env": [{"name": "HF_TOKEN", "value": "s3cr3t-b"}]},
    ),
    ("a key", {"password": "s3cr3t-a"}, {"password": "s3cr3t-b"}),
    ("an argument", {"args": ["--api-key=s3cr3t-a"]}, {"args": ["--api-key=s3cr3t-b"]}),
    ("the argument after its flag", {"args": ["--api-key", "s3cr3t-a"]}, {"args": ["--api-key", "s3cr3t-b"]}),
    ("a URL", {"url": "https://u:s3cr3t-a@example.com"}, {"url": "https://u:s3cr3t-b@example.com"}),
    ("JSON in a text", {"a": '{"password": "s3cr3t-a", "n": 1}'}, {"a": '{"password": "s3cr3t-b", "n": 2}'}),
    ("lines of a text", {"a": "x: 1\npassword: s3cr3t-a\n"}, {"a": "x: 2\npassword: s3cr3t-b\n"}),
    ("what is added", {}, {"env": [{"name": "API_TOKEN", "value": "s3cr3t-a"}]}),
    ("what goes", {"c": {"d": {"secret_key": "s3cr3t-a"}}}, {}),
    (
        "a Secret",
        {"kind": "Secret", "data": {"a": "s3cr3t-a"}, "metadata": {"annotations": {"x": "s3cr3t-a"}}},
        {"kind": "Secret", "data": {"a": "s3cr3t-b"}, "metadata": {"annotations": {"x": "s3cr3t-b"}}},
    ),
    (
        "a token by its look",
        {"args": ["a", "hf_s3cr3tAAAAAAAAAAAAAAAAA"]},
        {"args": ["a", "hf_s3cr3tBBBBBBBBBBBBBBBBB"]},
    ),
)


@pytest.mark.parametrize(("about", "before", "after"), SECRETS, ids=[case[0] for case in SECRETS])
def test_credentials_are_told_and_not_shown(about: str, before: Any, after: Any) -> None:
    """That a credential changes is told; no report can get at its value, for the difference does not have it."""
    del about
    found = differences(before, after)
    assert found
    assert "s3cr3t" not in repr(found)
    assert NOT_SHOWN in repr(found) or "***" in repr(found)


@pytest.mark.parametrize(
    "value",
    [
        "0123456789abcdef0123456789abcdef01234567",
        "a" * 64,
        "s3://models/fraud/v7",
        "--workers=2",
        "registry.example.com/x@sha256:" + "0" * 64,
    ],
)
def test_what_is_no_credential_is_shown(value: str) -> None:
    """Digests and revisions look like keys and are none."""
    assert told({"a": "x"}, {"a": value})[1].startswith(f"+ a: {value[:40]}")
