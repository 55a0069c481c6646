"""JSON text laid out for people, or without any spaces.

Behaviour: tidwall/pretty 1.2 (PrettyOptions, Ugly): an array without objects stays on one line where it fits.
"""

from __future__ import annotations

import re

from kservec_router.gjson.result import Result
from kservec_router.gjson.scan import children, parse, unquote

_STRING_OR_SPACE = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|[\x00-\x20]+', re.DOTALL)


def compact(json: bytes) -> bytes:
    """*json* without the spaces between its tokens."""
    return _STRING_OR_SPACE.sub(lambda found: found[1] or b"", json)


def pretty(json: bytes, *, width: int, indent: bytes, prefix: bytes, sort_keys: bool) -> bytes:
    """*json* with one member or item a line, ended by a newline; arrays of up to *width* bytes stay on their line."""
    layout = _Layout(width, indent, prefix, sort_keys)
    text = layout.block(parse(json), 0, len(prefix))
    return prefix + text + b"\n" if prefix or text else b""


class _Layout:
    __slots__ = ("indent", "prefix", "sort_keys", "width")

    def __init__(self, width: int, indent: bytes, prefix: bytes, sort_keys: bool) -> None:
        self.width, self.indent, self.prefix, self.sort_keys = width, indent, prefix, sort_keys

    def block(self, value: Result, depth: int, column: int) -> bytes:
        """*value* laid out; *column* is how much of its first line is taken."""
        if not (value.is_object or value.is_array):
            return value.raw
        room = self.width - column
        if value.is_array and self.width > 0 and room > 3:
            line = _line(value)
            if line is not None and len(line) <= room:
                return line
        margin = b"\n" + self.prefix + self.indent * (depth + 1)
        lines = []
        for key, child in sorted(children(value), key=_by_key) if self.sort_keys else children(value):
            head = key + b": " if value.is_object else b""
            lines.append(margin + head + self.block(child, depth + 1, len(margin) + len(head)))
        closing = margin[: len(margin) - len(self.indent)] if lines else b""
        return value.raw[:1] + b",".join(lines) + closing + (b"}" if value.is_object else b"]")


def _line(value: Result) -> bytes | None:
    """An array on one line; None when there is an object in it."""
    parts = []
    for _, child in children(value):
        part = _line(child) if child.is_array else child.raw
        if part is None or child.is_object:
            return None
        parts.append(part)
    return b"[" + b", ".join(parts) + b"]"


def _by_key(member: tuple[bytes, Result]) -> bytes:
    return unquote(member[0])
