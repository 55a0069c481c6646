"""Several files edited together: all of them get their new content, or none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.io.file_writer import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
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


def put(place: Path, content: bytes | None) -> None:
    """Give a file a content, or take it away.

    Raises:
        OSError: it cannot be written.
    """
    if content is None:
        place.unlink(missing_ok=True)
    else:
        replace_file(place, content)
