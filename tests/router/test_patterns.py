"""Expressions for names of headers: they match what Python's do, in a time that no name makes long."""

from __future__ import annotations

import random
import re
import time

import pytest

from kservec_router.patterns import Pattern

PARTS = [
    "a",
    "b",
    "-",
    ".",
    "[a-c]",
    "[^a]",
    "[]a]",
    r"\d",
    r"\W",
    r"\x41",
    r"\.",
    "^",
    "$",
    r"\b",
    r"\B",
    r"\A",
    "(?:)",
]
REPEATS = ["", "", "", "*", "+", "?", "*?", "{2}", "{1,}", "{0,2}", "{1,3}?"]
SECONDS = 5
"""All of it takes well under one on an idle machine."""


def expression(chance: random.Random, depth: int = 3) -> str:
    """Some expression."""
    if depth == 0 or chance.random() < 0.4:
        part = chance.choice(PARTS)
        return part if part in ("^", "$", r"\b", r"\B", r"\A") else part + chance.choice(REPEATS)
    left, right = expression(chance, depth - 1), expression(chance, depth - 1)
    opened = chance.choice(["(", "(?:", "(?P<n%d>" % chance.randrange(10**9), "(?i:"])  # noqa: UP031 - braces are many
    return chance.choice([left + right, f"{left}|{right}", f"{opened}{left}){chance.choice(REPEATS)}{right}"])


@pytest.mark.parametrize("seed", range(20))
def test_the_same_matches_as_pythons(seed: int) -> None:
    """Where time does not matter, both find the same."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(40):
        text = expression(chance)
        ours, theirs = Pattern(text), re.compile(text, re.IGNORECASE | re.ASCII)
        for name in ("".join(chance.choices("abAc-.1", k=chance.randrange(1, 9))) for _ in range(12)):
            assert ours.found(name) == bool(theirs.search(name)), (text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("X-.*-Id$", "x-" * 32_000),
        ("^([a-z]+-?)+$", "x" * 60_000 + "!"),
        ("(x|x)*(x|xx)*y", "x" * 60_000),
        (".*a.*b.*c.*d", "abc" * 20_000),
        ("^(a?){30}a{30}$", "a" * 29),
    ],
)
def test_no_name_takes_long(text: str, name: str) -> None:
    """Names of which Python's search would not come back for seconds or years."""
    begun = time.process_time()
    assert not Pattern(text).found(name)
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "a{1001}",
        "(a{1000}){1000}",
        "((){1000}){1000}",
        "(?x)a",
        "a)",
        "(a",
        r"\u0041",
        r"\C",
        "a{1,99999999}",
        "\udc80",
    ],
)
def test_what_is_too_long_or_of_python_alone(text: str) -> None:
    """Neither is built."""
    with pytest.raises(ValueError):  # noqa: PT011 - the words are those of RE2
        Pattern(text)


@pytest.mark.parametrize(("text", "name"), [("^a{,2}$", "a{,2}"), ("[[:digit:]]{2}", "x-12"), (r"z\z", "z")])
def test_as_go_reads_it(text: str, name: str) -> None:
    """What Python reads in another way, or not at all."""
    assert Pattern(text).found(name)
