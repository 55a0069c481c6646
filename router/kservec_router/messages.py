"""The values that travel through the router: targets, what goes out to them, what comes back.

Bodies are bytes, and stay so: nothing is parsed that nobody looks at. A body that is passed on while it arrives is a
`Source`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

import orjson

from kservec_router.drive import Outcome

Headers = tuple[tuple[bytes, bytes], ...]

JSON_TYPE = (b"content-type", b"application/json")
RETRY_AFTER: Headers = ((b"retry-after", b"1"),)


class Source(Protocol):
    """A body that arrives piece by piece."""

    length: int | None

    async def read(self) -> bytes:
        """The next piece; empty at the end.

        Raises:
            ConnectionError: The sender broke off.
        """

    def close(self) -> None:
        """Say that nobody will read on."""


Body = bytes | Source


class Origin(NamedTuple):
    """Where connections go: requests to the same origin share them."""

    host: str
    port: int
    tls: bool


class Target(NamedTuple):
    """A service URL, made ready: `url` without credentials for people, `head` the first lines of every request."""

    url: str
    origin: Origin
    head: bytes


class Reply:
    """A reply of a service, or of the router itself: then `cause` says why. Header names are in lower case.

    Nobody changes a reply.
    """

    def __init__(self, status: int, headers: Headers = (), body: Body = b"", cause: str | None = None) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.cause = cause

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header (*name* in lower case)."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class Outgoing(Outcome[Reply]):
    """A request to a service, and the reply to come.

    `lines` are header lines, each with its line end. `begin` and `deadline` (0: none) are monotonic time; whoever calls
    must keep the deadline. `may_stream`: the reply's body may be passed on while it arrives. `is_whole_limited`: the
    deadline is for all of the body, event streams excepted.
    """

    deadline = 0.0
    may_stream = False
    is_whole_limited = False

    def __init__(self, target: Target, lines: bytes, body: Body, begin: float) -> None:
        self.target = target
        self.lines = lines
        self.body = body
        self.begin = begin


Call = Callable[[Outgoing], None]
"""Begins a call, and sets its reply when it is there."""


def failure(status: int, cause: str, extra: Headers = ()) -> Reply:
    """An answer of the router itself, in the words of KServe's (KServe: cmd/router/main.go, prepareErrorResponse)."""
    body = orjson.dumps({"error": "Failed to process request", "cause": cause})
    return Reply(status, (JSON_TYPE, *extra), body, cause)


def decoded(body: bytes, encoding: bytes | None, limit: int) -> bytes | None:
    """*body* without its content coding; None when the coding is unknown, broken, or hides more than *limit* bytes."""
    for name in reversed([] if encoding is None else encoding.lower().split(b",")):
        if name.strip() in (b"gzip", b"x-gzip", b"deflate"):
            inflated = _inflated(body, limit)
            if inflated is None:
                return None
            body = inflated
        elif name.strip() not in (b"identity", b""):
            return None
    return body


def _inflated(body: bytes, limit: int) -> bytes | None:
    machine = zlib.decompressobj(wbits=47)  # gzip or zlib, by the header
    try:
        inflated = machine.decompress(body, limit)
    except zlib.error:
        return None
    return inflated if machine.eof and not machine.unconsumed_tail else None
