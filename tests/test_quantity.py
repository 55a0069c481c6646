"""Quantities: worth what Kubernetes takes them for, written back as the API server writes them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kservec.core.quantity import add, canonical, compare, is_cut, misfit, parse_quantity

CANONICAL = {
    "decimal": {
        "1000m": "1", "0.5": "500m", "1.0": "1", "1.50": "1500m", "1000": "1k", "1500": "1500", "100000": "100k",
        "1000k": "1M", "1500k": "1500k", "1.5k": "1500", "100": "100", "999m": "999m", "1001m": "1001m", "0": "0",
        "-0": "0", "0m": "0", "00": "0", ".5": "500m", "-.5": "-500m", "-1.5": "-1500m", "1000n": "1u", "5n": "5n",
        "0.0001": "100u", "1000P": "1E", "1.5E": "1500P", "1000E": "1e21", "10000E": "10e21",
        "9223372036854775808": "9223372036854775808", "0.9999999999": "1", "33.3333333333333G": "33333333333333300u",
    },
    "rounded up to the nano": {
        "0.5n": "1n", "0.1n": "1n", "-0.1n": "-1n", "1.5n": "2n", "0.0000000001": "1n", "1.23456789012": "1234567891n",
        "1e-10": "1e-9", "15e-10": "2e-9",
    },
    "binary": {
        "1024Mi": "1Gi", "1024Ki": "1Mi", "1000Mi": "1000Mi", "1025Ki": "1025Ki", "0.5Gi": "512Mi", "1.5Gi": "1536Mi",
        "1.25Gi": "1280Mi", "-1.5Gi": "-1536Mi", "1024Pi": "1Ei", "0Ki": "0", "3.000Gi": "3Gi", "1.5Ki": "1536",
        "512.5Ki": "524800", "0.5Ki": "512", "-0.5Ki": "-512", "0.3Ki": "307200m", "0.0001Ki": "102400u",
        "12.34Mi": "12939427840m", "0.00000001Ei": "11529215046068469760n", "7Ei": "7Ei", "8Ei": "9223372036854775807",
        "-1024Ei": "-9223372036854775807", "7.9999999999Ei": "9223372036739483657539315303n",
    },
    "exponent": {
        "1e3": "1e3", "1E3": "1E3", "1e2": "100", "10e2": "1e3", "1e5": "100e3", "1.5e3": "1500", "1000E3": "1e6",
        "1e-1": "100e-3", "123e-4": "12300e-6", "1000e-3": "1", "0e3": "0", "1e10": "10e9", "1.0e3": "1e3",
        "1e100": "10e99",
    },
    "kept as it is": {
        "+1": "+1", "5.": "5.", "00001": "00001", "1e+3": "1e+3", "1e03": "1e03", "10e0": "10e0", "1E": "1E",
        "1500Ki": "1500Ki", "1.m": "1.m", "1.125": "1.125", "1.125u": "1.125u",
    },
}  # fmt: skip
REFUSED = (
    "", " 1", "1 ", "abc", "1K", "1ki", "1mi", "1KiB", "1B", "1e", "1e3Ki", "1e3.5", "0x10", "1_000", "1.1.1", "--1",
    "1+", ".", "+", "m", ".Ki", "1e301", "1e-1000", "1" * 500, "\u0661", "1Gi\n", "nan", "inf",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), [pair for group in CANONICAL.values() for pair in group.items()], ids=lambda text: text
)
def test_canonical_form(text: str, expected: str) -> None:
    """The text that k8s.io/apimachinery writes for each quantity; writing it again changes nothing."""
    assert canonical(text) == expected
    assert canonical(expected) == expected
    assert compare(text, expected) == 0


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    """The error names what was read."""
    with pytest.raises(ValueError, match=r"quantity|exponent"):
        canonical(text)


@pytest.mark.parametrize(
    ("number", "expected"), [(1, "1"), (0, "0"), (1024, "1024"), (0.5, "500m"), (1e21, "1e+21"), (-2, "-2")]
)
def test_numbers_are_quantities(number: float, expected: str) -> None:
    """YAML's unquoted numbers stand for their text."""
    assert canonical(number) == expected


@pytest.mark.parametrize("value", [True, None, float("inf"), [1]])
def test_other_values_are_no_quantities(value: object) -> None:
    """A truth value is no number here."""
    with pytest.raises(ValueError, match="no quantity"):
        parse_quantity(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1", "1000m", 0),
        ("1Gi", "1G", 1),
        ("1e3", "1k", 0),
        ("-1", "0", -1),
        ("0.1n", "1n", 0),
        ("8Ei", "9E", 1),
        ("1.5Gi", "1536Mi", 0),
        (1, "999m", 1),
        (0.5, "500m", 0),
    ],
)
def test_compare(left: str | float, right: str | float, expected: int) -> None:
    """Quantities compare by what they are worth, whatever the suffix."""
    assert compare(left, right) == expected
    assert compare(right, left) == -expected


@settings(deadline=None)
@given(
    st.integers(0, 10**20),
    st.sampled_from(("n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti")),
    st.sampled_from(("", "0", "5", "125", "000")),
)
def test_canonical_form_keeps_the_value(number: int, suffix: str, part: str) -> None:
    """Whatever is written, what is written back is worth the same."""
    text = f"{number}.{part}{suffix}" if part else f"{number}{suffix}"
    assert parse_quantity(canonical(text)) == parse_quantity(text)
    assert isinstance(parse_quantity(text), Fraction)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "is empty, where a quantity is due"), ("lots", "is no quantity: 'lots'"), ("1Gi", "")],
)
def test_an_empty_quantity_is_called_empty(text: str, reason: str) -> None:
    """What is wrong with a text is said without quoting nothing."""
    assert misfit(text) == reason


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("0", "10Gi", "10Gi"),
        ("10Gi", "5Gi", "15Gi"),
        ("1G", "512Mi", "1536870912"),
        ("512Mi", "1.5Gi", "2Gi"),
        ("1Ki", "1", "1025"),
        ("100m", 1, "1100m"),
    ],
)
def test_a_sum_has_the_style_of_the_first(left: str, right: str | int, total: str) -> None:
    """Unless that is zero, or the sum has no such form."""
    assert add(left, right) == total


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("8Ei", True),
        ("99999999999999999999Gi", True),
        ("9223372036854775807", True),
        ("-8Ei", True),
        ("7Ei", False),
        ("8191Pi", False),
        ("99999999999999999999G", False),
        (1, False),
    ],
)
def test_what_is_cut(text: str | int, cut: bool) -> None:
    """A quantity with a binary suffix beyond 2^63-1 becomes that, and canonical text of such a one tells it still."""
    assert is_cut(text) is cut
    assert is_cut(canonical(text)) is cut
