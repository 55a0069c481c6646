"""Writing trees: one or several, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.streams import StoppedError
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kservec.io.tree_writer import Written

UNCHANGED = "up to date"


def put(planned: Mapping[str, bytes], output: Path, *, force: bool) -> Written:
    """Write a tree.

    Raises:
        click.ClickException: the folder cannot be written.
    """
    from kservec.io.tree_writer import write_tree  # noqa: PLC0415 - not needed without --output

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
    try:
        for planned, folder in trees:
            done = put(planned, folder, force=force)
            if done.obstacles:
                found = done.obstacles[0]
                raise click.ClickException(f"{found.span.file if found.span else folder}: {found.message}")
            lines.append(outcome_of(done, folder))
    except (KeyboardInterrupt, click.ClickException) as error:
        reason = error.format_message() if isinstance(error, click.ClickException) else ""
        rest = [str(folder) for _, folder in trees[len(lines) :]]
        raise StoppedError(reason, [*lines, *left_out(rest, is_sure=bool(reason))], len(lines)) from None
    return lines


def left_out(folders: Sequence[str], *, is_sure: bool) -> Iterator[str]:
    """Lines about trees that were not written; of the first one that is not sure after an interrupt."""
    if not is_sure and folders:
        yield f"{folders[0]}: as it was, or written whole; kservec check tells"
    yield from (f"{folder}: not written" for folder in folders[not is_sure :])


def outcome_of(done: Written, output: Path) -> str:
    """What was done, in a line."""
    changes = [
        f"{plural(len(done.changed), 'file')} written" if done.changed else "",
        f"{plural(len(done.removed), 'file')} removed" if done.removed else "",
    ]
    return f"{output}: {', '.join(c for c in changes if c) or UNCHANGED}"
