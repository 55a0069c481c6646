"""A parsed document and the way back from a value to the text it was written as.

Decides how positions are kept and turned into lines and columns. Must not know YAML's grammar beyond what the parser's
events say, nor any kind.

While reading, only the offset of each key and value is kept. Lines, columns and the ends of tokens are worked out when
somebody asks, which is when something is to be reported.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, NamedTuple, TypeAlias

from kservec.core.diagnostics import Span
from kservec.core.paths import Json, Path, index_of
from kservec.core.patterns import Pattern
from kservec.core.text.events import Ends, find_ends

Position: TypeAlias = "int | list[Any]"
"""Offset of a scalar; `[offset, item, ...]` for a list; `[offset, key, value, ...]` for a map, in its order."""

_find_breaks = Pattern(r"\r\n|\r|\n").finditer
_match_token = Pattern(r"\"(?:[^\"\\\n]++|\\.)*+\"|'[^'\n]*'|[^\s,:\[\]{}]++(?::[^\s,\[\]{}]++)*+").match
_match_properties = Pattern(r"(?:[&!]\S*[ \t]+)*").match


class _Place(NamedTuple):
    """Where a value was written, and its key if it is in a map."""

    key: Position | None
    value: Position


class SourceText:
    """The text of a file, or what is left of it from some line on. Offsets count from where it begins."""

    __slots__ = ("_base", "_ends", "_starts", "_whole", "file")

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._whole = text
        self._base = 0
        self._starts: list[int] = []
        self._ends: dict[int, Ends] = {}

    @property
    def text(self) -> str:
        """The text itself."""
        return self._whole[self._base :]

    def starting_at(self, offset: int) -> SourceText:
        """The text from `offset`, which begins a line, to the end of the file."""
        return self._derived(self._whole, self._base + offset)

    def with_blanks(self, pattern: re.Pattern[str]) -> SourceText:
        """The text with a space for each character that matches."""
        return self._derived(pattern.sub(" ", self._whole), self._base)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of the character at `offset`."""
        if not self._starts:
            self._starts += (0, *(found.end() for found in _find_breaks(self._whole)))
        line = bisect_right(self._starts, self._base + offset)
        return line, self._base + offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The stretch from `start` up to, not including, `end`."""
        return Span(self.file, *self.place(start), *self.place(end))

    def token(self, start: int) -> Span:
        """The word, or the quoted text, that begins at `start`: a guess good enough to underline."""
        found = _match_token(self._whole, self._base + start)
        end = found.end() - self._base if found else start + 1
        return self.span(start, min(end, len(self._whole) - self._base))

    def ends(self, start: int) -> Ends:
        """Where the parts of the document that begins at `start` end; worked out once."""
        if start not in self._ends:
            self._ends[start] = find_ends(self.text, start)
        return self._ends[start]

    def _derived(self, whole: str, base: int) -> SourceText:
        derived = SourceText(self.file, whole)
        derived._base = base
        derived._starts = self._starts
        return derived


class Document:
    """One document of an input file: its value, and where each part of it was written."""

    __slots__ = ("file", "positions", "start", "text", "value")

    def __init__(
        self, file: str, value: Json, positions: Position | None = None, text: SourceText | None = None, start: int = 0
    ) -> None:
        """`start` is the offset in `text` at which the parser can begin to read the document again.

        Without `text` there is only the file to name.
        """
        self.file = file
        self.value = value
        self.positions = positions
        self.start = start
        self.text = text

    def __repr__(self) -> str:
        return f"Document({self.file!r}, line={self.line})"

    @property
    def line(self) -> int:
        """The line, from 1, that the document's value begins on; 0 if it was in no file."""
        return self.span().line

    def span(self, path: Path = ()) -> Span:
        """The text of the value at `path`, or of the nearest value above it that was written.

        A step into a list is an index or the merge key of an item, as in `Tree`.
        """
        return self._span(self._walk(path)[-1].value)

    def key_span(self, path: Path) -> Span:
        """The text of the key that `path` ends with; of a list item the item; else as `span` falls back."""
        places = self._walk(path)
        last = places[-1]
        return self._span(last.value if last.key is None or len(places) <= len(path) else last.key)

    def scalar(self, path: Path) -> int | None:
        """The offset in `text` of the scalar at `path`, its anchor and tag included; None if there is none."""
        places = self._walk(path)
        position = places[-1].value
        return position if isinstance(position, int) and len(places) > len(path) else None

    def quoted(self, path: Path) -> bool:
        """Whether the scalar at `path` was written in quotes or as a block, and so is text whatever it looks like."""
        position = self.scalar(path)
        if self.text is None or position is None:
            return False
        text = self.text.text
        properties = _match_properties(text, position)
        return text[properties.end() if properties else position :][:1] in ("'", '"', "|", ">")

    def plain(self, path: Path) -> str:
        """The scalar at `path` as it was written, if that is one word without quotes; else empty."""
        position = self.scalar(path)
        if self.text is None or position is None or self.quoted(path):
            return ""
        found = _match_token(self.text.text, position)
        return found.group() if found else ""

    def _walk(self, path: Path) -> list[_Place]:
        """The places of the root and of each step, as far as they were written."""
        value = self.value
        position: Position = self.start if self.positions is None else self.positions
        places = [_Place(None, position)]
        field = ""
        for step in path:
            key: Position | None = None
            if isinstance(value, dict) and step in value and isinstance(position, list):
                i = 1 + 2 * list(value).index(step)
                key, position, value = position[i], position[i + 1], value[step]
            elif isinstance(value, list) and isinstance(position, list) and (i := index_of(value, field, step)) >= 0:
                position, value = position[i + 1], value[i]
            else:
                break
            places.append(_Place(key, position))
            field = step if isinstance(step, str) else ""
        return places

    def _span(self, position: Position) -> Span:
        if self.text is None:
            return Span(self.file)
        ends = self.text.ends(self.start)
        if isinstance(position, list):
            start = position[0]
            end = ends.collections.get(start)
        else:
            start = position
            end = ends.scalars.get(start)
        return self.text.token(start) if end is None else self.text.span(start, end)
