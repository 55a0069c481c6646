"""Following a path into a document.

Behaviour: tidwall/gjson 1.18 (Get, parseObject, parseArray, queryMatches), of whose oddities graphs may depend on any:
the first of repeated keys wins, but a later one is tried when the first does not lead on; a pipe is taken even when
nothing was found; the pipe of a query is taken only when an item matched.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from kservec_router.gjson.modifiers import apply_modifier, quoted, static_value
from kservec_router.gjson.paths import (
    ArrayPart,
    ObjectPart,
    Query,
    Selector,
    array_part,
    last_name,
    object_part,
    selectors,
    split_pipe,
)
from kservec_router.gjson.result import FALSE, NOTHING, TRUE, Kind, Result, parse_bool, parse_float
from kservec_router.gjson.scan import container_start, items, members, parse, unquote, value_at
from kservec_router.gjson.valid import valid
from kservec_router.gjson.wildcard import matches

_COMPARE: dict[bytes, Callable[[Any, Any], bool]] = {
    b"=": operator.eq, b"!=": operator.ne, b"<": operator.lt, b"<=": operator.le, b">": operator.gt, b">=": operator.ge,
}  # fmt: skip
_WITH_TRUE = {b"=": b"true", b">": b"false"}
_WITH_FALSE = {b"=": b"false", b"<": b"true"}


def get(json: bytes, path: bytes) -> Result:
    """What *path* finds in *json*; the result does not exist when it finds nothing.

    Raises:
        RecursionError: The path is made of very many modifiers.
    """
    if len(path) > 1 and path[:1] in (b"[", b"{"):
        members_of, path = selectors(path)
        if members_of is not None and path[:1] in (b"", b"|", b"."):
            return _multipath(json, members_of, path)
    elif len(path) > 1:
        changed = _transformed(json, path)
        if changed is not None:
            return changed
    search = _Search(json)
    if path[:2] == b"..":
        search.in_array(0, path[2:])
    elif (start := container_start(json)) >= 0:
        search.within(start, path)
    return search.value if search.pipe is None else get(search.value.raw, search.pipe)


def _transformed(json: bytes, path: bytes) -> Result | None:
    """The result of a path that begins with a modifier or a literal; None for other paths."""
    if path[:1] == b"@":
        outcome = apply_modifier(json, path, get)
    elif path[:1] == b"!":
        outcome = static_value(path)
    else:
        return None
    if outcome is None:
        return None
    text, rest = outcome
    return get(text, rest[1:]) if rest[:1] in (b"|", b".") else parse(text)


def _multipath(json: bytes, chosen: tuple[Selector, ...], rest: bytes) -> Result:
    """What is built from what the members of a multipath find, or what the rest of the path finds in that."""
    found = []
    for selector in chosen:
        value = get(json, selector.path)
        if value.exists:
            name = _member_name(selector) + b":" if selector.named else b""
            found.append(name + (value.raw or value.as_text() or b"null"))
    joined = b",".join(found)
    built = b"{%b}" % joined if chosen[0].named else b"[%b]" % joined
    return get(built, rest[1:]) if rest else Result(Kind.JSON, built)


def _member_name(selector: Selector) -> bytes:
    name = selector.name
    if name[:1] == b'"' and valid(name):
        return name
    return quoted(name or last_name(selector.path))


def _matches_key(part: ObjectPart, key: bytes) -> bool:
    name = unquote(key)
    return matches(name, part.name) if part.wild else name == part.name


class _Search:
    """One walk into a document: the value found so far, and the pipe that is to follow."""

    __slots__ = ("json", "pipe", "value")

    def __init__(self, json: bytes) -> None:
        self.json = json
        self.value = NOTHING
        self.pipe: bytes | None = None

    def within(self, start: int, path: bytes) -> bool:
        """Look for *path* in the container at *start*; scalars hold nothing."""
        lead = self.json[start]
        if lead == 123:
            return self.in_object(start + 1, path)
        return lead == 91 and self.in_array(start + 1, path)

    def in_object(self, at: int, path: bytes) -> bool:
        """Look in the members from *at* on; true when the search is over."""
        part = object_part(path)
        if part.rest is None and part.pipe is not None:
            self.pipe = part.pipe
        for key, start in members(self.json, at):
            if not _matches_key(part, key):
                continue
            if part.rest is None:
                self.value = value_at(self.json, start)
                return True
            if self.within(start, part.rest):
                return True
        return False

    def in_array(self, at: int, path: bytes) -> bool:
        """Look in the items from *at* on; true when the search is over."""
        part = array_part(path)
        if part.rest is None and part.pipe is not None:
            self.pipe = part.pipe
        if part.query is not None:
            return self.by_query(at, part, part.query)
        if part.counts:
            return part.name == b"#" and self.all_items(at, part)
        index = int(part.name) if part.name.isdigit() and len(part.name) < 20 else -1
        for number, start in enumerate(items(self.json, at)):
            if number == index:
                if part.rest is None:
                    self.value = value_at(self.json, start)
                    return True
                return self.within(start, part.rest)
        return False

    def all_items(self, at: int, part: ArrayPart) -> bool:
        """`#`: how many items; `#.path`: what the path finds in each."""
        if part.each is None:
            count = sum(1 for _ in items(self.json, at))
            self.value = Result(Kind.NUMBER, b"%d" % count, b"", float(count))
            return True
        path, pipe = split_pipe(part.each)
        if pipe is not None:
            self.pipe = pipe
        found = [get(value_at(self.json, start).raw, path) for start in items(self.json, at)]
        raws = [one.raw or one.as_text() for one in found if one.exists]
        self.value = Result(Kind.JSON, b"[" + b",".join(raws) + b"]")
        return True

    def by_query(self, at: int, part: ArrayPart, query: Query) -> bool:
        """`#(...)`: the first item that matches; `#(...)#`: all of them, which does not end the search."""
        found = []
        path, pipe = split_pipe(part.rest) if part.rest is not None else (None, None)
        for start in items(self.json, at):
            item = value_at(self.json, start)
            if not _item_matches(item, query):
                continue
            if pipe is not None:
                self.pipe = pipe
            result = item if path is None else get(item.raw, path)
            if not query.all:
                self.value = result
                return True
            found.append(result.raw or result.as_text())
        if query.all and not self.value.exists:
            self.value = Result(Kind.JSON, b"[" + b",".join(raw for raw in found if raw) + b"]")
        return False


def _item_matches(item: Result, query: Query) -> bool:
    if item.kind is Kind.JSON:
        return query_matches(get(item.raw, query.path), query)
    return query.path == b"" and query_matches(item, query)


def query_matches(value: Result, query: Query) -> bool:
    """Whether a value passes the comparison of a query. The type of the value decides how the right side is read."""
    right = query.value
    if right[:1] == b"~":
        value, right = _as_boolean(value, right[1:])
    if not value.exists:
        return False
    if not query.operator:
        return True
    match value.kind:
        case Kind.STRING:
            return _compare_text(value.text, query.operator, right)
        case Kind.NUMBER:
            compare = _COMPARE.get(query.operator)
            return compare is not None and compare(value.number, parse_float(right))
        case Kind.TRUE:
            return _compare_boolean(query.operator, right, b">=", _WITH_TRUE)
        case Kind.FALSE:
            return _compare_boolean(query.operator, right, b"<=", _WITH_FALSE)
        case _:
            return False


def _compare_text(left: bytes, comparison: bytes, right: bytes) -> bool:
    if comparison in (b"%", b"!%"):
        return matches(left, right) == (comparison == b"%")
    compare = _COMPARE.get(comparison)
    return compare is not None and compare(left, right)


def _compare_boolean(comparison: bytes, right: bytes, always: bytes, equal: dict[bytes, bytes]) -> bool:
    if comparison == b"!=":
        return right != equal[b"="]
    return comparison == always or equal.get(comparison) == right


def _as_boolean(value: Result, wanted: bytes) -> tuple[Result, bytes]:
    """`~true`, `~false`, `~null`, `~*`: is the value like that? Compared with true."""
    match wanted:
        case b"*":
            like = value.exists
        case b"null":
            like = value.kind is Kind.NULL
        case b"true":
            like = value.as_bool()
        case b"false":
            like = _is_falsy(value)
        case _:
            return NOTHING, b""
    return (TRUE if like else FALSE), b"true"


def _is_falsy(value: Result) -> bool:
    if value.kind is Kind.STRING:
        return parse_bool(value.text) is False
    return value.kind in (Kind.NULL, Kind.FALSE) or (value.kind is Kind.NUMBER and value.number == 0)
