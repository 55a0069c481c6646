"""A line on the terminal while a build takes its time."""

from __future__ import annotations

import sys
import time

from kservec.cli.streams import complain, is_terminal

AFTER_SECONDS = 1.0
EVERY_SECONDS = 0.2
CLEAR_LINE = "\r\x1b[K"


class Progress:
    """How far a build is, on standard error: from the second second on, and only if that is a terminal."""

    def __init__(self) -> None:
        self.shown = is_terminal(sys.stderr)
        self.next = time.monotonic() + AFTER_SECONDS
        self.drawn = False

    def __call__(self, done: int, total: int) -> None:
        """Tell that `done` of `total` services are compiled."""
        if not self.shown:
            return
        now = time.monotonic()
        if done == total and self.drawn:
            complain(CLEAR_LINE)
        elif now >= self.next and done < total:
            self.next, self.drawn = now + EVERY_SECONDS, True
            complain(f"{CLEAR_LINE}compiling {done:,} of {total:,}")
