"""What an unquoted YAML scalar means to Kubernetes.

Decides text, number, truth value or null by the rules of go-yaml v2 and of the JSON that `sigs.k8s.io/yaml` makes of
it. Must not know documents or positions.

The rules are neither YAML 1.1 nor 1.2: `on` and `y` are true, `017` and `0o17` are 15, `1e3` is 1000, `08` is 8, while
`12:30` and `2001-01-01` are text. A number without a fraction is an integer, however it was written (`1.0`, `1e3`).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from decimal import Decimal

_SPELLINGS = {
    None: "~ null Null NULL",
    True: "y Y yes Yes YES true True TRUE on On ON",
    False: "n N no No NO false False FALSE off Off OFF",
}
_NON_FINITE = frozenset(f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")) | frozenset(
    (".nan", ".NaN", ".NAN")
)
_INT64 = 1 << 63
_MISSING = object()

WORDS: Mapping[str, bool | None] = {"": None} | {
    word: value for value, words in _SPELLINGS.items() for word in words.split()
}
"""Unquoted words that are no text."""

NUMBER_STARTS = frozenset("+-.0123456789")
"""What an unquoted number begins with."""

_match_integer = re.compile(
    r"([-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))\Z"
).match
_match_float = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z").match


class BadNumberError(ValueError):
    """A number that JSON cannot carry, or that Kubernetes would round. The text says which."""


def resolve(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar.

    Raises:
        BadNumberError: an integer beyond 64 bits, an infinity or not-a-number.
    """
    word = WORDS.get(text, _MISSING)
    if word is not _MISSING:
        return word  # type: ignore[return-value]
    if text[0] not in NUMBER_STARTS:
        return text
    if len(text) < 19 and text[0] != "0" and text.isascii() and text.isdigit():
        return int(text)
    return _number(text)


def key_text(text: str) -> str | None:
    """The map key that an unquoted scalar stands for: JSON knows only text as a key. None for null.

    Raises:
        BadNumberError: an integer beyond 64 bits.
    """
    if text in _NON_FINITE:
        return text.lower().lstrip("+")
    value = resolve(text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) or value is None:
        return value
    if _match_integer(text.replace("_", "")):
        return str(value)
    return _short_float(float(text.replace("_", "")))


def shortest_number(number: float) -> int | float:
    """An integer if Go writes the number without fraction and exponent: its shortest digits, filled up with zeros."""
    if not number.is_integer() or abs(number) >= _INT64:
        return number
    integer = int(Decimal(repr(number)))
    return integer if -_INT64 <= integer < _INT64 else number


def _number(text: str) -> str | int | float:
    if text in _NON_FINITE:
        raise BadNumberError("this is not a number that JSON can carry")
    # go-yaml drops all underscores, except after a leading dot, where Go's own rule holds: only between digits.
    digits = text.replace("_", "") if text[0] != "." else re.sub("(?<=[0-9])_(?=[0-9])", "", text)
    match = _match_integer(digits)
    if match is not None:
        integer = _integer(match)
        if -_INT64 <= integer < _INT64:
            return integer
        if match["dec"] is None:
            return text if not -_INT64 <= integer < 2 * _INT64 else _reject()
    if not _match_float(digits):
        return text
    number = float(digits)
    if number - number != 0:
        return text
    if match is not None:
        return _reject()
    return shortest_number(number)


def _integer(match: re.Match[str]) -> int:
    sign, hexadecimal, binary, octal, decimal = match.groups()
    if decimal is not None:
        # Python refuses to convert thousands of digits; this many are out of range anyway.
        number = int(decimal[:40])
    elif hexadecimal is not None:
        number = int(hexadecimal, 16)
    else:
        number = int(binary, 2) if binary is not None else int(octal, 8)
    return -number if sign == "-" else number


def _reject() -> str:
    raise BadNumberError("this integer does not fit in 64 bits; Kubernetes would round it")


def _short_float(number: float) -> str:
    """Go's shortest text for a 32-bit float, which is what sigs.k8s.io/yaml makes of a fractional key."""
    try:
        single = _single(number)
    except OverflowError:
        return ".inf" if number > 0 else "-.inf"
    texts = (f"{single:.{precision}e}" for precision in range(9))
    mantissa, _, exponent = next(text for text in texts if _single(float(text)) == single).partition("e")
    power = int(exponent)
    if -4 <= power < 6:
        places = len(mantissa.replace(".", "").lstrip("-")) - 1 - power
        return f"{float(f'{mantissa}e{exponent}'):.{max(0, places)}f}"
    return f"{mantissa}e{power:+03d}"


def _single(number: float) -> float:
    value: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return value
