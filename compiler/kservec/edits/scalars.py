"""The text of a value that is put into a user's file, in the style of what stands around it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from kservec.emit import dump

if TYPE_CHECKING:
    from kservec.core.paths import Json

_no_flow = re.compile(r"[,\[\]{}]").search
_has_control = re.compile(r"[\x00-\x1f\x7f-\x9f]").search
SINGLE, DOUBLE = "'", '"'


def scalar_text(value: Json, style: str | None = None, *, in_flow: bool = False) -> str:
    """A scalar in one line, in the quotes that stood there where they can hold it."""
    if not isinstance(value, str):
        return json.dumps(value)
    if style == SINGLE and not _has_control(value):
        return f"'{value.replace(SINGLE, SINGLE * 2)}'"
    plain = dump(value).removesuffix("\n")
    if style == DOUBLE or (in_flow and _no_flow(plain)):
        return plain if plain.startswith(DOUBLE) else json.dumps(value, ensure_ascii=False)
    return plain


def entry_text(key: str, value: Json, indent: str, newline: str) -> str:
    """An entry of a block map, its first line without indentation and its last one without an end."""
    lines = dump({key: value}).removesuffix("\n").split("\n")
    return newline.join((lines[0], *(f"{indent}{line}" if line else line for line in lines[1:])))


def item_text(value: Json, indent: str, newline: str) -> str:
    """An item of a block list, its first line without indentation and its last one without an end."""
    lines = dump([value]).removesuffix("\n").split("\n")
    return newline.join((lines[0], *(f"{indent}{line}" if line else line for line in lines[1:])))


def flow_entry_text(key: str, value: Json, *, as_json: bool) -> str:
    """An entry of a map in braces."""
    if as_json or isinstance(value, dict | list):
        return f"{json.dumps(key) if as_json else scalar_text(key)}: {json.dumps(value, ensure_ascii=False)}"
    return f"{scalar_text(key, in_flow=True)}: {scalar_text(value, in_flow=True)}"
