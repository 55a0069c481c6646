"""Noticing that the graph's file has changed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path


async def watch_file(path: Path, seconds: float, changed: Callable[[bytes], None]) -> None:
    """Call *changed* with the file's text whenever it is another one. Looks every *seconds*, and on SIGHUP.

    A mounted ConfigMap changes by swapping links, so it is the text that is compared in the end.
    """
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, asked.set)
    seen, text = _signature(path), path.read_bytes()
    while True:
        try:
            await asyncio.wait_for(asked.wait(), seconds or None)
        except TimeoutError:
            if _signature(path) == seen:
                continue
        asked.clear()
        seen = _signature(path)
        if seen is None:
            continue
        now = path.read_bytes()
        if now != text:
            text = now
            changed(now)


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
