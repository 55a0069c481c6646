"""JSON as Go's encoding/json writes it, for texts that KServe puts into objects or runs templates over.

Decides the spelling of a JSON value, byte for byte. Must not know what the value is for.
"""

from __future__ import annotations

import json.encoder
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from kservec.core.patterns import Pattern
from kservec.core.tree import Json

_quote: Final = json.encoder.encode_basestring
_SPECIAL: Final = Pattern("[<>&\u2028\u2029\ud800-\udfff]")
_SPECIAL_NO_HTML: Final = Pattern("[\u2028\u2029\ud800-\udfff]")


def encode(value: Json, *, html: bool = True) -> str:
    """The text that `json.Marshal` makes of a value read from JSON: compact, keys sorted by code point.

    Args:
        value: a JSON value.
        html: escape `<`, `>` and `&`, as `json.Marshal` does (an Encoder with SetEscapeHTML(false) does not).

    Raises:
        ValueError: a number is infinite or NaN.
    """
    return _escape("".join(_parts(value)), html=html)


def struct(members: Mapping[str, str]) -> str:
    """The JSON object that `json.Marshal` makes of a struct: its members in the order given, each encoded already."""
    return f"{{{','.join(f'{quote(name)}:{text}' for name, text in members.items())}}}"


def quote(text: str, *, html: bool = True) -> str:
    """The JSON string of a text, quotes included. A lone surrogate becomes the escape of U+FFFD."""
    return _escape(_quote(text), html=html)


def number(value: float) -> str:
    """A float as `json.Marshal` writes it: shortest digits, no exponent from 1e-6 up to 1e21.

    Source: Go encoding/json/encode.go, floatEncoder.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} has no JSON")
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if 1e-6 <= abs(value) < 1e21:
        digits = f"{Decimal(repr(value)):f}"
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    return repr(value).replace("e-0", "e-")


def _escape(text: str, *, html: bool) -> str:
    return (_SPECIAL if html else _SPECIAL_NO_HTML).sub(_as_escape, text)


def _as_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{0xFFFD if 0xD800 <= code <= 0xDFFF else code:04x}"


def _parts(value: Json) -> list[str]:
    parts: list[str] = []
    _append(value, parts)
    return parts


def _append(value: Json, parts: list[str]) -> None:
    kind = value.__class__
    if kind is dict:
        sep = "{"
        for key in sorted(value):
            parts += (sep, _quote(key), ":")
            _append(value[key], parts)
            sep = ","
        parts.append("}" if value else "{}")
    elif kind is list:
        sep = "["
        for item in value:
            parts.append(sep)
            _append(item, parts)
            sep = ","
        parts.append("]" if value else "[]")
    else:
        parts.append(_scalar(value))


def _scalar(value: Json) -> str:
    if isinstance(value, str):
        return _quote(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return number(value) if isinstance(value, float) else str(value)
