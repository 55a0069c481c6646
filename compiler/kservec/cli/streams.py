"""Standard output and error, whatever state they are in: closed, full, without a reader, of any encoding."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

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
    if sys.stdout is None:
        raise click.ClickException("standard output is closed")
    try:
        click.echo(text.encode(*ENCODING), nl=False)
    except BrokenPipeError:
        raise ReaderGoneError from None
    except OSError as error:
        raise click.ClickException(f"cannot write to standard output: {error.strerror}") from None


def complain(text: str) -> None:
    """Write text to standard error as UTF-8, if that is possible at all."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            click.echo(text.encode(*ENCODING), nl=False, err=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is there and leads to a terminal."""
    return stream is not None and stream.isatty()


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
