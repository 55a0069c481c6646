"""JSON with the offset of every key and value.

Decides only what JSON's grammar says. Must not know kinds.

Kubernetes tries JSON first when a file begins with `{`. Nearly all JSON is YAML too, but not all: surrogate pairs in
escapes, keys of more than 1,024 characters, a line break before the colon, several values one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from kservec.core.paths import Json
from kservec.core.text.document import Position, SourceText
from kservec.core.text.reading import CONTROL_CHARACTER, NUMBER, Limits, Reading
from kservec.core.text.scalars import BadNumberError, resolve

_match_space = re.compile(r"[ \t\r\n]*").match
_match_string = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+"').match
_match_open_string = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+').match
_match_number = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").match
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_QUOTE_ADVICE = "write it in quotes if it is meant as text"


class NotJsonError(ValueError):
    """The text is no JSON: what was expected, and the offset where something else is."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class JsonReader(Reading):
    """Reads the values of one text."""

    def __init__(self, text: SourceText, limits: Limits) -> None:
        super().__init__(text, limits)
        self.start = 0
        self._at = 0

    def documents(self) -> Iterator[tuple[Json, Position]]:
        """The values one after the other; `start` is the offset of the one that is being read.

        Raises:
            NotJsonError: the text is not JSON.
            StopReadingError: a limit was reached.
        """
        self._skip_space()
        while self._at < len(self.text.text):
            self.room = self.limits.max_nodes
            self.start = self._at
            yield self._value(0)
            self._skip_space()

    def _skip_space(self) -> None:
        found = _match_space(self.text.text, self._at)
        if found is not None:
            self._at = found.end()

    def _take(self, mark: str) -> bool:
        """Whether `mark` comes next, spaces apart; if so it is passed over."""
        self._skip_space()
        if not self.text.text.startswith(mark, self._at):
            return False
        self._at += len(mark)
        return True

    def _value(self, depth: int) -> tuple[Json, Position]:
        at = self._at
        first = self.text.text[at : at + 1]
        if first == '"':
            return self._string(), at
        if first in _WORDS:
            word, value = _WORDS[first]
            if self._take(word):
                return value, at
        if first not in ("{", "["):
            return self._number(), at
        if depth >= self.limits.max_depth:
            raise self.too_deep(at)
        self._at += 1
        return self._object(at, depth + 1) if first == "{" else self._array(at, depth + 1)

    def _string(self) -> str:
        at = self._at
        found = _match_string(self.text.text, at)
        if found is None:
            raise self._no_string(at)
        self._at = found.end()
        token = found[0]
        if "\\" not in token:
            return token[1:-1]
        try:
            value: str = json.loads(token)
        except ValueError as error:
            raise NotJsonError("an escape in this text is not one of JSON's", at) from error
        if _SURROGATE.search(value):
            advice = "write both halves of the surrogate pair, or remove the half"
            self.report(CONTROL_CHARACTER, at, "this text holds half of a surrogate pair", advice)
        return _SURROGATE.sub("\ufffd", value)

    def _no_string(self, at: int) -> NotJsonError:
        """Why there is no text in quotes at an offset."""
        begun = _match_open_string(self.text.text, at)
        if begun is None:
            return NotJsonError("text in double quotes is expected here", at)
        stop = self.text.text[begun.end() : begun.end() + 1]
        if stop in ("", "\n", "\r"):
            return NotJsonError("the quote that opens here is not closed in this line", at)
        return NotJsonError(f"the character U+{ord(stop):04X} must be written as an escape here", begun.end())

    def _number(self) -> Json:
        at = self._at
        found = _match_number(self.text.text, at)
        if found is None:
            raise NotJsonError("a value is expected here", at)
        self._at = found.end()
        try:
            value = resolve(found[0])
        except BadNumberError as error:
            self.report(NUMBER, at, str(error), _QUOTE_ADVICE)
            return found[0]
        if isinstance(value, str):
            self.report(NUMBER, at, "this is beyond what a number can hold", _QUOTE_ADVICE)
        return value

    def _more(self, closer: str, *, first: bool) -> bool:
        """Whether another item comes before `closer`; leaves the cursor on it, or after `closer`."""
        if self._take(closer):
            return False
        if not first and not self._take(","):
            raise NotJsonError(f"`,` or `{closer}` is expected here", self._at)
        self._skip_space()
        return True

    def _object(self, start: int, depth: int) -> tuple[Json, Position]:
        value: dict[str, Json] = {}
        position: list[Any] = [start]
        while self._more("}", first=len(position) == 1):
            at = self._at
            key = self._string()
            if not self._take(":"):
                raise NotJsonError("`:` is expected here", self._at)
            self._skip_space()
            item, item_position = self._value(depth)
            if key in value:
                self.duplicate_key(key, at, position[1 + 2 * list(value).index(key)])
                continue
            value[key] = item
            position += (at, item_position)
            if len(value) > self.room:
                raise self.too_many(at)
        self.room -= len(value)
        return value, position

    def _array(self, start: int, depth: int) -> tuple[Json, Position]:
        value: list[Json] = []
        position: list[Any] = [start]
        while self._more("]", first=not value):
            item, item_position = self._value(depth)
            value.append(item)
            position.append(item_position)
            if len(value) > self.room:
                raise self.too_many(self._at)
        self.room -= len(value)
        return value, position
