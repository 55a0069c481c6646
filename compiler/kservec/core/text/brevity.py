"""Brevity: what messages quote of the user's files, cut to what somebody reads.

Messages quote names, images, numbers and keys, of which each may have as many characters as the file. Instead of every
message, all of them are cut here: a quoted text, a word without quotes, and the whole keep their beginning and their
end. Of hints, which hold commands that are to be copied, only lines as a whole are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.patterns import Pattern
from kservec.core.records import evolve

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic

LONGEST = 100
"""Characters of a quoted text."""
LONGEST_WORD = 160
"""Characters of a word without quotes: an image with its digest, or a path, is whole."""
LONGEST_TEXT = 1000
"""Characters of a message, and of a line of a hint."""
END = 20
CUT = "…"

_find_quoted = Pattern(
    r"""(?<![^\s(\[{:=,])(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")(?!\w)"""
    rf"""|(?<!\S)\S{{{LONGEST_WORD + 1},}}""",
    re.DOTALL,
)


def brief(text: str) -> str:
    """A text in which nothing that it quotes is too long to be read."""
    return text if len(text) <= LONGEST else clipped(_find_quoted.sub(lambda found: _cut(found[0]), text))


def clipped(text: str) -> str:
    """A text that is not too long to be read: of longer ones the beginning and the end."""
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else f"{text[:half]}{CUT}{text[-half:]}"


def brief_finding(finding: Diagnostic) -> Diagnostic:
    """A finding whose message and labels are brief, and whose hint is not too long to be read."""
    texts = (finding.message, finding.label, *(text for _, text in finding.related))
    if max(map(len, texts)) <= LONGEST and len(finding.help) <= LONGEST_TEXT:
        return finding
    hint = "\n".join(map(clipped, finding.help.split("\n")))
    related = tuple((span, brief(text)) for span, text in finding.related)
    return evolve(finding, message=brief(finding.message), label=brief(finding.label), help=hint, related=related)


def _cut(found: str) -> str:
    mark = found[0] if found[0] in "'\"" and found[0] == found[-1] else ""
    text = found[len(mark) : len(found) - len(mark)]
    if len(text) <= (LONGEST if mark else LONGEST_WORD):
        return found
    return f"{mark}{text[: LONGEST - END - len(CUT)]}{CUT}{text[-END:]}{mark}"
