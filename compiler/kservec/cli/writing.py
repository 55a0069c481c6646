"""Writing trees: one or several, and what is said of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.cli.streams import StoppedError
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kservec.io.tree_writer import Written

UNCHANGED = "up to date"


class Begun(NamedTuple):
    """Something that is put into its place in one step: where, and which file or folder was there before."""

    place: Path
    before: tuple[int, int] | None

    @property
    def is_written(self) -> bool:
        """Whether something else is there by now."""
        return identity(self.place) != self.before


def begin(place: Path) -> Begun:
    """Note what is about to be written, for the words that follow an interrupt. A step replaces it as a whole."""
    begun = Begun(place, identity(place))
    ctx = click.get_current_context(silent=True)
    if ctx is not None and isinstance(ctx.obj, list):
        ctx.obj.append(begun)
    return begun


def identity(place: Path) -> tuple[int, int] | None:
    """Which file or folder is at a place, whatever it holds; None if there is none."""
    try:
        state = os.stat(place)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def put(planned: Mapping[str, bytes], output: Path, *, force: bool) -> Written:
    """Write a tree.

    Raises:
        click.ClickException: the folder cannot be written.
    """
    from kservec.io.tree_writer import write_tree  # noqa: PLC0415 - not needed without --output

    begin(output)
    try:
        return write_tree(output, planned, force=force)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename or output}: {error.strerror}") from None


def put_all(trees: Sequence[tuple[Mapping[str, bytes], Path]], *, force: bool) -> list[str]:
    """Write trees one after the other; a line about each.

    Raises:
        StoppedError: that was interrupted, or one cannot be written; it says which trees were written before.
    """
    lines: list[str] = []
    begun: list[Begun] = []
    try:
        for planned, folder in trees:
            begun.append(Begun(folder, identity(folder)))
            done = put(planned, folder, force=force)
            if done.obstacles:
                found = done.obstacles[0]
                raise click.ClickException(f"{found.span.file if found.span else folder}: {found.message}")
            lines.append(outcome_of(done, folder))
    except (KeyboardInterrupt, click.ClickException) as error:
        reason = error.format_message() if isinstance(error, click.ClickException) else ""
        whole = [f"{last.place}: written whole" for last in begun[len(lines) :] if last.is_written]
        rest = [f"{folder}: not written" for _, folder in trees[len(lines) + len(whole) :]]
        raise StoppedError(reason, [*lines, *whole, *rest], len(lines) + len(whole)) from None
    return lines


def outcome_of(done: Written, output: Path) -> str:
    """What was done, in a line."""
    changes = [
        f"{plural(len(done.changed), 'file')} written" if done.changed else "",
        f"{plural(len(done.removed), 'file')} removed" if done.removed else "",
    ]
    return f"{output}: {', '.join(c for c in changes if c) or UNCHANGED}"
