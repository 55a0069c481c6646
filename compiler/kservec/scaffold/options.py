"""The fields of the project file as text: what a new repository sets, and all the rest commented out at its default."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.project.reference import Option

Written = Mapping[str, Any]
"""What a new repository sets, by the names of the fields; mappings with fixed names by theirs."""

WIDTH = 100
STEP = "  "


def option_lines(options: Iterable[Option], written: Written, indent: str = "") -> Iterator[str]:
    """Every field with what it means: set, or commented out (`#name: value`) with the value that it has anyway."""
    for option in options:
        value = written.get(option.name)
        yield from comment(option.description, indent)
        if option.inner and value is not None:
            yield f"{indent}{option.name}:"
            yield from option_lines(option.inner, value, f"{indent}{STEP}")
        elif value is not None:
            yield f"{indent}{option.name}: {flow(value)}"
        else:
            yield from (f"#{line}" for line in silent_lines(option, indent))


def silent_lines(option: Option, indent: str) -> Iterator[str]:
    """A field at its default, and what is in it. The docs have what is deeper inside."""
    if not option.inner or indent:
        value = shown_value(option)
        hint = f" # for example {flow(option.example)}" if not value and option.example is not None else ""
        yield f"{indent}{option.name}: {flow(value)}{hint}"
        return
    yield f"{option.name}:"
    for inner in option.inner:
        yield from comment(inner.description, STEP)
        yield from silent_lines(inner, STEP)


def shown_value(option: Option) -> Any:
    """The value of a field that is not set, as it would be written."""
    is_mapping = bool(option.inner) or option.kind.startswith("a mapping of")
    return {} if option.default is None and is_mapping and not option.takes_null else option.default


def comment(text: str, indent: str) -> list[str]:
    """A text as lines of comment."""
    lead = f"{indent}# "
    return textwrap.wrap(text, WIDTH, initial_indent=lead, subsequent_indent=lead)


def flow(value: Any) -> str:
    """A value on one line of YAML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {flow(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str) and value and all(c.isalnum() or c in "-_/." for c in value) and value[0].isalpha():
        return value if value not in WORDS else json.dumps(value)
    return json.dumps(value)


WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
"""Texts that YAML reads as something else."""
