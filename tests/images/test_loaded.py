"""A forked run of the entry point is what a process of its own is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .programs import Place

RUNS = {
    "help": (["--help"], {}),
    "a dry run": (["--dry-run", "acme/chat", "--seed=7"], {}),
    "a run": (["acme/chat"], {"TENSOR_PARALLEL_SIZE": "2"}),
    "a refusal": (["acme/chat", "--port=http"], {}),
    "health": (["health"], {}),
}


def given(entry: dict[str, Any]) -> tuple[Any, ...]:
    """Words and variables of what the stand-in got; which process it is differs."""
    return entry.get("words"), entry.get("environment")


@pytest.mark.parametrize("name", RUNS)
def test_a_forked_run_is_as_any_other(name: str, place: Place) -> None:
    """Status, what is said, and what the stand-in gets are the same."""
    argv, variables = RUNS[name]
    expected = place.run_words([str(place.programs / "kservec-vllm"), *argv], **variables)
    done = place.run(*argv, **variables)
    assert (done.status, done.said) == (expected.status, expected.said)
    assert [given(entry) for entry in done.records] == [given(entry) for entry in expected.records]
    assert bool(done.records) is (name == "a run")


def test_a_forked_run_has_the_world_that_it_is_given(place: Place) -> None:
    """Its environment is its own; the next run knows nothing of it."""
    assert place.run("acme/chat", SEEN="here").environment["SEEN"] == "here"
    assert "SEEN" not in place.run("acme/chat").environment
