"""Shrinking: the smallest input that has the same fault, by leaving out files, lines and characters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from fuzz.inputs import Input
from fuzz.trying import tried

MOST_SECONDS = 60.0
TWICE_KINDS = ("determinism", "other reader")


def shrunk(given: Input, kind: str) -> Input:
    """The input without all that the fault does not need."""
    end = time.monotonic() + MOST_SECONDS

    def still(other: Input) -> bool:
        return time.monotonic() < end and any(
            f.kind == kind for f in tried(other, twice=kind.startswith(TWICE_KINDS)).faults
        )

    for path in list(given.files):
        less = given.with_files({name: content for name, content in given.files.items() if name != path})
        given = less if still(less) else given
    for cut in (lines, characters):
        for path in given.files:
            given = less_of(given, path, cut, still)
    return given


def less_of(given: Input, path: str, cut: Callable[[bytes], list[bytes]], still: Callable[[Input], bool]) -> Input:
    """The input with a file that is as short as can be, in pieces of one size."""
    pieces = cut(given.files[path])

    def holds(some: Sequence[bytes]) -> bool:
        return still(given.with_files({**given.files, path: b"".join(some)}))

    return given.with_files({**given.files, path: b"".join(fewest(pieces, holds))})


def lines(content: bytes) -> list[bytes]:
    """The lines of a file."""
    return content.splitlines(keepends=True)


def characters(content: bytes) -> list[bytes]:
    """The bytes of a file, if it is short; else the whole of it."""
    return [content[i : i + 1] for i in range(len(content))] if len(content) < 2_000 else [content]


def fewest(pieces: list[bytes], holds: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
    """As few pieces as are needed: stretches of them are left out, long ones first."""
    size = max(1, len(pieces) // 2)
    while pieces:
        at = 0
        while at < len(pieces):
            rest = pieces[:at] + pieces[at + size :]
            if holds(rest):
                pieces = rest
            else:
                at += size
        if size == 1:
            return pieces
        size //= 2
    return pieces
