"""Text inside a document: what the YAML in a scalar says, and where the JSON in one was written.

Scalars hold such text as a data key of a ConfigMap, or as an argument. Decides which character of the file stands for
a character of the value. Must not know what the text means. Where a value was folded or escaped its characters cannot
be told apart, and there is no answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import yaml

from kservec.core.text.document import SourceText
from kservec.core.text.reading import Limits, StopReadingError
from kservec.core.text.yaml_reader import YamlReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.core.paths import Json, Path
    from kservec.core.text.document import Document, Position

_match_block = re.compile(r"(?:[&!]\S*[ \t]+)*\|[^\r\n]*(?:\r\n|\r|\n)").match
_find_lines = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)").finditer


@lru_cache(maxsize=256)
def yaml_in(text: str) -> tuple[Json, tuple[Diagnostic, ...]] | None:
    """The first document of YAML that a value holds, and what is wrong with it; None if it cannot be read.

    It is read as the files themselves are, so that dates and odd numbers are text here, too.
    """
    reader = YamlReader(SourceText("", text), Limits())
    try:
        value = next((value for value, _ in reader.documents()), None)
    except (StopReadingError, yaml.YAMLError, ValueError):
        return None
    return value, tuple(reader.findings)


def span_at(document: Document, path: Path, offset: int) -> Span | None:
    """The word at an offset in the text that stands at `path`; None if it cannot be told where that is."""
    start = document.scalar(path)
    if start is None or document.text is None:
        return None
    at = _in_block(document.text.text, start, _text_at(document, path), offset)
    return None if at is None else document.text.token(at)


def setting_span(document: Document, path: Path, keys: Sequence[str], *, at_key: bool = False) -> Span | None:
    """Where a setting is written in the JSON that stands at `path`; None if that cannot be told.

    Args:
        document: the document.
        path: the scalar that holds the JSON.
        keys: the way to the setting through JSON objects. Letter case does not count, as in Go.
        at_key: whether the key is wanted, not its value.
    """
    read = _read(_text_at(document, path))
    found = _positions(*read, keys) if read is not None else None
    if found is None:
        return None
    start = found[0 if at_key else 1]
    start = start[0] if isinstance(start, list) else start
    return span_at(document, path, start)


@lru_cache(maxsize=4)
def _read(text: str) -> tuple[Json, Position] | None:
    """The first value in a text and its positions; None if it is no JSON. Many findings may be about one text."""
    from kservec.core.text.json_reader import JsonReader, NotJsonError  # noqa: PLC0415 - only findings ask for this

    reader = JsonReader(SourceText("", text), Limits())
    try:
        return next(reader.documents())
    except (NotJsonError, StopReadingError, StopIteration):
        return None


def block_at(document: Document, path: Path, text: str) -> tuple[int, int] | None:
    """How many lines stand before the block of `text` at `path`, and how far it is indented; None if it is no block."""
    start = document.scalar(path)
    header = _match_block(document.text.text, start) if document.text is not None and start is not None else None
    if header is None or document.text is None:
        return None
    first = next((line for line in text.split("\n") if line.strip()), "")
    for found in _find_lines(document.text.text, header.end()):
        if found[1].strip():
            return document.text.place(header.end())[0] - 1, len(found[1]) - len(first)
    return None


def _text_at(document: Document, path: Path) -> str:
    value = document.value
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _positions(value: Json, position: Position, keys: Sequence[str]) -> tuple[Position, Position] | None:
    """The positions of the key and the value that keys lead to. Of two spellings of a key the exact one counts."""
    key_position = position
    for wanted in keys:
        if not isinstance(value, dict) or not isinstance(position, list):
            return None
        named = [name for name in value if name.lower() == wanted.lower()]
        if not named:
            return None
        name = wanted if wanted in named else named[-1]
        i = 1 + 2 * list(value).index(name)
        key_position, position, value = position[i], position[i + 1], value[name]
    return key_position, position


def _in_block(text: str, start: int, value: str, offset: int) -> int | None:
    """Where the character at `offset` of a value stands in the text, in which the value's scalar begins at `start`."""
    header = _match_block(text, start)
    if header is None:
        return _in_line(text, start, value, offset)
    line = value.count("\n", 0, offset)
    wanted = value.split("\n")[line]
    column = offset - (value.rfind("\n", 0, offset) + 1)
    for i, found in enumerate(_find_lines(text, header.end())):
        if i == line:
            indent = len(found[1]) - len(wanted)
            return found.start() + indent + column if found[1].endswith(wanted) and indent >= 0 else None
    return None


def _in_line(text: str, start: int, value: str, offset: int) -> int | None:
    """The same for a scalar that stands as it is in one line, in quotes or not."""
    for begin in (start, start + 1):
        if text.startswith(value, begin):
            return begin + offset
    return None
