"""Paths as text, cut into parts. Every cut is remembered, so a graph's conditions are read once.

How a part is read depends on whether it meets an object or an array, so each has its own reading.
Behaviour: tidwall/gjson 1.18 (parseObjectPath, parseArrayPath, parseQuery, splitPossiblePipe, parseSubSelectors).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kservec_router.gjson.scan import balanced_end, unquote

MODIFIERS = frozenset({
    b"pretty", b"ugly", b"reverse", b"this", b"flatten", b"join", b"valid", b"keys", b"values", b"tostr", b"fromstr",
    b"group", b"dig",
})  # fmt: skip

_OPERATORS = (b"!=", b"!%", b"<=", b">=", b"==", b"<", b">", b"=", b"%")
_NAME_END = re.compile(rb"[.|:]")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_SELECTOR_TOKEN = re.compile(rb'\\.|"(?:[^"\\]|\\.)*+"?|[@:,\[\](){}]', re.DOTALL)
_SPACE = bytes(range(33))
_OPENING, _CLOSING = b"[({", b"])}"
_cached = lru_cache(maxsize=4096)


class ObjectPart(NamedTuple):
    """The first part of a path as an object reads it; `rest` goes on within, `pipe` with the result as a whole."""

    name: bytes
    wild: bool = False
    rest: bytes | None = None
    pipe: bytes | None = None


class Query(NamedTuple):
    """`#(path operator value)`, with `all` when a `#` follows; an empty operator asks whether the path exists."""

    path: bytes = b""
    operator: bytes = b""
    value: bytes = b""
    all: bool = False


class ArrayPart(NamedTuple):
    """The first part of a path as an array reads it; `each` is what `#.` asks of every item."""

    name: bytes
    counts: bool = False
    each: bytes | None = None
    query: Query | None = None
    rest: bytes | None = None
    pipe: bytes | None = None


class Selector(NamedTuple):
    """One member of `{name:path}` or `[path]`."""

    name: bytes
    path: bytes
    named: bool


def _starts_pipe(path: bytes) -> bool:
    """Whether what follows a dot is taken on the result as a whole: a modifier or a multipath."""
    if path[:1] != b"@":
        return path[:1] in (b"[", b"{")
    end = _NAME_END.search(path, 1)
    return path[1 : end.start() if end else len(path)] in MODIFIERS


@_cached
def object_part(path: bytes) -> ObjectPart:
    """The first part of *path*, for an object."""
    name, wild, at = bytearray(), False, 0
    while at < len(path):
        char = path[at : at + 1]
        if char == b"|":
            return ObjectPart(bytes(name), wild, None, path[at + 1 :])
        if char == b".":
            after = path[at + 1 :]
            piped = after != b"" and _starts_pipe(after)
            return ObjectPart(bytes(name), wild, None if piped else after, after if piped else None)
        if char == b"\\":
            at += 1
            char = path[at : at + 1]
        elif char in (b"*", b"?"):
            wild = True
        name += char
        at += 1
    return ObjectPart(bytes(name), wild)


@_cached
def array_part(path: bytes) -> ArrayPart:
    """The first part of *path*, for an array."""
    query, after = _query(path)
    if query is None and path[:2] in (b"#(", b"#["):
        return ArrayPart(path, counts=True, query=Query())  # it does not close: it asks whether an item exists
    counts = query is not None
    for at in range(after, len(path)):
        char = path[at : at + 1]
        if char == b"|":
            return ArrayPart(path[:at], counts, None, query, None, path[at + 1 :])
        if char == b".":
            rest = path[at + 1 :]
            if not counts and rest and _starts_pipe(rest):
                return ArrayPart(path[:at], pipe=rest)
            each = rest if at == 1 and path[:1] == b"#" else None
            return ArrayPart(path[:at], counts, each, query, rest)
        counts = counts or char == b"#"
    return ArrayPart(path, counts, None, query)


def _query(path: bytes) -> tuple[Query | None, int]:
    """The query at the start of *path*, and where it ends."""
    if path[:2] not in (b"#(", b"#["):
        return None, 0
    end, middle, escaped = _query_end(path)
    if end < 0:
        return None, 0
    operator, value = _comparison(path[middle:end].strip(_SPACE)) if middle else (b"", b"")
    if len(value) >= 2 and value[:1] == value[-1:] == b'"':
        value = unquote(value) if escaped else value[1:-1]
    left = path[2 : middle or end].strip(_SPACE)
    return Query(left, operator, value, path[end + 1 : end + 2] == b"#"), end + 1


def _query_end(path: bytes) -> tuple[int, int, bool]:
    """Where the query closes (-1: never), where its operator stands (0: none), whether a string in it has escapes."""
    at, depth, middle, escaped = 2, 1, 0, False
    while at < len(path):
        char = path[at : at + 1]
        if depth == 1 and not middle and char in b"!=<>%":
            middle = at
        elif char == b"\\":
            at += 1
        elif char in b"[(":
            depth += 1
        elif char in b"])":
            depth -= 1
            if not depth:
                return at, middle, escaped
        elif char == b'"':
            quoted = _QUOTED.match(path, at)
            text = quoted[0] if quoted else char
            escaped = escaped or b"\\" in text
            at += len(text) - 1
        at += 1
    return -1, 0, False


def _comparison(text: bytes) -> tuple[bytes, bytes]:
    """Operator and right side; `==` is `=`."""
    if len(text) == 1:
        return text, b""
    for operator in _OPERATORS:
        if text.startswith(operator):
            return (b"=" if operator == b"==" else operator), text[len(operator) :].strip(_SPACE)
    return b"", text


@_cached
def split_pipe(path: bytes) -> tuple[bytes, bytes | None]:
    """What stands before and after the first `|` outside of queries; None when there is none."""
    if b"|" not in path:
        return path, None
    if path[:1] == b"{":
        end = 1 + balanced_end((path[1:2] if path[1:2] == b'"' else b"[") + path[2:], 0)
        return (path[:end], path[end + 1 :]) if path[end : end + 1] == b"|" else (path, None)
    at = 0
    while at < len(path):
        char = path[at : at + 1]
        if char == b"\\":
            at += 1
        elif char == b"|":
            return path[:at], path[at + 1 :]
        elif path[at : at + 3] in (b".#(", b".#["):
            at = _balanced(path, at + 2) - 1
        elif path[at : at + 2] == b".#":
            at += 2
        at += 1
    return path, None


def _balanced(path: bytes, at: int) -> int:
    """The end of the bracketed text at *at*, strings and escapes respected; the end of the path if it never closes."""
    depth = 0
    while at < len(path):
        char = path[at : at + 1]
        if char == b"\\":
            at += 1
        elif char == b'"':
            quoted = _QUOTED.match(path, at)
            at += len(quoted[0]) - 1 if quoted else 0
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(path)


@_cached
def selectors(path: bytes) -> tuple[tuple[Selector, ...] | None, bytes]:
    """The members of the multipath that *path* begins with, and what follows; None and nothing if it never closes."""
    named = path[:1] == b"{"
    found: list[Selector] = []
    start, colon, modifier, depth = 1, 0, False, 1
    for token in _SELECTOR_TOKEN.finditer(path, 1):
        at, char = token.start(), token[0]
        if char == b"@":
            modifier = modifier or path[at - 1 : at] in (b".", b"|")
        elif char == b":":
            colon = colon or (at if depth == 1 and not modifier else 0)
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING or (char == b"," and depth == 1):
            depth -= char != b","
            if depth > 1 or (depth == 1 and char != b","):
                continue
            found.append(Selector(path[start:colon] if colon else b"", path[colon + 1 if colon else start : at], named))
            if not depth:
                return tuple(found), path[at + 1 :]
            start, colon, modifier = at + 1, 0, False
    return None, b""


def last_name(path: bytes) -> bytes:
    """The last component of a path, which names a member that has no name of its own; `_` when it is no plain name."""
    start = max((i for i, c in enumerate(path) if c in b".|" and not (i and path[i - 1] == 92)), default=-1)
    name = path[start + 1 :]
    return b"_" if any(c < 32 or c in b"[]{}()#|!" for c in name) else name
