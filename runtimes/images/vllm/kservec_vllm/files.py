"""What must hold of a file that vLLM is going to read: that it is one, is not empty, and is JSON where it should be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from .refusals import NO_INPUT, Refusal

MOST_BYTES: Final = 1 << 28
"""The largest index of a model that is known has some megabytes; what is larger is no configuration."""
POINTER: Final = b"version https://git-lfs.github.com/spec/"
AGAIN: Final = "download it again; look at the log of the container storage-initializer"


def check_content(path: Path) -> None:
    """Whether a file has something in it, and that is not git-lfs's note of where the content is.

    Raises:
        Refusal: it is no file, is empty, or is such a note.
    """
    if not path.is_file():
        raise Refusal(NO_INPUT, f"{path} is no file", "put a file there, or name another one")
    with path.open("rb") as file:
        start = file.read(len(POINTER))
    if not start:
        raise Refusal(NO_INPUT, f"{path} is empty", AGAIN)
    if start == POINTER:
        remedy = "fetch the content with `git lfs pull`, or download the model from the hub"
        raise Refusal(NO_INPUT, f"{path} is a pointer of git-lfs, without the content", remedy)


def json_file(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        Refusal: there is none.
    """
    check_content(path)
    try:
        found = None if os.path.getsize(path) > MOST_BYTES else json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refusal(NO_INPUT, f"{path} is no JSON object", AGAIN)
    return found
