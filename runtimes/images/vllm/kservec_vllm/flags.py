"""Which flags the pinned vLLM knows, and how many values each takes: what a word is, is read as vLLM reads it.

An unknown flag is told of, not refused: plugins of vLLM add flags of their own, and vLLM itself refuses, before it
loads a model, what it does not know in the end.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from .words import DRY_RUN, flag_of

LIST: Final = Path(__file__).parents[1] / "arguments.json"
ALIKE: Final = 0.75
MOST_DOUBTS: Final = 10
WITH_A_LEVEL: Final = "-O"
"""Its value may follow without a sign: -O3."""
MOST_VALUES: Final = {"none": 0, "one": 1, "optional": 1}
_reference = re.compile(r"\$\([A-Za-z_][\w.-]*\)")


def pinned_version() -> str:
    """The version of vLLM whose flags are known."""
    return str(json.loads(LIST.read_text("utf-8"))["vllm"])


@cache
def known_flags() -> Mapping[str, int | None]:
    """All flags of that version, in every spelling, with the most values that one takes; None for any number."""
    entries = json.loads(LIST.read_text("utf-8"))["arguments"].values()
    told = {name: MOST_VALUES.get(entry["values"]) for entry in entries for name in entry.get("names", ())}
    return {"-h": 0, "--help": 0, **dict(sorted(told.items()))}


def spelt_out(word: str) -> str:
    """A word with its flag in full where it is cut short: vLLM takes every beginning that only one flag has."""
    flag = flag_of(word)
    if flag is None or not flag.startswith("--"):
        return word
    name, dot, member = flag.partition(".")
    begun = [] if name in known_flags() else [known for known in known_flags() if known.startswith(name)]
    if len(begun) != 1:
        return word
    _, sign, value = word.partition("=")
    return f"{begun[0]}{dot}{member}{sign}{value}"


def strays(words: Sequence[str]) -> list[int]:
    """Where words stand that are neither flags nor values of them: the model, in front or elsewhere."""
    found = []
    left: int | None = 0
    for i, word in enumerate(words):
        flag = flag_of(word)
        if flag is not None:
            left = 0 if "=" in word else most_values(flag)
        elif left == 0:
            found.append(i)
        elif left is not None:
            left -= 1
    return found


def most_values(flag: str) -> int | None:
    """How many values a flag takes at most; None for any number, as for one that is not known."""
    if flag.startswith(WITH_A_LEVEL):
        return 1 if flag == WITH_A_LEVEL else 0
    return known_flags().get(flag.partition(".")[0])


def doubts(words: Sequence[str]) -> Iterator[str]:
    """What is to be said of flags that are not known, and of variables that Kubernetes did not know.

    What follows a dot is a member of the flag's JSON.
    """
    known = known_flags()
    asked = dict.fromkeys(flag.partition(".")[0] for word in words if (flag := flag_of(word)) is not None)
    unknown = [flag for flag in asked if flag not in known and not flag.startswith(WITH_A_LEVEL)]
    for flag in unknown[:MOST_DOUBTS]:
        alike = difflib.get_close_matches(flag, [*known, DRY_RUN], 1, ALIKE)
        meant = f"; did you mean {alike[0]}?" if alike else ""
        yield f"vLLM {pinned_version()} has no {flag}, unless a plugin adds it{meant}"
    for reference in dict.fromkeys(found for word in words for found in _reference.findall(word)):
        yield f"{reference} stands for itself: Kubernetes replaces it where the container has a variable of that name"
