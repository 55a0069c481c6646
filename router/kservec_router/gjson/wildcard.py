"""Patterns with `*` and `?` on text, in time that no pattern can blow up.

Behaviour: tidwall/match 1.1 (MatchLimit), which gives up on hard patterns; this matcher answers them.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"\\(?s:.)|\\|\*+|\?|[^\\*?]+", re.DOTALL)


def decoded(text: bytes) -> str:
    """Text as characters; a byte that is no UTF-8 is one character."""
    return text.decode("utf-8", "surrogateescape")


@lru_cache(maxsize=1024)
def _compiled(pattern: bytes) -> re.Pattern[str] | None:
    """An equivalent expression in which each run between stars, once found, is not looked for again."""
    runs = [""]
    for piece in _TOKEN.findall(decoded(pattern)):
        if piece == "\\":
            return None  # an escape of nothing matches nothing
        if piece[0] == "*":
            runs.append("")
        else:
            runs[-1] += "." if piece == "?" else re.escape(piece[1:] if piece[0] == "\\" else piece)
    first, *middle, last = runs if len(runs) > 1 else (*runs, "")
    star = ".*" if len(runs) > 1 else ""
    between = "".join(f"(?>.*?{run})" for run in middle)
    return re.compile(rf"{first}{between}{star}{last}\Z", re.DOTALL)


def matches(text: bytes, pattern: bytes) -> bool:
    """Whether the whole *text* matches *pattern*; a backslash takes the next character as it is."""
    if pattern == b"*":
        return True
    compiled = _compiled(pattern)
    return compiled is not None and compiled.match(decoded(text)) is not None
