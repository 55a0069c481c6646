"""YAML as Kubernetes reads it: events to values, with the offset of every key and value.

Decides what tags, anchors, aliases and merge keys mean and which of them are refused. Must not know kinds, or where the
text comes from.

Checked against `sigs.k8s.io/yaml`. Stricter than it in what nobody means: duplicate keys, unknown tags, numbers that
would be rounded, a merge after an explicit key with the same name (it lets the merge win, other readers the key).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from sys import intern
from typing import Any, NamedTuple

from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from kservec.core.diagnostics import Code, Severity
from kservec.core.paths import Json
from kservec.core.text.document import Position, SourceText
from kservec.core.text.events import NextEvent, event_source
from kservec.core.text.reading import KEY, NUMBER, Limits, Reading, StopReadingError
from kservec.core.text.scalars import NUMBER_STARTS, WORDS, BadNumberError, key_text, resolve

ALIAS_EXPANSION = Code(
    "yaml/alias-expansion",
    Severity.ERROR,
    "Aliases that expand to too much",
    "Aliases of aliases multiply. The file expands to more values than the limit allows; write the values out.",
)
UNKNOWN_ALIAS = Code(
    "yaml/unknown-alias",
    Severity.ERROR,
    "An alias without its anchor",
    "An alias `*name` stands for what was marked `&name` before it in the same document. "
    "Text that begins with `*` must be quoted.",
)
TAG = Code(
    "yaml/tag",
    Severity.ERROR,
    "A tag that Kubernetes does not honour",
    "Kubernetes objects are plain JSON values: tags other than those of JSON's types mean nothing there. "
    "Text that begins with `!` must be quoted.",
)
MERGE_KEY = Code(
    "yaml/merge-key",
    Severity.ERROR,
    "A merge key that readers do not agree on",
    "The value of `<<` is a map or a list of maps, and `<<` stands before the keys that override what it brings.",
)
TEMPLATE = Code(
    "yaml/template",
    Severity.ERROR,
    "A template instead of YAML",
    "The file holds placeholders of a template language. Render it first and compile the result.",
)
TEMPLATE_MESSAGE = "this file looks like a template that was not rendered"
TEMPLATE_ADVICE = (
    "render the file first, e.g. with `helm template`, and compile the result; put the value in quotes "
    "if the braces are meant as text"
)

_TAG_PREFIX = "tag:yaml.org,2002:"
_KEYS_TO_RESOLVE = NUMBER_STARTS | {"<"}


_SCALAR_TAGS = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}
_MERGE: Any = object()


class _Merge(NamedTuple):
    """A `<<` and its value; `keys_before` tells how many keys of the map stand before it."""

    at: int
    keys_before: int
    value: Json
    position: Position


class _Anchored(NamedTuple):
    value: Json
    position: Position
    size: int


class YamlReader(Reading):
    """Reads the documents of one text."""

    _next: NextEvent

    def __init__(self, text: SourceText, limits: Limits) -> None:
        super().__init__(text, limits)
        self.start = 0
        self._expansion_room = limits.max_nodes
        self._anchors: dict[str, _Anchored] = {}
        self._open_anchors: list[str] = []

    def documents(self) -> Iterator[tuple[Json, Position]]:
        """The documents one after the other.

        While one is read, `start` is its offset; after the last one, the end of the text.

        Raises:
            StopReadingError: a limit was reached.
            yaml.YAMLError, ValueError: the text is not YAML.
        """
        self._next = event_source(self.text.text)
        self._next()
        while (event := self._next()).__class__ is not StreamEndEvent:
            self.start = event.start_mark.index
            self.room = self.limits.max_nodes
            self._anchors.clear()
            self._open_anchors.clear()
            yield self._node(self._next(), 0)
            self._next()
        self.start = len(self.text.text)

    def _node(self, event: Any, depth: int) -> tuple[Json, Position]:
        kind = event.__class__
        position: Position
        if kind is ScalarEvent:
            position = event.start_mark.index
            if event.anchor is None:
                return self._scalar(event), position
            value, size = self._scalar(event), 1
        elif kind is AliasEvent:
            return self._alias(event)
        else:
            if depth >= self.limits.max_depth:
                raise self.too_deep(event.start_mark.index)
            room = self.room
            if event.tag is not None or event.anchor is not None:
                self._check_properties(event)
            value, position = (self._map if kind is MappingStartEvent else self._list)(event, depth + 1)
            if event.anchor is None:
                return value, position
            self._open_anchors.pop()
            size = room - self.room + 1
        self._anchors[event.anchor] = _Anchored(value, position, size)
        return value, position

    def _scalar(self, event: Any) -> Json:
        if event.implicit[0]:
            try:
                return resolve(event.value)
            except BadNumberError as error:
                self._bad_number(event, error)
        elif event.tag is not None:
            return self._tagged(event)
        return event.value

    def _map(self, start: Any, depth: int) -> tuple[Json, Position]:
        next_event, node = self._next, self._node
        value: dict[str, Json] = {}
        position = [start.start_mark.index]
        merge: _Merge | None = None
        while (event := next_event()).__class__ is not MappingEndEvent:
            at = event.start_mark.index
            key = (
                event.value
                if event.__class__ is ScalarEvent
                and event.anchor is None
                and event.tag is None
                and not (event.implicit[0] and ((text := event.value) in WORDS or text[0] in _KEYS_TO_RESOLVE))
                else self._key(event, depth)
            )
            item, item_position = node(next_event(), depth)
            if key is _MERGE:
                if merge is not None:
                    self.duplicate_key("<<", at, merge.at)
                merge = _Merge(at, len(value), item, item_position)
            elif key in value:
                self.duplicate_key(key, at, position[1 + 2 * list(value).index(key)])
            elif key is not None:
                value[intern(key)] = item
                position += (at, item_position)
                if len(value) > self.room:
                    raise self.too_many(at)
        if merge is not None:
            self._merge(value, position, merge)
        self.room -= len(value)
        return value, position

    def _list(self, start: Any, depth: int) -> tuple[Json, Position]:
        next_event, node = self._next, self._node
        value: list[Json] = []
        position = [start.start_mark.index]
        while (event := next_event()).__class__ is not SequenceEndEvent:
            item, item_position = node(event, depth)
            value.append(item)
            position.append(item_position)
            if len(value) > self.room:
                raise self.too_many(event.start_mark.index)
        self.room -= len(value)
        return value, position

    def _key(self, event: Any, depth: int) -> Any:
        """The text of a key, `_MERGE`, or None for a key that cannot be; the general and slower way."""
        at = event.start_mark.index
        if event.__class__ is ScalarEvent:
            if event.anchor is not None:
                self._anchors[event.anchor] = _Anchored(self._scalar(event), at, 1)
            if event.value == "<<" and (event.implicit[0] or event.tag == _TAG_PREFIX + "merge"):
                return _MERGE
            if event.implicit[0]:
                return self._plain_key(event)
        value, _ = self._node(event, depth)
        if isinstance(value, dict | list):
            self._report_collection_key(at)
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None and (event.__class__ is not AliasEvent or event.anchor in self._anchors):
            self._report_null_key(at)
        return value if value is None else str(value)

    def _plain_key(self, event: Any) -> str | None:
        try:
            key = key_text(event.value)
        except BadNumberError as error:
            self._bad_number(event, error)
            return None
        if key is None:
            self._report_null_key(event.start_mark.index)
        return key

    def _report_null_key(self, at: int) -> None:
        self.report(KEY, at, "a key is null", "write the key's name, or put it in quotes if it is meant as text")

    def _report_collection_key(self, at: int) -> None:
        brace = max(0, at - 1) if self.text.text.startswith("{{", max(0, at - 1)) else at
        if self.text.text.startswith(("{{", "{%"), brace):
            self.report(TEMPLATE, brace, TEMPLATE_MESSAGE, TEMPLATE_ADVICE)
        else:
            advice = "keys are plain words; put the key in quotes if brackets are part of it"
            self.report(KEY, at, "a key is a map or a list", advice)

    def _bad_number(self, event: Any, error: BadNumberError) -> None:
        self.report(NUMBER, event.start_mark.index, str(error), "write it in quotes if it is meant as text")

    def _tagged(self, event: Any) -> Json:
        """The value of a scalar with a tag of its own: `!!int "5"`."""
        tag, text = event.tag, event.value
        if tag in ("!", _TAG_PREFIX + "str", _TAG_PREFIX + "timestamp"):
            return text
        kind = _SCALAR_TAGS.get(tag.removeprefix(_TAG_PREFIX))
        if tag == _TAG_PREFIX + "binary":
            try:
                return base64.b64decode("".join(text.split()), validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                self.report(TAG, event.start_mark.index, "`!!binary` holds no base64 of UTF-8 text", "write the text")
                return text
        if kind is None:
            self._unknown_tag(event)
            return text
        try:
            value = resolve(text)
        except BadNumberError as error:
            self._bad_number(event, error)
            return text
        if value.__class__ not in kind:
            message = f"this is no `!!{tag.removeprefix(_TAG_PREFIX)}`"
            self.report(TAG, event.start_mark.index, message, "remove the tag")
        return value

    def _check_properties(self, event: Any) -> None:
        """Note the anchor of a map or list, which may not be used inside it, and refuse tags of other languages."""
        expected = "map" if event.__class__ is MappingStartEvent else "seq"
        if event.tag not in (None, "!", _TAG_PREFIX + expected):
            self._unknown_tag(event)
        if event.anchor is not None:
            self._open_anchors.append(event.anchor)

    def _unknown_tag(self, event: Any) -> None:
        advice = "remove the tag; quote the value if it is text that begins with `!`"
        self.report(TAG, event.start_mark.index, "Kubernetes knows no such tag", advice)

    def _alias(self, event: Any) -> tuple[Json, Position]:
        at, name = event.start_mark.index, event.anchor
        anchored = self._anchors.get(name)
        if name in self._open_anchors or anchored is None:
            message = "no anchor of this name comes before the alias"
            if name in self._open_anchors:
                message = "the alias stands inside what it repeats"
            self.report(UNKNOWN_ALIAS, at, message, "write it in quotes if it is text that begins with `*`")
            return None, at
        self.room -= anchored.size
        self._expansion_room -= anchored.size
        if self._expansion_room < 0 or self.room < 0:
            message = f"aliases expand to more than {self.limits.max_nodes:,} values"
            raise StopReadingError(self.finding(ALIAS_EXPANSION, at, message, "write the values out"))
        return anchored.value, anchored.position

    def _merge(self, value: dict[str, Json], position: list[Any], merge: _Merge) -> None:
        """Add what a `<<` brings and the map does not have. Earlier maps of a list win."""
        maps = [(merge.value, merge.position)]
        if isinstance(merge.value, list) and isinstance(merge.position, list):
            maps = list(zip(merge.value, merge.position[1:], strict=True))
        explicit = set(list(value)[: merge.keys_before])
        late = ""
        for entries, places in maps:
            if not isinstance(entries, dict) or not isinstance(places, list):
                self.report(MERGE_KEY, merge.at, "the value of `<<` is no map", "refer to a map: `<<: *name`")
                return
            for i, (key, item) in enumerate(entries.items()):
                if key in explicit:
                    late = late or key
                elif key not in value:
                    value[key] = item
                    position += places[1 + 2 * i : 3 + 2 * i]
        if late:
            message = f"`<<` comes after `{late}`, which it brings too: readers differ on which of the two wins"
            self.report(MERGE_KEY, merge.at, message, "move `<<` to the top of the map, so that the key below it wins")
