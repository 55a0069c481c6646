"""Which flags the pinned vLLM knows, and which of them somebody may have meant.

An unknown flag is told of, not refused: plugins of vLLM add flags of their own, and vLLM itself refuses, before it
loads a model, what it does not know in the end.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from .words import flag_of

LIST: Final = Path(__file__).parents[1] / "arguments.json"
ALIKE: Final = 0.75
WITH_A_LEVEL: Final = "-O"
"""Its value may follow without a sign: -O3."""


def pinned_version() -> str:
    """The version of vLLM whose flags are known."""
    return str(json.loads(LIST.read_text("utf-8"))["vllm"])


def known_flags() -> list[str]:
    """All flags of that version, in every spelling."""
    entries = json.loads(LIST.read_text("utf-8"))["arguments"].values()
    return sorted({"-h", "--help", *(name for entry in entries for name in entry.get("names", ()))})


def doubts(words: Sequence[str]) -> Iterator[str]:
    """What is to be said of flags that are not known. What follows a dot is a member of the flag's JSON."""
    known = known_flags()
    asked = dict.fromkeys(flag.partition(".")[0] for word in words if (flag := flag_of(word)) is not None)
    for flag in asked:
        if flag in known or flag.startswith(WITH_A_LEVEL):
            continue
        alike = difflib.get_close_matches(flag, known, 1, ALIKE)
        meant = f"; did you mean {alike[0]}?" if alike else ""
        yield f"vLLM {pinned_version()} has no {flag}, unless a plugin adds it{meant}"
