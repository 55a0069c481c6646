"""What the router says to its operator: lines of JSON on standard error. Bodies and credentials are never among it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable

import orjson

_FULL = 64
_FLUSH_SECONDS = 0.5

Write = Callable[[bytes], object]

Access = tuple[float, str | None, bytes, str, int, int, int, float, bytes | None, str | None]
"""A request: when it began, client, method, path, status, bytes received and sent, seconds, trace, cause."""


def _to_stderr(data: bytes) -> None:
    with contextlib.suppress(OSError):  # requests are served, too, when nobody reads what is said of them
        os.write(2, data)


class Journal:
    """Requests are gathered and written several at a time, within half a second; that is cheaper than one by one."""

    def __init__(self, write: Write = _to_stderr) -> None:
        self.write = write
        self._requests: list[Access] = []
        self._timer: asyncio.TimerHandle | None = None

    def say(self, level: str, message: str, **more: object) -> None:
        """Write an event at once, behind the requests so far."""
        self.flush()
        self.write(orjson.dumps({"time": time.time(), "level": level, "message": message, **more}) + b"\n")

    def access(self, request: Access) -> None:
        """Add the line of a request."""
        self._requests.append(request)
        if len(self._requests) >= _FULL:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what was gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        requests, self._requests = self._requests, []
        if requests:
            self.write(b"".join(map(_line, requests)))


def _line(request: Access) -> bytes:
    begin, client, method, path, status, received, sent, seconds, trace, cause = request
    line: dict[str, object] = {
        "time": begin,
        "client": client,
        "method": method.decode("latin-1"),
        "path": path,
        "status": status,
        "received": received,
        "sent": sent,
        "milliseconds": round(seconds * 1000, 3),
    }
    if trace is not None:
        line["trace"] = trace.decode("ascii")
    if cause is not None:
        line["cause"] = cause
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
