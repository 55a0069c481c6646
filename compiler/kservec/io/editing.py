"""Several files edited together: all of them get their new content, or none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.io.file_writer import refuse_unwritable, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def exchanged(root: Path, contents: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Give files other contents; what they had before is the answer. None stands for a file that is not there.

    Raises:
        OSError: a file cannot be read or written; all are as they were.
    """
    before: dict[str, bytes | None] = {}
    try:
        for path, content in contents.items():
            place = root / path
            before[path] = place.read_bytes() if place.exists() else None
            put(place, content)
    except BaseException:
        for path, content in before.items():
            put(root / path, content)
        raise
    return before


def refuse_unwritable_below(root: Path, paths: Iterable[str]) -> None:
    """Look whether `exchanged` could write files, and leave all as it is.

    Raises:
        OSError: it could not, as far as that can be told; the error is the one that it would raise.
    """
    for path in paths:
        refuse_unwritable(root / path)


def put(place: Path, content: bytes | None) -> None:
    """Give a file a content, or take it away. A link to nothing is no file, and stays.

    Raises:
        OSError: it cannot be written.
    """
    if content is None:
        if place.exists():
            place.unlink()
    else:
        replace_file(place, content)
