"""The functions that every Go template may call.

Decides what each returns and which arguments it refuses. Must not know how templates are read or executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, TypeAlias
from urllib.parse import quote_plus

from kservec.core.golang.formatting import FormatError, GoValue, NilPointer, Struct, sprint, sprintf, sprintln, type_of


class NoValue(Enum):
    """What a map gives for a key that it lacks: neither nil nor empty, and printed as `<no value>`."""

    TOKEN = 0


NO_VALUE: Final = NoValue.TOKEN

Value: TypeAlias = "GoValue | NoValue"

_HTML: Final = str.maketrans({"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_HTML_TEXT: Final = _HTML | {ord("+"): "&#43;"}
_JS: Final = str.maketrans({
    "\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D",
})  # fmt: skip


def html_text(text: str) -> str:
    """What html/template writes for a value in plain text: as the `html` function, and `+` too."""
    return text.translate(_HTML_TEXT)


def truth(value: Value) -> bool:
    """Whether a value counts as true: not false, zero, nil, missing or empty; structs always are."""
    match value:
        case NoValue() | None | NilPointer():
            return False
        case Struct():
            return True
        case _:
            return bool(value)


def _nil(value: Value) -> GoValue:
    return None if isinstance(value, NoValue) else value


def _text(values: tuple[Value, ...]) -> str:
    """The text that `html`, `js` and `urlquery` escape."""
    return sprint(["<no value>" if isinstance(v, NoValue) or v is None else v for v in values])


def _html(*values: Value) -> str:
    return _text(values).translate(_HTML)


def _js(*values: Value) -> str:
    text = _text(values).translate(_JS)
    return "".join(c if c >= " " and c.isprintable() else f"\\u{ord(c):04X}" for c in text)


def _urlquery(*values: Value) -> str:
    return quote_plus(_text(values), safe="")


def _print(*values: Value) -> str:
    return sprint([_nil(v) for v in values])


def _println(*values: Value) -> str:
    return sprintln([_nil(v) for v in values])


def _printf(pattern: Value, *values: Value) -> str:
    if not isinstance(pattern, str):
        raise FormatError(f"wrong type for value; expected string; got {_type(pattern)}")
    return sprintf(pattern, [_nil(v) for v in values])


def _not(value: Value) -> bool:
    return not truth(value)


def _len(value: Value) -> int:
    match value:
        case str():
            return len(value.encode())
        case Struct() | NilPointer() | NoValue() | None | bool() | int() | float():
            raise FormatError(f"len of type {_type(value)}")
        case Mapping():
            return len(value)
        case _:
            return len(value)


def _index(value: Value, *keys: Value) -> Value:
    if _is_nil(value):
        raise FormatError("index of untyped nil")
    for key in keys:
        match value:
            case Struct() | NilPointer() | NoValue() | None | bool() | int() | float():
                raise FormatError(f"can't index item of type {_type(value)}")
            case Mapping():
                if not isinstance(key, str):
                    raise FormatError(f"value has type {_type(key)}; should be string")
                value = value.get(key, "")
            case _:
                value = _item(value.encode() if isinstance(value, str) else value, key)  # type: ignore[arg-type]
    return value


def _item(value: list[GoValue] | bytes, key: Value) -> GoValue:
    i = _position(key, len(value) - 1)
    return value[i]


def _position(key: Value, last: int) -> int:
    if isinstance(key, bool) or not isinstance(key, int):
        raise FormatError(f"cannot index slice/array with type {_type(key)}")
    if not 0 <= key <= last:
        raise FormatError(f"index out of range: {key}")
    return key


def _slice(value: Value, *keys: Value) -> Value:
    if not isinstance(value, str | list) or len(keys) > 2:
        raise FormatError(f"can't slice item of type {_type(value)}")
    items = value.encode() if isinstance(value, str) else value
    bounds = [_position(key, len(items)) for key in keys]
    start, end = (bounds + [0, len(items)][len(bounds) :])[:2]
    if start > end:
        raise FormatError(f"invalid slice index: {start} > {end}")
    part = items[start:end]
    return part.decode(errors="replace") if isinstance(part, bytes) else part


def _is_nil(value: Value) -> bool:
    return value is None or isinstance(value, NoValue | NilPointer)


def _kind(value: Value) -> str:
    """The kind by which values compare."""
    kind = _type(value)
    if kind not in {"bool", "int", "float64", "string"}:
        raise FormatError(f"non-comparable type: {kind}")
    return kind


def _eq(first: Value, *others: Value) -> bool:
    if not others:
        raise FormatError("missing argument for comparison")
    for other in others:
        if _is_nil(first) or _is_nil(other):
            if _is_nil(first) and _is_nil(other):
                return True
        elif _kind(first) != _kind(other):
            raise FormatError("incompatible types for comparison")
        elif first == other:
            return True
    return False


def _ne(first: Value, second: Value) -> bool:
    return not _eq(first, second)


def _lt(first: Value, second: Value) -> bool:
    if _kind(first) != _kind(second):
        raise FormatError("incompatible types for comparison")
    if isinstance(first, bool):
        raise FormatError("invalid type for comparison")
    if isinstance(first, str) and isinstance(second, str):
        return first.encode() < second.encode()
    return first < second  # type: ignore[operator]


def _le(first: Value, second: Value) -> bool:
    return _lt(first, second) or _eq(first, second)


def _gt(first: Value, second: Value) -> bool:
    return not _le(first, second)


def _ge(first: Value, second: Value) -> bool:
    return not _lt(first, second)


def _call(*_: Value) -> Value:
    raise FormatError("call is not supported", unsupported=True)


def _type(value: Value) -> str:
    return "<nil>" if isinstance(value, NoValue) else type_of(value)


BUILTINS: Final[Mapping[str, Callable[..., Value]]] = {
    "and": _call,
    "call": _call,
    "eq": _eq,
    "ge": _ge,
    "gt": _gt,
    "html": _html,
    "index": _index,
    "js": _js,
    "le": _le,
    "len": _len,
    "lt": _lt,
    "ne": _ne,
    "not": _not,
    "or": _call,
    "print": _print,
    "printf": _printf,
    "println": _println,
    "slice": _slice,
    "urlquery": _urlquery,
}
"""Go's functions by name. `and` and `or` are only names here: whoever executes a template evaluates them lazily."""
