"""The YAML parser: text to events, by libyaml where PyYAML has it, else in pure Python and about ten times slower.

Decides which parser is used. Must not know what events mean to Kubernetes. Both parsers give the same events, but that
the slow one takes no tabs after a colon or dash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import yaml
from yaml.events import (
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from kservec.core.patterns import Pattern

HAS_LIBYAML: bool = yaml.__with_libyaml__
"""Whether the fast parser is there."""

if HAS_LIBYAML:
    from yaml._yaml import CParser

_find_surrogate = Pattern("[\ud800-\udfff]").search

NextEvent: TypeAlias = Callable[[], Any]
"""Gives the next event; raises `yaml.YAMLError`, and the slow parser `ValueError` too, on text that is not YAML."""


class Ends(NamedTuple):
    """Where keys and values end, by the offset they begin at: a block map begins where its first key does."""

    scalars: dict[int, int]
    collections: dict[int, int]


def event_source(text: str) -> NextEvent:
    """A function that gives the events of `text`, one a call. Their marks count code points."""
    return CParser(text).get_event if HAS_LIBYAML else _slow_event_source(text)


def _slow_event_source(text: str) -> NextEvent:
    loader: Any = yaml.SafeLoader(text)

    def next_event() -> Any:
        event = loader.get_event()
        kind = event.__class__
        if kind is ScalarEvent and _find_surrogate(event.value):
            problem = "found invalid Unicode character escape code"
            raise yaml.MarkedYAMLError("while parsing a quoted scalar", event.start_mark, problem, event.end_mark)
        return event

    return next_event


def find_ends(text: str, start: int) -> Ends:
    """Where the parts of the document that begins at `start` end. What comes after a syntax error is left out.

    A map or list in block style ends with its last key or value.
    """
    base = text.rfind("\n", 0, start) + 1
    ends = Ends({}, {})
    try:
        _follow(event_source(text[base:]), text, base, ends)
    except (yaml.YAMLError, ValueError):
        return ends
    return ends


def _follow(next_event: NextEvent, text: str, base: int, ends: Ends) -> None:
    opened: list[tuple[int, bool]] = []
    last = base
    while (kind := (event := next_event()).__class__) not in (DocumentEndEvent, StreamEndEvent):
        if kind in (MappingStartEvent, SequenceStartEvent):
            opened.append((base + event.start_mark.index, bool(event.flow_style)))
        elif kind in (MappingEndEvent, SequenceEndEvent):
            begin, is_flow = opened.pop()
            last = base + event.end_mark.index if is_flow else last
            ends.collections[begin] = last
        elif kind is ScalarEvent:
            begin, last = base + event.start_mark.index, base + event.end_mark.index
            if event.style in ("|", ">"):
                last = begin + len(text[begin:last].rstrip())
            ends.scalars[begin] = last
        else:
            last = base + event.end_mark.index
