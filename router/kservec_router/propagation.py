"""Which headers go on: those of the client to the services, and those of a service back to the client.

KServe: cmd/router/main.go (callService, compilePatterns): a header is passed on when a pattern matches anywhere in its
canonical name. Unlike there, names are matched without regard to case, spaces around patterns and empty patterns do not
count, and hop-by-hop headers never go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec_router.gjson import valid
from kservec_router.messages import JSON_TYPE, Headers, Reply

if TYPE_CHECKING:
    from kservec_router.patterns import Pattern

_HOP_BY_HOP = frozenset({
    b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization", b"te",
    b"trailer", b"transfer-encoding", b"upgrade",
})  # fmt: skip
_OWN = frozenset({
    b"host", b"content-length", b"content-encoding", b"expect", b"traceparent", b"tracestate",
    b"x-envoy-expected-rq-timeout-ms",
})  # fmt: skip
_DROPPED = _HOP_BY_HOP | {b"content-length", b"date"}
_USUAL = frozenset({b"close", b"keep-alive"})
_JSON_LINE = b"content-type: application/json\r\n"
_FORM = b"application/x-www-form-urlencoded"
_REMEMBERED = 128  # clients choose what is remembered, so there must not be much of it


def compile_pattern(text: str) -> Pattern | None:
    """A pattern as Go reads it; None when Go cannot."""
    from kservec_router.patterns import Pattern  # noqa: PLC0415 - 3 MB, and most routers pass no headers on

    try:
        return Pattern(text)
    except ValueError:
        return None


class Lines(NamedTuple):
    """Header lines for the services: `request` go with the client's body, `others` with every other one.

    `is_typed`: the client's content type is among `others`, as a pattern says.
    """

    request: bytes
    others: bytes
    is_typed: bool

    def for_reply(self, headers: Headers) -> bytes:
        """The lines that go with the body of a reply. What it calls plain text is sent as JSON, as KServe does."""
        if self.is_typed:
            return self.others
        kind = next((value for name, value in headers if name == b"content-type"), b"text/plain")
        return self.others + (_JSON_LINE if kind.startswith(b"text/plain") else b"content-type: %b\r\n" % kind)


class Propagation:
    """Patterns for names of headers; what was decided about a name is remembered."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.invalid: list[str] = []
        self._patterns: list[Pattern] = []
        self._start_of_line = lru_cache(_REMEMBERED)(self._decided)
        for text in filter(None, map(str.strip, texts)):
            pattern = compile_pattern(text)
            if pattern is None:
                self.invalid.append(text)
            else:
                self._patterns.append(pattern)

    def lines(self, headers: Iterable[tuple[bytes, bytes]], named: Mapping[bytes, bytes]) -> Lines:
        """The header lines that go on from a request with *headers*; *named* has the last of each name.

        The client's content type and coding go with its body. What `curl` calls a form when nobody says otherwise is
        sent as JSON, as KServe's router sends everything.
        """
        kind, coding = named.get(b"content-type"), named.get(b"content-encoding")
        if not self._patterns and coding is None:
            return _only_typed(kind)
        others = self._chosen(headers, named.get(b"connection", b"")) if self._patterns else b""
        request = others if coding is None else b"%bcontent-encoding: %b\r\n" % (others, coding)
        if kind is None or kind.startswith(_FORM):
            return Lines(request + _JSON_LINE, others, False)
        if self._patterns and self.passes(b"content-type"):
            return Lines(request, others, True)
        return Lines(b"%bcontent-type: %b\r\n" % (request, kind), others, False)

    def _chosen(self, headers: Iterable[tuple[bytes, bytes]], nominated: bytes) -> bytes:
        """Lines of the headers that a pattern matches and that do not belong to the connection."""
        dropped = {name.strip() for name in nominated.lower().split(b",")} if nominated else ()
        lines = []
        for name, value in headers:
            if (start := self._start_of_line(name)) and name not in dropped:
                lines.append(start + value + b"\r\n")
        return b"".join(lines)

    def passes(self, name: bytes) -> bool:
        """Whether a header of this name (in lower case) goes on to the services."""
        return self._start_of_line(name) != b""

    def _decided(self, name: bytes) -> bytes:
        """`name: ` when headers of that name go on, else nothing."""
        if name in _HOP_BY_HOP or name in _OWN:
            return b""
        text = name.decode("latin-1")
        return name + b": " if any(pattern.found(text) for pattern in self._patterns) else b""


@lru_cache(_REMEMBERED)
def _only_typed(kind: bytes | None) -> Lines:
    """The lines of a request of which nothing goes on but its content type."""
    line = _JSON_LINE if kind is None or kind.startswith(_FORM) else b"content-type: %b\r\n" % kind
    return Lines(line, b"", False)


def client_headers(reply: Reply, is_last: bool) -> list[tuple[bytes, bytes]]:
    """The headers of a reply to the client: those of the service that do not belong to its connection, and our own.

    A body without a type that is JSON is called so, as KServe's router does.
    """
    body, chosen, nominated, is_typed = reply.body, [], b"", False
    for pair in reply.headers:
        name = pair[0]
        if name not in _DROPPED:
            chosen.append(pair)
            is_typed = is_typed or name == b"content-type"
        elif name == b"connection" and pair[1] not in _USUAL:
            nominated += b"," + pair[1]
    if nominated:
        dropped = {name.strip() for name in nominated.lower().split(b",")}
        chosen = [pair for pair in chosen if pair[0] not in dropped]
    length = len(body) if isinstance(body, bytes) else body.length
    if length is not None and reply.status not in (204, 304):
        chosen.append((b"content-length", b"%d" % length))
    if not is_typed and isinstance(body, bytes) and body and valid(body):
        chosen.append(JSON_TYPE)
    if is_last or (reply.status == 413 and reply.cause is not None):
        chosen.append((b"connection", b"close"))
    return chosen
