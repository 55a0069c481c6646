"""A JSON value to YAML, always the same way: the bytes that are committed.

Decides key order, indentation, and when text needs quotes. Must not know kinds or files.

Text stands without quotes only if every reader takes it for text: YAML 1.1 (PyYAML), YAML 1.2 and Kubernetes differ on
`on`, `y`, `1e3`, `0o17`, `08`, `12:30`, `2001-01-01` and more, so all that looks like any of these is quoted. Lines
are never folded and values never shared by aliases. Maps are written in the order of their keys' code points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import isfinite
from typing import TypeAlias

from kservec.core.patterns import Pattern
from kservec.core.text.scalars import shortest_number
from kservec.core.tree import Json

Write: TypeAlias = Callable[[str], None]

_FIRST_KEYS = ("apiVersion", "kind", "metadata")
_WORDS = frozenset(("y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", "inf", ".nan", ".inf"))
_LONGEST_CACHED = 80
_LONGEST_SIMPLE_KEY = 1000

# Characters that mean nothing to YAML anywhere in a word, and those among them that are in no number and no date.
_CHAR = "[A-Za-z0-9_./@%=,+$()~-]"
_NO_NUMBER = "[g-nG-Np-sP-Su-wU-WyY%/@=~$()]"
_WORD = f"{_CHAR}*+(?::{_CHAR}++)*+"
_match_plain = re.compile(rf"(?:-{{0,2}}[A-Za-z]|[_/$(]|(?=\S*{_NO_NUMBER})[0-9.]){_WORD}(?: {_CHAR}{_WORD})*+\Z").match

# What turns the direction of text is printable to YAML, and has a reviewer read something else than what runs.
_TURNING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNPRINTABLE = f"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_TURNING}\ufeff\ud800-\udfff\ufffe\uffff"
_ESCAPED = re.compile(f'["\\\\\t\n{_UNPRINTABLE}]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}

# Lines that keep their meaning as a block: no tab before and no blank after the text of a line. Lines that begin like a
# command of a CI system would be taken for one in its log, where it cannot tell whose they are.
_LINE = rf"(?!\t| *(?:::|##(?:vso)?\[))[^\n{_UNPRINTABLE}]*+(?<![ \t])"
_match_block = Pattern(rf"(?![ \n])(?:{_LINE}\n)*+{_LINE}(?<!\n\n)\Z").match


def dump(value: Json) -> str:
    """One document, without `---`: `apiVersion`, `kind` and `metadata` first, all other keys sorted.

    Raises:
        TypeError: a value that is not JSON, or a key that is not text.
        ValueError: an infinity, not-a-number, or half of a surrogate pair in a text.
    """
    out: list[str] = []
    if value.__class__ is dict and value:
        _write_map(out.append, in_order(value), 0, "")
    elif value.__class__ is list and value:
        _write_list(out.append, value, 0, "")
    else:
        out.append(f"{_inline(value)}\n")
    return "".join(out)


def in_order(body: dict[str, Json]) -> list[tuple[str, Json]]:
    """The fields of an object in the order in which they are written."""
    first = [(key, body[key]) for key in _FIRST_KEYS if key in body]
    return first + [item for item in sorted(body.items()) if item[0] not in _FIRST_KEYS]


def line_count(value: Json) -> int:
    """How many lines a value takes that is neither a map nor a list, or an empty one."""
    if value.__class__ is str and "\n" in value and _match_block(value):
        return 2 + value.removesuffix("\n").count("\n")
    return 1


def key_lines(key: str) -> int:
    """How many lines a key takes."""
    return 1 if len(key) <= _LONGEST_CACHED or len(_quote(key)) <= _LONGEST_SIMPLE_KEY else 2


def stream(texts: Iterable[str]) -> str:
    """Documents one after the other, each below a line of `---`."""
    return "".join(f"---\n{text}" for text in texts)


def _write_map(write: Write, items: Iterable[tuple[str, Json]], depth: int, lead: str) -> None:
    """`lead` stands before the first key, where the line has been begun or is to be indented."""
    indent = "  " * depth
    for key, value in items:
        head = lead + (_key(key) if len(key) <= _LONGEST_CACHED else _long_key(key, indent))
        kind = value.__class__
        if kind is str and len(value) <= _LONGEST_CACHED and "\n" not in value:
            write(f"{head} {_text(value)}\n")
        elif kind is list and value:
            write(f"{head}\n")
            _write_list(write, value, depth, indent)
        elif kind is dict and value:
            write(f"{head}\n")
            _write_map(write, sorted(value.items()), depth + 1, f"{indent}  ")
        else:
            _write_scalar(write, head, value, depth)
        lead = indent


def _write_list(write: Write, items: list[Json], depth: int, lead: str) -> None:
    indent = "  " * depth
    for value in items:
        if value.__class__ is dict and value:
            _write_map(write, sorted(value.items()), depth + 1, f"{lead}- ")
        elif value.__class__ is list and value:
            _write_list(write, value, depth + 1, f"{lead}- ")
        else:
            _write_scalar(write, f"{lead}-", value, depth)
        lead = indent


def _write_scalar(write: Write, head: str, value: Json, depth: int) -> None:
    """What stands in one line after its key or dash, and text of several lines."""
    if value.__class__ is not str:
        write(f"{head} {_inline(value)}\n")
    elif "\n" in value and _match_block(value):
        indent = "  " * (depth + 1)
        body = value.removesuffix("\n")
        write(f"{head} {'|-' if body is value else '|'}\n")
        for line in body.split("\n"):
            write(f"{indent}{line}\n" if line else "\n")
    else:
        write(f"{head} {_text(value) if len(value) <= _LONGEST_CACHED else _quote(value)}\n")


def _inline(value: Json) -> str:
    kind = value.__class__
    if kind is int:
        return repr(value)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if kind is str:
        return _quote(value)
    if kind is float:
        return _float(value)
    if value in ({}, []):
        return "{}" if kind is dict else "[]"
    raise TypeError(f"{kind.__name__} is no JSON value")


def _float(value: float) -> str:
    """Digits that every reader takes for this number: PyYAML wants a point before an exponent."""
    if not isfinite(value):
        raise ValueError(f"{value} is no JSON number")
    mantissa, e, exponent = repr(shortest_number(value)).partition("e")
    return mantissa + e + exponent if not e or "." in mantissa else f"{mantissa}.0e{exponent}"


def _quote(text: str) -> str:
    """The text as one line, in double quotes unless every reader takes it for text without them."""
    if _match_plain(text) and text.lower() not in _WORDS:
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if "\ud800" <= char <= "\udfff":
        raise ValueError("half of a surrogate pair cannot be written")
    return _SHORT_ESCAPES.get(char) or f"\\u{ord(char):04x}"


def _long_key(key: str, indent: str) -> str:
    """Readers look for the colon within 1,024 characters, unless a question mark announces the key."""
    quoted = _quote(key)
    return f"{quoted}:" if len(quoted) <= _LONGEST_SIMPLE_KEY else f"? {quoted}\n{indent}:"


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    if key.__class__ is not str:
        raise TypeError(f"a key is {key.__class__.__name__}, not text")
    return f"{_quote(key)}:"


_text = lru_cache(maxsize=8192)(_quote)
