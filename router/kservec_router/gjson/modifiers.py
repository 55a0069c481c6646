"""Modifiers (`@reverse`, `@keys`...) and literals (`!"text"`) of paths.

Each modifier is a function from JSON text and its argument to JSON text.
Behaviour: tidwall/gjson 1.18 (execModifier, execStatic, modXxx, AppendJSONString).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from kservec_router.gjson.pretty import compact, pretty
from kservec_router.gjson.result import Kind, Result
from kservec_router.gjson.scan import balanced_end, children, parse, unquote
from kservec_router.gjson.valid import valid

Getter = Callable[[bytes, bytes], Result]
Modifier = Callable[[bytes, bytes], bytes]

_NAME_END = re.compile(rb"[.|:]")
_STATIC_END = re.compile(rb"[.|]")
_SPACE = bytes(range(33))
_STATIC_START = b'{["+-0123456789'
_STATIC_WORDS = {b"true", b"false", b"null", b"nan", b"inf"}
_SHORT = {8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 92: "\\\\"}
_LONG = (*(c for c in range(32) if c not in _SHORT), *b"<>&", 0x2028, 0x2029)
_ESCAPES = {**_SHORT, **{code: f"\\u{code:04x}" for code in _LONG}}


def static_value(path: bytes) -> tuple[bytes, bytes] | None:
    """The literal that *path* begins with after its `!`, and the rest of the path; None when it is none."""
    text = path[1:]
    if text and text[0] in _STATIC_START:
        end = balanced_end(b"[" + text[1:], 0)  # whatever it begins with counts as an opening bracket
        return text[:end], text[end:]
    found = _STATIC_END.search(text)
    end = found.start() if found else len(text)
    return (text[:end], text[end:]) if text[:end].lower() in _STATIC_WORDS else None


def apply_modifier(json: bytes, path: bytes, get: Getter) -> tuple[bytes, bytes] | None:
    """What the modifier that *path* begins with makes of *json*, and the rest of the path; None when there is none."""
    found = _NAME_END.search(path, 1)
    end = found.start() if found else len(path)
    name, rest = path[1:end], path[end:]
    argument = b""
    if rest[:1] == b":":
        argument, rest = _argument(rest[1:])
    if name == b"dig":
        return _dig(json, argument, get), rest
    modifier = _MODIFIERS.get(name)
    return None if modifier is None else (modifier(json, argument), rest)


def _argument(text: bytes) -> tuple[bytes, bytes]:
    """The argument of a modifier and what follows: one JSON value, or everything up to a pipe."""
    if text[:1] in (b"{", b"[", b'"') and parse(text).exists:
        end = balanced_end(text, 0)
        return text[:end], text[end:]
    at = 0
    while at < len(text) and text[at : at + 1] != b"|":
        at = balanced_end(text, at) if text[at : at + 1] in (b"{", b"[", b'"', b"(") else at + 1
    return text[:at], text[at:]


def _option(argument: bytes, name: bytes) -> Result:
    """The last member *name* of a modifier's argument."""
    found = [value for key, value in children(parse(argument)) if unquote(key) == name]
    return found[-1] if found else Result()


def quoted(text: bytes) -> bytes:
    """Text as a JSON string, escaped as Go's encoder does for HTML."""
    return b'"' + text.decode("utf-8", "replace").translate(_ESCAPES).replace("\ufffd", "\\ufffd").encode() + b'"'


def _this(json: bytes, _: bytes) -> bytes:
    return json


def _valid(json: bytes, _: bytes) -> bytes:
    return json if valid(json) else b""


def _reverse(json: bytes, _: bytes) -> bytes:
    value = parse(json)
    if not (value.is_array or value.is_object):
        return json
    parts = [key + b":" + child.raw if key else child.raw for key, child in children(value)]
    return value.raw[:1] + b",".join(reversed(parts)) + (b"]" if value.is_array else b"}")


def _flatten(json: bytes, argument: bytes) -> bytes:
    value = parse(json)
    if not value.is_array:
        return json
    deep = _option(argument, b"deep").as_bool()
    raws = (_unwrapped(child.raw) if child.is_array else child.raw for child in _leaves(value, deep))
    return b"[" + b",".join(raw.strip() for raw in raws if raw.strip()) + b"]"


def _leaves(value: Result, deep: bool) -> Iterator[Result]:
    """Children of an array; when *deep*, those of the arrays in it instead of the arrays."""
    waiting = [children(value)]
    while waiting:
        for _, child in waiting[-1]:
            if deep and child.is_array:
                waiting.append(children(child))
                break
            yield child
        else:
            waiting.pop()


def _unwrapped(raw: bytes) -> bytes:
    trimmed = raw.strip(_SPACE)
    return trimmed[1:-1] if len(trimmed) >= 2 and trimmed[:1] in (b"[", b"{") else trimmed


def _keys(json: bytes, _: bytes) -> bytes:
    value = parse(json)
    return b"[" + b",".join(key or b"null" for key, _ in children(value)) + b"]"


def _values(json: bytes, _: bytes) -> bytes:
    value = parse(json)
    return json if value.is_array else b"[" + b",".join(child.raw for _, child in children(value)) + b"]"


def _join(json: bytes, argument: bytes) -> bytes:
    value = parse(json)
    if not value.is_array:
        return json
    objects = [child for _, child in children(value) if child.is_object]
    if _option(argument, b"preserve").as_bool():
        return b"{" + b",".join(_unwrapped(one.raw) for one in objects) + b"}"
    keys: dict[bytes, bytes] = {}
    values: dict[bytes, bytes] = {}
    for one in objects:
        for key, child in children(one):
            keys.setdefault(unquote(key), key)
            values[unquote(key)] = child.raw
    return b"{" + b",".join(keys[name] + b":" + values[name] for name in keys) + b"}"


def _to_string(json: bytes, _: bytes) -> bytes:
    return quoted(json)


def _from_string(json: bytes, _: bytes) -> bytes:
    return parse(json).as_text() if valid(json) else b""


def _group(json: bytes, _: bytes) -> bytes:
    value = parse(json)
    if not value.is_object:
        return b""
    rows: list[list[bytes]] = []
    for key, column in children(value):
        if column.is_array:
            for number, (_, cell) in enumerate(children(column)):
                if number == len(rows):
                    rows.append([])
                rows[number].append(key + b":" + cell.raw)
    return b"[" + b",".join(b"{" + b",".join(row) + b"}" for row in rows) + b"]"


def _dig(json: bytes, path: bytes, get: Getter) -> bytes:
    """What *path* finds in the value and in everything within it, outer values first."""
    found, waiting = [], [parse(json)]
    while waiting:
        value = waiting.pop()
        result = get(value.raw, path)
        if result.exists:
            found.append(result.raw)
        if value.kind is Kind.JSON:
            waiting += reversed([child for _, child in children(value)])
    return b"[" + b",".join(found) + b"]"


def _ugly(json: bytes, _: bytes) -> bytes:
    return compact(json)


def _pretty(json: bytes, argument: bytes) -> bytes:
    options = {unquote(key): value for key, value in children(parse(argument))}
    width, indent, prefix = options.get(b"width"), options.get(b"indent"), options.get(b"prefix")
    return pretty(
        json,
        width=80 if width is None else int(width.number) if math.isfinite(width.number) else 0,
        indent=b"  " if indent is None else _blank(indent.as_text()),
        prefix=b"" if prefix is None else _blank(prefix.as_text()),
        sort_keys=options.get(b"sortKeys", Result()).as_bool(),
    )


def _blank(text: bytes) -> bytes:
    return bytes(c for c in text if c in b" \t\r\n")


_MODIFIERS: dict[bytes, Modifier] = {
    b"this": _this, b"valid": _valid, b"reverse": _reverse, b"flatten": _flatten, b"keys": _keys, b"values": _values,
    b"join": _join, b"tostr": _to_string, b"fromstr": _from_string, b"group": _group, b"ugly": _ugly,
    b"pretty": _pretty,
}  # fmt: skip
