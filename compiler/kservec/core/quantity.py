"""Kubernetes quantities: `500m`, `1Gi`, `1e3`.

Decides what they are worth and how the API server writes them back. Must not know which fields hold them.

Source of the rules: k8s.io/apimachinery pkg/api/resource/quantity.go, as every typed object passes through it. Two
things are refused that it reads: a quantity without digits (`m` is 0 there; the schemas of custom resources refuse it)
and exponents beyond 300. Older releases drop the exponent of what is too large for `E` (`1000E` becomes `1`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

_match_quantity = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?:(?P<binary>[KMGTPE])i|[eE](?P<exponent>[+-]?[0-9]+)|(?P<decimal>[numkMGTPE]?))\Z"
).match

PATTERN = (
    r"^[-+]?([0-9]{1,300}(\.[0-9]{0,90})?|\.[0-9]{1,90})"
    r"([KMGTPE]i|[numkMGTPE]|[eE][-+]?0{0,9}([0-9]{1,2}|[12][0-9]{2}|300))?$"
)
"""What all that is read here matches. The pattern of the custom resource definitions also takes `1e1.5` and `1e999`."""
_PATTERN_MARK = "[numkMGTPE]"
"""Part of each pattern of a quantity, this one included."""

_DECIMAL_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIXES = {power: suffix for suffix, power in _DECIMAL_POWERS.items()}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NANO = -9
_LARGEST_BINARY = (1 << 63) - 1
_LARGEST_EXPONENT = 300
_LARGEST_NUMBER = 1e300
_LONGEST = 400


class _Quantity(NamedTuple):
    """`digits` times ten to the `power`, and the style it was written in."""

    digits: int
    power: int
    style: str  # "binary", "decimal" or "exponent"
    kept: str = ""  # the text as it was, where the API server keeps it

    @property
    def value(self) -> Fraction:
        return Fraction(self.digits) * Fraction(10) ** self.power


def parse_quantity(text: str | int | float) -> Fraction:
    """What a quantity is worth, exactly; to the nano, rounded away from zero, as Kubernetes holds it.

    Raises:
        ValueError: not a quantity.
    """
    return _worth(_as_text(text))


def canonical(text: str | int | float) -> str:
    """The quantity as the API server writes it: `1000m` is `1`, `0.5` is `500m`, `1024Mi` is `1Gi`.

    The largest suffix of the style it was written in that leaves no fraction. A binary quantity below 1,024, or with a
    fraction, becomes a decimal one. Text that looks canonical to the API server stays as it is, be it `+1` or `1.125`.

    Raises:
        ValueError: not a quantity.
    """
    return _canonical(_as_text(text))


def compare(left: str | int | float, right: str | int | float) -> int:
    """-1, 0 or 1: whether the first quantity is less than, equal to or more than the second.

    Raises:
        ValueError: not a quantity.
    """
    return _compare(_as_text(left), _as_text(right))


def add(left: str | int | float, right: str | int | float) -> str:
    """The sum of two quantities, in the style of the first unless that is zero.

    Raises:
        ValueError: not a quantity.
    """
    a, b = _parse(_as_text(left)), _parse(_as_text(right))
    total = a.value + b.value
    style = (a if a.value else b).style
    if style == "binary" and total.denominator == 1 and total.numerator % 1024 == 0:
        return _canonical(f"{total.numerator // 1024}Ki")
    nanos = total * 10**-_NANO
    return _canonical(f"{nanos.numerator}n")


def misfit(text: str) -> str:
    """Why a text is no quantity; empty if it is one."""
    try:
        _parse(text)
    except ValueError:
        return f"is no quantity: {text!r}" if text else "is empty, where a quantity is due"
    return ""


def with_strict_quantities(definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Definitions of a schema, in which quantities have to be such as can be read."""
    strict = {"pattern": PATTERN, "minimum": -_LARGEST_NUMBER, "maximum": _LARGEST_NUMBER}
    return {
        name: {**schema, **strict} if _PATTERN_MARK in schema.get("pattern", "") else schema
        for name, schema in definitions.items()
    }


@lru_cache(maxsize=1024)
def is_negative(text: str | int | float) -> bool:
    """Whether a quantity is less than zero.

    Raises:
        ValueError: not a quantity.
    """
    return parse_quantity(text) < 0


@lru_cache(maxsize=1024)
def is_cut(text: str | int | float) -> bool:
    """Whether a quantity with a suffix such as Gi is more than Kubernetes holds, or what it makes of such a one.

    Raises:
        ValueError: not a quantity.
    """
    return abs(parse_quantity(text)) == _LARGEST_BINARY


def _as_text(value: str | int | float) -> str:
    if value.__class__ is str:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no quantity")  # noqa: TRY004 - callers report all that is no quantity alike
    return repr(value)


@lru_cache(maxsize=1024)
def _compare(left: str, right: str) -> int:
    a, b = _worth(left), _worth(right)
    return (a > b) - (a < b)


@lru_cache(maxsize=1024)
def _worth(text: str) -> Fraction:
    return _parse(text).value


@lru_cache(maxsize=1024)
def _parse(text: str) -> _Quantity:
    found = _match_quantity(text) if len(text) <= _LONGEST else None
    if found is None or not (found["whole"] or found["part"]):
        raise ValueError(f"`{text[:40]}` is no quantity")
    sign = -1 if found["sign"] == "-" else 1
    whole, part = found["whole"].lstrip("0") or "0", found["part"] or ""
    if found["binary"]:
        return _parse_binary(text, sign, whole, part, 10 * " KMGTPE".index(found["binary"]))
    power = _DECIMAL_POWERS[found["decimal"] or ""] if found["exponent"] is None else int(found["exponent"])
    if abs(power) > _LARGEST_EXPONENT:
        raise ValueError(f"the exponent of `{text[:40]}` is too large")
    power -= len(part)
    style = "decimal" if found["exponent"] is None else "exponent"
    digits = whole + part
    if power < _NANO:
        return _Quantity(sign * -(-int(digits) // 10 ** (_NANO - power)), _NANO, style)
    # What ParseQuantity takes for canonical already. It keeps that text, and the API server stores it.
    is_kept = len(digits) <= 18 and power % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return _Quantity(sign * int(digits), power, style, text if is_kept else "")


def _parse_binary(text: str, sign: int, whole: str, part: str, exponent: int) -> _Quantity:
    """`exponent` is that of two: 10 for Ki."""
    if not part and len(whole) + exponent * 3 // 10 <= 14:
        number = int(whole)
        return _Quantity(sign * number << exponent, 0, "binary", text if number % 8 else "")
    nanos = -(-(int(whole + part) << exponent) * 10**9 // 10 ** len(part))
    if nanos > _LARGEST_BINARY * 10**9:
        return _Quantity(sign * _LARGEST_BINARY, 0, "binary")
    return _Quantity(sign * nanos, _NANO, "binary")


@lru_cache(maxsize=1024)
def _canonical(text: str) -> str:
    quantity = _parse(text)
    value = quantity.value
    if quantity.kept or not value:
        return quantity.kept or "0"
    if quantity.style == "binary" and abs(value) >= 1024 and value.denominator == 1:
        digits, steps = _without_factor(value.numerator, 1024)
        return f"{digits}{_BINARY_SUFFIXES[steps]}"
    digits, zeros = _without_factor(quantity.digits, 10)
    power = quantity.power + zeros
    digits, power = digits * 10 ** (power % 3), power - power % 3
    suffix = _DECIMAL_SUFFIXES.get(power)
    if suffix is None or quantity.style == "exponent":
        suffix = f"e{power}" if power else ""
    return f"{digits}{suffix}"


def _without_factor(number: int, factor: int) -> tuple[int, int]:
    """The number divided by `factor` as often as it goes, and how often that was."""
    times = 0
    while number % factor == 0:
        number //= factor
        times += 1
    return number, times
