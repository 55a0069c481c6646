"""Interrupts that wait: what has to be brought to its end, however often somebody presses Ctrl-C meanwhile."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def no_interrupts() -> Iterator[None]:
    """Let interrupts wait until what is done inside is done. Processes that are started inside never get any."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for as long as it is needed."""
    import tempfile  # noqa: PLC0415 - loads much, and most runs that let interrupts wait need none

    made = tempfile.TemporaryDirectory(prefix="kservec-")
    try:
        yield Path(made.name)
    finally:
        with no_interrupts():
            made.cleanup()
