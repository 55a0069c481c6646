"""Which word a misspelt one was meant to be."""

from __future__ import annotations

import pytest

from kservec.core.spelling import closest, edits

NAMES = ["storageUri", "storage", "runtime", "runtimeVersion", "args", "env", "envFrom"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("storageURI", "storageUri"),
        ("storgaeUri", "storageUri"),
        ("storages", "storage"),
        ("runtimes", "runtime"),
        ("arg", "args"),
        ("evn", "env"),
        ("replicas", None),
        ("storage", None),
        ("", None),
    ],
)
def test_closest(word: str, expected: str | None) -> None:
    """The nearest candidate is found if it is near enough; a word is never its own correction."""
    assert closest(word, [name for name in NAMES if name != "storage" or word != "storage"]) == expected


def test_ties_go_by_the_alphabet() -> None:
    """Equally near candidates give the same answer in whatever order they come."""
    assert closest("cat", ["hat", "bat"]) == closest("cat", ["bat", "hat"]) == "bat"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "ab", 1), ("", "abc", 3), ("abcd", "dcba", 3)],
)
def test_edits(left: str, right: str, expected: int) -> None:
    """Edits are counted, and a swap of neighbours is one; both ways alike."""
    assert edits(left, right, 9) == edits(right, left, 9) == expected


def test_edits_stop_counting_at_the_limit() -> None:
    """Beyond the limit only that it was passed is known."""
    assert edits("aaaaaa", "bbbbbb", 2) == 3
