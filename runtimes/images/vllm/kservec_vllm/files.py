"""What must hold of a file that vLLM is going to read: that it is one, is not empty, and is JSON where it should be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from .refusals import NO_INPUT, Refusal
from .words import flaw, object_in

MOST_BYTES: Final = 1 << 26
"""The largest index of a model that is known has some megabytes; what is larger is no configuration."""
POINTER: Final = b"version https://git-lfs.github.com/spec/"
AGAIN: Final = "download it again; look at the log of the container storage-initializer"


def check_content(path: Path) -> None:
    """Whether a file has something in it, and that is not git-lfs's note of where the content is.

    Raises:
        Refusal: it is no file, is empty, is such a note, or cannot be read.
    """
    if not os.path.isfile(path):
        raise Refusal(NO_INPUT, f"{path} is no file", "put a file there, or name another one")
    check_readable(path)
    with path.open("rb") as file:
        start = file.read(len(POINTER))
    if not start:
        raise Refusal(NO_INPUT, f"{path} is empty", AGAIN)
    if start == POINTER:
        remedy = "fetch the content with `git lfs pull`, or download the model from the hub"
        raise Refusal(NO_INPUT, f"{path} is a pointer of git-lfs, without the content", remedy)


def check_readable(path: Path) -> None:
    """Whether this user may read a file, and it is there: links of a cache may lead nowhere."""
    if not os.path.exists(path):
        raise Refusal(
            NO_INPUT, f"{path} is a link to {os.readlink(path)}, which is not there", "mount what it leads to"
        )
    if not os.access(path, os.R_OK):
        raise Refusal(NO_INPUT, f"user {os.getuid()} may not read {path}", "give the files to group 0, or set fsGroup")


def json_file(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        Refusal: there is none.
    """
    check_content(path)
    content = path.read_bytes() if os.path.getsize(path) <= MOST_BYTES else b""
    found = object_in(content)
    if found is None:
        raise Refusal(NO_INPUT, f"{path} {flaw(content)}", AGAIN)
    return found
