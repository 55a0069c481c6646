"""Is a text JSON? Without recursion, and without minding which bytes stand inside strings.

Behaviour: tidwall/gjson 1.18 (Valid), which accepts bytes that are no UTF-8 and surrogates without a partner.
"""

from __future__ import annotations

import re

_SPACE = rb"[ \t\n\r]*+"
_PLAIN = rb'[^"\\\x00-\x1f]*+'
_STRING = rb'"' + _PLAIN + rb'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})' + _PLAIN + rb')*+"'
_SCALAR = _STRING + rb"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null"
_OPEN_OR_SCALAR = re.compile(_SPACE + rb"(?:([\[{])|(?:" + _SCALAR + rb"))")
_KEY = re.compile(_SPACE + _STRING + _SPACE + rb":")
_CLOSE_OR_COMMA = re.compile(_SPACE + rb"([\]},])")
_CLOSE = re.compile(_SPACE + rb"([\]}])")
_END = re.compile(_SPACE + rb"\Z")
_PARTNER = {b"[": b"]", b"{": b"}"}


def valid(json: bytes, deepest: int = 1_000_000) -> bool:
    """Whether *json* is one JSON value nested at most *deepest* levels."""
    closing: list[bytes] = []
    at = 0
    while True:
        value = _OPEN_OR_SCALAR.match(json, at)
        if value is None:
            return False
        at = value.end()
        if value[1]:
            closing.append(_PARTNER[value[1]])
            if len(closing) > deepest:
                return False
            empty = _CLOSE.match(json, at)
            if empty is None:
                at = _after_key(json, at, closing[-1])
                if at < 0:
                    return False
                continue
        at = _next_value(json, at, closing)
        if at < 0:
            return False
        if not closing:
            return _END.match(json, at) is not None


def _after_key(json: bytes, at: int, closing: bytes) -> int:
    """Where the next value of a container may begin: after a key in objects. -1 when a key is missing."""
    if closing == b"]":
        return at
    key = _KEY.match(json, at)
    return key.end() if key else -1


def _next_value(json: bytes, at: int, closing: list[bytes]) -> int:
    """After a value (or an opening bracket that is closed at once): close what is closed, up to the next value."""
    while closing:
        mark = _CLOSE_OR_COMMA.match(json, at)
        if mark is None:
            return -1
        at = mark.end()
        if mark[1] == b",":
            return _after_key(json, at, closing[-1])
        if mark[1] != closing.pop():
            return -1
    return at
