"""W3C trace context: one trace per request, one span for it and one per call, and the header that says so to services.

Spans are values, made when a call is over. Who wants them exported hands in a recorder; without one, none are made.
"""

from __future__ import annotations

import random
import re
from binascii import hexlify
from collections.abc import Callable, Mapping
from typing import NamedTuple

_PARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_ZERO_TRACE, _ZERO_SPAN = b"0" * 32, b"0" * 16
_LONGEST_STATE = 512


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


class Trace(NamedTuple):
    """The trace that a request belongs to; `span_id` is the router's own span in it."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    flags: bytes
    state: bytes

    @property
    def is_sampled(self) -> bool:
        """Whether the trace is to be recorded."""
        return int(self.flags, 16) & 1 == 1

    def lines(self, span_id: bytes) -> bytes:
        """The header lines for a call whose span is *span_id*."""
        return b"traceparent: 00-%b-%b-%b\r\n%b" % (self.trace_id, span_id, self.flags, self.state)


def new_span_id(source: random.Random) -> bytes:
    """A span id."""
    return hexlify(source.randbytes(8))


def start_trace(headers: Mapping[bytes, bytes], source: random.Random) -> Trace:
    """The trace of a request: the client's when its `traceparent` is well-formed, else a new one, which is sampled."""
    parent = headers.get(b"traceparent")
    found = _PARENT.fullmatch(parent) if parent else None
    if found is None or found[1] == b"ff" or found[2] == _ZERO_TRACE or found[3] == _ZERO_SPAN:
        digits = hexlify(source.randbytes(24))
        return Trace(digits[:32], digits[32:], b"", b"01", b"")
    span_id = new_span_id(source)
    state = headers.get(b"tracestate")
    line = b"tracestate: %b\r\n" % state if state and len(state) <= _LONGEST_STATE else b""
    return Trace(found[2], span_id, found[3], b"01" if int(found[4], 16) & 1 else b"00", line)
