"""Whole numbers in users' text, however many digits they have."""

from __future__ import annotations

import pytest

from kservec.core.digits import INT64, integer, natural
from kservec.core.golang.duration import seconds_of
from kservec.core.golang.yaml_text import natural_order
from kservec.core.llm.scheduler_config.migrations import decider_for
from kservec.core.llm.scheduler_config.versions import parse_version
from kservec.core.network.addresses import urls
from kservec.core.nodes import shown_bytes
from kservec.scaling.keda import whole_number

ENDLESS = "9" * 5000


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("+7", 7), ("-7", -7), ("0" * 5000 + "7", 7), ("-" + "0" * 5000 + "7", -7)]
)
def test_digits_make_their_number(text: str, number: int) -> None:
    """Signs count, and zeros in front do not, however many there are."""
    assert integer(text) == number


@pytest.mark.parametrize(("text", "is_below"), [(ENDLESS, False), ("-" + ENDLESS, True)])
def test_endless_digits_are_beyond_all_limits(text: str, is_below: bool) -> None:
    """Python refuses thousands of digits; such a number is out of any range, on its own side."""
    assert (integer(text) < -INT64) is is_below
    assert (integer(text) > INT64) is not is_below


@pytest.mark.parametrize(("text", "number"), [("12", 12), ("", None), ("-1", None), ("\u00b2", None), ("\u0663", None)])
def test_only_ascii_digits_are_a_number(text: str, number: int | None) -> None:
    """A superscript is a digit to Python, and none that it can read."""
    assert natural(text) == number


def test_readers_of_numbers_take_endless_ones() -> None:
    """Where there is a range such a number is outside of it; where there is none it is more than anything else."""
    assert whole_number(ENDLESS) is None
    assert seconds_of(f"{ENDLESS}s") is None
    assert natural_order(f"a{ENDLESS}", "a1") > 0
    version = parse_version(f"{ENDLESS}.0.0")
    assert version is not None
    assert version > (INT64, 0, 0, True)
    ((_, _, port),) = urls([f"http://a:{ENDLESS}"])
    assert port > INT64


@pytest.mark.parametrize("threshold", ["1e400", "9" * 5000])
def test_an_endless_threshold_is_a_large_one(threshold: str) -> None:
    """What a float holds as an infinity becomes a number that no prompt reaches."""
    assert decider_for(threshold)["parameters"] == {"nonCachedTokens": 1 << 51}


def test_bytes_beyond_floats_are_shown() -> None:
    """A quantity may have more digits than a float takes."""
    assert shown_bytes(10**390).endswith("Ti")
    assert shown_bytes(1536 * 1024) == "1.5Mi"
