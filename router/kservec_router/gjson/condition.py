"""Conditions: does a path find anything in a document?

Most conditions of graphs have one of two shapes, keys one after the other or a comparison of the document as a whole.
Those are made into a test on the parsed document, which is several times faster than a walk through its text and gives
the same answer as long as no key that matters is repeated or written with escapes. All others walk.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from kservec_router.gjson.lookup import get
from kservec_router.gjson.result import parse_float
from kservec_router.gjson.valid import valid

Test = Callable[[Any], bool]

DEEPEST = 1000

_KEY = r"[A-Za-z0-9_-]+"
_KEYS = rf"{_KEY}(?:\.{_KEY})*"
_PLAIN = re.compile(rf"(?:@this[.|])?({_KEYS})")
_WHOLE = re.compile(rf'\[@this\]\.#\(({_KEYS})(?:(==?|!=|<=|>=|<|>)(?:"([^"\\]*)"|([A-Za-z0-9_.+-]+)))?\)')
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_MISSING = object()


class Document:
    """A body that conditions look at; it is parsed once. `value` is no container where the text must decide."""

    __slots__ = ("body", "value")

    def __init__(self, body: bytes) -> None:
        self.body = body
        try:
            self.value: Any = orjson.loads(body)
        except ValueError:
            self.value = None

    @property
    def is_json(self) -> bool:
        """Whether the body is JSON, nested at most DEEPEST levels."""
        return self.value is not None or valid(self.body, DEEPEST)

    def is_testable(self, keys: tuple[bytes, ...]) -> bool:
        """Whether tests on the value are right: each of *keys* (with quotes) stands in the body once at most.

        Else the first of repeated keys would count, where the parser keeps the last. An escape could hide one.
        """
        if not isinstance(self.value, (dict, list)):
            return False
        body = self.body
        for key in keys:
            if body.count(key) > 1:
                return False
        return not (b"\\" in body and b"\\u" in body)  # a single byte is found far faster, and mostly missing


class Condition(NamedTuple):
    """A compiled condition."""

    text: str
    path: bytes
    keys: tuple[bytes, ...] = ()
    test: Test | None = None

    def holds(self, document: Document) -> bool:
        """Whether the path finds something in the document, null included.

        Raises:
            RecursionError: The path is made of very many modifiers.
        """
        if self.test is not None and document.is_testable(self.keys):
            return self.test(document.value)
        return get(document.body, self.path).exists


def compile_condition(text: str) -> Condition:
    """The condition that *text*, a GJSON path, stands for."""
    path = text.encode()
    if plain := _PLAIN.fullmatch(text):
        keys = tuple(plain[1].split("."))
        return Condition(text, path, _quoted(keys), lambda value: _walk(value, keys) is not _MISSING)
    if whole := _WHOLE.fullmatch(text):
        keys = tuple(whole[1].split("."))
        return Condition(text, path, _quoted(keys), _comparison(keys, whole[2], whole[3] or whole[4] or ""))
    return Condition(text, path)


def _quoted(keys: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(sorted({f'"{key}"'.encode() for key in keys}))


def _walk(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key, _MISSING)
        elif isinstance(value, list) and key.isdigit() and len(key) < 10 and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value


def _comparison(keys: tuple[str, ...], comparison: str | None, right: str) -> Test:
    """A test of the value at *keys*; how the right side is read goes by the value's type, as in GJSON."""
    if comparison is None:
        return lambda value: _walk(value, keys) is not _MISSING
    compare, number, equal = _COMPARE[comparison], parse_float(right.encode()), comparison in ("=", "==")
    only = keys[0] if len(keys) == 1 else None

    def test(value: Any) -> bool:
        found = value.get(only) if only is not None and isinstance(value, dict) else _walk(value, keys)
        if isinstance(found, str):
            return compare(found, right)
        if isinstance(found, bool):
            return _compare_boolean(found, comparison, right) if not equal else right == str(found).lower()
        if isinstance(found, int | float):
            return compare(float(found), number)
        return False

    return test


def _compare_boolean(left: bool, comparison: str, right: str) -> bool:
    name, other = ("true", "false") if left else ("false", "true")
    if comparison == "!=":
        return right != name
    towards = ">" if left else "<"
    return comparison == towards + "=" or (comparison == towards and right == other)
