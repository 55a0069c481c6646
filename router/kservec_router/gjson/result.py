"""What a GJSON path yields, and the conversions of Go that comparisons and texts depend on.

Knows nothing of paths. Behaviour: tidwall/gjson 1.18 (Result, String, Bool) and Go's strconv.
"""

from __future__ import annotations

import math
import re
from enum import IntEnum
from typing import NamedTuple

_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_HEXADECIMAL = re.compile(rb"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+")
_SPECIAL = {b"inf", b"infinity", b"nan"}
_BOOLEANS = {b"1": True, b"t": True, b"true": True, b"0": False, b"f": False, b"false": False}
_INTEGER = re.compile(rb"-?\d*")


class Kind(IntEnum):
    """The types of GJSON, in its order."""

    NULL = 0
    FALSE = 1
    NUMBER = 2
    STRING = 3
    TRUE = 4
    JSON = 5


class Result(NamedTuple):
    """A value of a document: its kind, its own bytes, and what they mean."""

    kind: Kind = Kind.NULL
    raw: bytes = b""
    text: bytes = b""
    number: float = 0.0

    @property
    def exists(self) -> bool:
        """Whether there is a value; null is one."""
        return self.kind is not Kind.NULL or self.raw != b""

    @property
    def is_array(self) -> bool:
        """Whether the value is an array."""
        return self.kind is Kind.JSON and self.raw[:1] == b"["

    @property
    def is_object(self) -> bool:
        """Whether the value is an object."""
        return self.kind is Kind.JSON and self.raw[:1] == b"{"

    def as_bool(self) -> bool:
        """The value as Go's Result.Bool takes it."""
        if self.kind is Kind.STRING:
            return parse_bool(self.text) is True
        return self.kind is Kind.TRUE or (self.kind is Kind.NUMBER and self.number != 0)

    def as_text(self) -> bytes:
        """The value as text: strings without quotes, whole numbers as written, other numbers in Go's shortest form."""
        match self.kind:
            case Kind.STRING:
                return self.text
            case Kind.NULL:
                return b""
            case Kind.NUMBER if not _INTEGER.fullmatch(self.raw):
                return shortest(self.number)
            case _:
                return self.raw


NOTHING = Result()
TRUE = Result(Kind.TRUE)
FALSE = Result(Kind.FALSE)


def parse_bool(text: bytes) -> bool | None:
    """Go's strconv.ParseBool of the lower-cased text; None when it is no boolean."""
    return _BOOLEANS.get(text.lower())


def parse_float(text: bytes) -> float:
    """Go's strconv.ParseFloat with errors ignored: 0 for what is no number, an infinity for what is too large."""
    if _DECIMAL.fullmatch(text) or (text.lstrip(b"+-").lower() in _SPECIAL and text[1:2] not in (b"+", b"-")):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text.decode())
        except OverflowError:
            return float("-inf") if text[:1] == b"-" else float("inf")
    return 0.0


def shortest(number: float) -> bytes:
    """The shortest decimal form that reads back as the number, without an exponent (Go's 'f' with precision -1)."""
    if not math.isfinite(number):
        return {"nan": b"NaN", "inf": b"+Inf", "-inf": b"-Inf"}[str(number)]
    digits, _, exponent = repr(number).partition("e")
    if not exponent:
        return digits.removesuffix(".0").encode()
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
    whole, _, fraction = digits.removesuffix(".0").partition(".")
    point = len(whole) + int(exponent)
    every = whole + fraction
    if point <= 0:
        return f"{sign}0.{'0' * -point}{every}".encode()
    return f"{sign}{every.ljust(point, '0')[:point]}{'.' + every[point:] if every[point:] else ''}".encode()
