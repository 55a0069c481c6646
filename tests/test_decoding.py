"""JSON inside documents: what Go takes, and no more than the compiler can hold."""

from __future__ import annotations

import pytest

from kservec.core.golang.decoding import decode, no_json


def test_json_is_read() -> None:
    """Plain JSON is what it says."""
    assert decode('{"a": [1, -2.5, "x", null, true]}') == {"a": [1, -2.5, "x", None, True]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{a: 1}", "property name"),
        ('{"a": NaN}', "NaN"),
        ("[-Infinity]", "-Infinity"),
        ("[" * 101 + "]" * 101, "nested"),
        ('{"a":' * 50_000, "nested"),
        (f"[{'9' * 5000}]", "5,000 digits"),
    ],
)
def test_what_go_refuses_or_nobody_means_is_refused(text: str, words: str) -> None:
    """Every such text gives a ValueError that says why, never another exception."""
    with pytest.raises(ValueError, match=words):
        decode(text)


def test_a_hundred_levels_are_read() -> None:
    """The limit is far above what a setting needs."""
    assert decode("[" * 100 + "]" * 100)


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        ("{a: 1}", "text in double quotes is expected here", 1),
        ('{"a": 1,\n}', "text in double quotes is expected here", 9),
        ('{"a": 1', "`,` or `}` is expected here", 7),
        ("", "a value is expected here", 0),
        ("{} {}", "more follows after its end", 3),
        ("[" * 150, "nested", 0),
    ],
)
def test_why_a_text_is_no_json_is_told_in_our_words(text: str, reason: str, offset: int) -> None:
    """The reason and the place depend on the text alone: those of Python's reader change with its version."""
    told, place = no_json(text)
    assert reason in told
    assert place == offset
