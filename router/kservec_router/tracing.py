"""W3C trace context: one trace per request, one span for it and one per call, and the header that says so to services.

Spans are values, made when a call is over. Who wants them exported hands in a recorder; without one, none are made.
"""

from __future__ import annotations

import random
import re
from binascii import hexlify
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_PARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_ZERO_TRACE, _ZERO_SPAN = b"0" * 32, b"0" * 16
_LONGEST_STATE = 512
_SPAN_DIGITS, _AT_A_TIME = 16, 64


class Span(NamedTuple):
    """A finished piece of work; times in nanoseconds since 1970, ids in hexadecimal digits."""

    name: str
    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    start: int
    end: int
    status: int
    attributes: tuple[tuple[str, str], ...]
    is_server: bool


Recorder = Callable[[Span], None]


class Trace:
    """The trace that a request belongs to; `span_id` is the router's own span in it, `rest` how header lines end."""

    parent_id = b""
    is_sampled = True
    rest = b"-01\r\n"

    def __init__(self, trace_id: bytes, span_id: bytes) -> None:
        self.trace_id = trace_id
        self.span_id = span_id

    def line(self, span_id: bytes) -> bytes:
        """The header lines for a call whose span is *span_id*."""
        return b"traceparent: 00-" + self.trace_id + b"-" + span_id + self.rest


def span_ids(source: random.Random) -> Iterator[bytes]:
    """Span ids without end; two of them make a trace id."""
    while True:
        digits = hexlify(source.randbytes(_SPAN_DIGITS // 2 * _AT_A_TIME))
        for start in range(0, len(digits), _SPAN_DIGITS):
            yield digits[start : start + _SPAN_DIGITS]


def start_trace(headers: Mapping[bytes, bytes], ids: Iterator[bytes]) -> Trace:
    """The trace of a request: the client's when its `traceparent` is well-formed, else a new one, which is sampled."""
    parent = headers.get(b"traceparent")
    found = _PARENT.fullmatch(parent) if parent else None
    if found is None or found[1] == b"ff" or found[2] == _ZERO_TRACE or found[3] == _ZERO_SPAN:
        return Trace(next(ids) + next(ids), next(ids))
    trace = Trace(found[2], next(ids))
    trace.parent_id = found[3]
    trace.is_sampled = int(found[4], 16) & 1 == 1
    state = headers.get(b"tracestate")
    line = b"tracestate: %b\r\n" % state if state and len(state) <= _LONGEST_STATE else b""
    trace.rest = (b"-01\r\n" if trace.is_sampled else b"-00\r\n") + line
    return trace
