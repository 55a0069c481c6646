"""Standard output and error, whatever state they are in: closed, full, slow, without a reader, of any encoding.

Whoever calls kservec from Python may have put streams of text in their places.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO, TextIO

ENCODING = ("utf-8", "backslashreplace")


class ReaderGoneError(Exception):
    """Whoever read the output has seen enough, as in `kservec build | head`."""


class StoppedError(Exception):
    """A command that ended half way: why (nothing after an interrupt), and a line about each thing it was to write.

    `done` is how many of these were written.
    """

    def __init__(self, reason: str, lines: Sequence[str], done: int) -> None:
        super().__init__(reason)
        self.lines, self.done = tuple(lines), done


def write(text: str, *, err: bool = False) -> None:
    """Write text to standard output or error as UTF-8, whatever the terminal's encoding is.

    What cannot be written to standard error is dropped: the exit status tells how it went.

    Raises:
        ReaderGoneError: nobody reads standard output any more.
        click.ClickException: it cannot be written.
    """
    if not text:
        return
    if err:
        complain(text)
        return
    if not is_open(sys.stdout):
        raise click.ClickException("standard output is closed")
    try:
        put(text, sys.stdout)
    except BrokenPipeError:
        raise ReaderGoneError from None
    except OSError as error:
        raise click.ClickException(f"cannot write to standard output: {error.strerror}") from None


def complain(text: str) -> None:
    """Write text to standard error as UTF-8, if that is possible at all."""
    if is_open(sys.stderr):
        with contextlib.suppress(OSError):
            put(text, sys.stderr)


def put(text: str, stream: TextIO) -> None:
    """Write text to a stream, all of it, however slow the other end is.

    Raises:
        OSError: it cannot be written.
    """
    encoded = text.encode(*ENCODING)
    buffer: BinaryIO | None = getattr(stream, "buffer", None)
    finish(stream)
    if buffer is None:
        stream.write(encoded.decode())
        stream.flush()
    else:
        pour(memoryview(encoded), buffer)


def pour(rest: memoryview, stream: BinaryIO) -> None:
    """Write bytes to a stream, which may take less than it is given, or nothing for a while.

    A terminal or pipe is such a stream where somebody else has set it not to block; that is not ours to change.

    Raises:
        OSError: they cannot be written.
    """
    while rest:
        try:
            taken = stream.write(rest) or 0
        except BlockingIOError as full:
            taken = full.characters_written
        rest = rest[taken:]
        if rest and not taken:
            wait(stream)
    finish(stream)


def finish(stream: TextIO | BinaryIO) -> None:
    """Have what a stream holds back written.

    Raises:
        OSError: it cannot be written.
    """
    while True:
        try:
            stream.flush()
        except BlockingIOError:
            wait(stream)
        else:
            return


def wait(stream: TextIO | BinaryIO) -> None:
    """Wait until a stream takes more, or its other end is gone.

    Raises:
        OSError: there is nothing to wait for.
    """
    select.select([], [stream.fileno()], [])


def is_open(stream: TextIO | None) -> bool:
    """Whether a stream is there and can be written to."""
    try:
        return stream is not None and not getattr(stream, "closed", False)
    except ValueError:  # somebody has taken its buffer away
        return False


def is_held_back(error: OSError) -> bool:
    """Whether a stream did not take all at once what was written to it, and holds the rest."""
    return isinstance(error, BlockingIOError) and hasattr(error, "characters_written")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is there and leads to a terminal."""
    return stream is not None and is_open(stream) and stream.isatty()


def discard_rest() -> None:
    """Let go of what could not be written, lest the interpreter tries it again when it ends."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
