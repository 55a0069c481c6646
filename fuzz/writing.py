"""Values as YAML, in one of the many ways in which YAML can be written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isnan
from random import Random
from typing import Any

from fuzz.words import Raw

_is_word = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*+(?::[A-Za-z0-9_./-]++)*+\Z").match
_TAKEN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))


@dataclass(frozen=True, slots=True)
class Style:
    """How values are written: `quote` is 0 for quotes where they are needed, 1 for `"` and 2 for `'` everywhere."""

    indent: int = 2
    flow_below: int = 99
    quote: int = 0
    lists_indented: bool = False


PLAIN = Style()


def any_style(chance: Random) -> Style:
    """Some way of writing."""
    return Style(
        chance.choice((1, 2, 2, 4, 7)), chance.choice((0, 1, 2, 4, 99)), chance.randrange(3), chance.random() < 0.5
    )


def written(documents: list[Any], style: Style = PLAIN) -> str:
    """Documents one after the other."""
    return "---\n".join(document_text(value, style) for value in documents)


def document_text(value: Any, style: Style = PLAIN) -> str:
    """One document."""
    if isinstance(value, (dict, list)) and value and style.flow_below > 0:
        return "".join(f"{line}\n" for line in block(value, style, 0))
    return flow(value, style) + "\n"


def block(value: Any, style: Style, depth: int) -> list[str]:
    """The lines of a map or list that has something in it."""
    lines: list[str] = []
    pad = " " * style.indent
    for key, part in value.items() if isinstance(value, dict) else ((None, part) for part in value):
        head = "-" if key is None else f"{scalar(key, style)}:"
        if not isinstance(part, (dict, list)) or not part or depth + 1 >= style.flow_below:
            lines.append(f"{head} {flow(part, style)}")
            continue
        inner = block(part, style, depth + 1)
        if key is None:
            lines.append(f"- {inner[0]}")
            lines += [f"  {line}" for line in inner[1:]]
        else:
            lines.append(head)
            lines += inner if isinstance(part, list) and not style.lists_indented else [pad + line for line in inner]
    return lines


def flow(value: Any, style: Style) -> str:
    """A value in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k, style)}: {flow(v, style)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v, style) for v in value) + "]"
    return scalar(value, style)


def scalar(value: Any, style: Style) -> str:
    """A single value. What JSON cannot say is said as YAML does."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, str):
        if not style.quote and _is_word(value) and value.lower() not in _TAKEN:
            return value
        if style.quote == 2 and value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value - value != 0:
        return ".nan" if isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 1000:
        return hex(value)
    return json.dumps(value)


def encoded(text: str) -> bytes:
    """Text as bytes; halves of surrogate pairs become bytes that are no UTF-8."""
    return text.encode("utf-8", "surrogatepass")
