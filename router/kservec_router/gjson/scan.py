"""Walking JSON text without building it: where members, items and values begin and end.

Assumes text that is valid JSON, and makes the best of other text, as the original does. Knows nothing of paths.
Behaviour: tidwall/gjson 1.18 (parseObject, parseArray, parseSquash, parseString, Parse, ForEach, unescape).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kservec_router.gjson.result import NOTHING, Kind, Result, parse_float

_QUOTED = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+'
_STRING = re.compile(_QUOTED + rb'"', re.DOTALL)
_BRACKET = re.compile(_QUOTED + rb'(?:"|\\?\Z)|[\[\](){}]', re.DOTALL)
_KEY_OR_END = re.compile(rb'["}]')
_VALUE = re.compile(rb'["{\[ntf+\-0-9iIN]')
_ITEM_OR_END = re.compile(rb'["{\[ntf+\-0-9iIN\]]')
_NUMBER = re.compile(rb"(?s:.)[^\x00-\x20,\]}]*+")
_LITERAL = re.compile(rb"(?s:.)[a-z]*+")
_TOKEN = re.compile(rb"[^\x00-\x20]")
_CONTAINER = re.compile(rb"[{\[]")
_ESCAPE = re.compile(rb"\\(?:u[dD][89a-bA-B][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_OPENING = b"[({"
_SIMPLE_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_WORDS = {ord("t"): Kind.TRUE, ord("f"): Kind.FALSE, ord("n"): Kind.NULL}


def container_start(json: bytes) -> int:
    """Where the first `{` or `[` stands, in a string or not; -1 when there is none."""
    found = _CONTAINER.search(json)
    return found.start() if found else -1


def balanced_end(json: bytes, start: int) -> int:
    """The end of the bracketed (or quoted) text that begins at *start*; the end of the text if it never closes."""
    depth = 0
    for found in _BRACKET.finditer(json, start):
        lead = json[found.start()]
        if lead != 34:
            depth += 1 if lead in _OPENING else -1
        if depth <= 0:
            return found.end()
    return len(json)


def _scalar_end(json: bytes, start: int) -> int:
    lead = json[start]
    if lead == 34:
        end = json.find(b'"', start + 1)  # far faster than the expression, which only escapes need
        if end > 0 and json[end - 1] != 92:
            return end + 1
        quoted = _STRING.match(json, start)
        return quoted.end() if quoted else len(json)
    pattern = _LITERAL if lead in _WORDS and not _is_nan(json, start) else _NUMBER
    found = pattern.match(json, start)
    return found.end() if found else len(json)


def _is_nan(json: bytes, start: int) -> bool:
    return json[start] == 110 and json[start + 1 : start + 2] not in (b"u", b"")


def value_end(json: bytes, start: int) -> int:
    """The end of the value that begins at *start*."""
    return balanced_end(json, start) if json[start] in _OPENING else _scalar_end(json, start)


def value_at(json: bytes, start: int) -> Result:
    """The value that begins at *start*."""
    lead = json[start]
    raw = json[start : value_end(json, start)]
    if lead in _OPENING:
        return Result(Kind.JSON, raw)
    if lead == 34:
        return Result(Kind.STRING, raw, unquote(raw)) if raw[-1:] == b'"' and len(raw) > 1 else NOTHING
    if lead in _WORDS and not _is_nan(json, start):
        return Result(_WORDS[lead], raw)
    return Result(Kind.NUMBER, raw, b"", parse_float(raw))


def members(json: bytes, at: int) -> Iterator[tuple[bytes, int]]:
    """Members of the object whose `{` stands before *at*: the key with its quotes, and where the value begins.

    The end of a value is looked for only when the next member is asked for.
    """
    while found := _KEY_OR_END.search(json, at):
        key = _STRING.match(json, found.start())
        if key is None:
            return
        value = _VALUE.search(json, key.end())
        if value is None:
            return
        yield key[0], value.start()
        at = value_end(json, value.start())


def items(json: bytes, at: int) -> Iterator[int]:
    """Where the items of the array whose `[` stands before *at* begin; the end of the text closes it too."""
    while found := _ITEM_OR_END.search(json, at):
        start = found.start()
        if json[start] == 93:
            return
        yield start
        at = value_end(json, start)


def parse(json: bytes) -> Result:
    """The value of a whole text; a container is taken to reach to its end."""
    found = _TOKEN.search(json)
    if found is None:
        return NOTHING
    start = found.start()
    if json[start] in b"{[":
        return Result(Kind.JSON, json[start:])
    return value_at(json, start) if _VALUE.match(json, start) else NOTHING


def children(value: Result) -> Iterator[tuple[bytes, Result]]:
    """Keys (with their quotes; empty in arrays) and values of a container; a scalar is its own only child."""
    if value.is_object:
        for key, start in members(value.raw, 1):
            yield key, value_at(value.raw, start)
    elif value.is_array:
        for start in items(value.raw, 1):
            yield b"", value_at(value.raw, start)
    elif value.exists:
        yield b"", value


def unquote(quoted: bytes) -> bytes:
    """The text of a JSON string, as UTF-8."""
    inner = quoted[1:-1]
    return _ESCAPE.sub(_unescape, inner) if b"\\" in inner else inner


def _unescape(found: re.Match[bytes]) -> bytes:
    escape = found[0][1:]
    if escape[:1] != b"u" or len(escape) < 5:
        return _SIMPLE_ESCAPES.get(escape, escape)
    code = int(escape[1:5], 16)
    if len(escape) > 5:
        low = int(escape[7:], 16)
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) if 0xDC00 <= low < 0xE000 else 0xFFFD
    return chr(0xFFFD if 0xD800 <= code < 0xE000 else code).encode()
