"""What the router says to its operator: lines of JSON on standard error. Bodies and credentials are never among it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

import orjson

_FULL = 64
_FLUSH_SECONDS = 0.5

Write = Callable[[bytes], object]


def _to_stderr(data: bytes) -> None:
    os.write(2, data)


class Journal:
    """Lines gathered and written several at a time, within half a second."""

    def __init__(self, write: Write = _to_stderr) -> None:
        self.write = write
        self._lines: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None

    def say(self, level: str, message: str, **more: object) -> None:
        """Write an event at once."""
        self._lines.append(orjson.dumps({"time": time.time(), "level": level, "message": message, **more}))
        self.flush()

    def access(self, line: bytes) -> None:
        """Add the line of a request."""
        self._lines.append(line)
        if len(self._lines) >= _FULL:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what was gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        if lines:
            self.write(b"\n".join(lines) + b"\n")
