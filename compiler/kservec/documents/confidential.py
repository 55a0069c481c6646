"""Confidential: the text of input files as it may be shown in reports, without the values of Secrets.

Works on text alone, so that it also holds for files that cannot be parsed. Rather hides too much than too little: in a
document that is or holds a Secret only what stands before the first colon of a line is left.
"""

from __future__ import annotations

import re
from itertools import pairwise

HIDDEN = "(not shown)"

_find_markers = re.compile(r"^---", re.MULTILINE).finditer
_is_secret = re.compile(r"""(?:^|[\s{,"'-])kind["']?\s*:\s*(?:[&!]\S*\s+)*["']?Secret(?:List)?\b""").search
_is_declaration = re.compile(r"""["']?kind["']?\s*:\s*["']?Cluster\b""").search
_starts_secrets = re.compile(r"""[\s{,]*["']?secrets["']?\s*:""").match
_is_top_level = re.compile(r"[A-Za-z\"']").match


def showable(text: str) -> str:
    """The text with the values of Secrets hidden; every line stays where it is."""
    starts = [0, *(found.start() for found in _find_markers(text) if found.start()), len(text)]
    return "".join(shown_document(text[start:end]) for start, end in pairwise(starts))


def shown_document(text: str) -> str:
    """One document, with what is confidential in it hidden."""
    lines = text.splitlines(keepends=True)
    if _is_secret(text):
        return "".join(map(hidden, lines))
    if _is_declaration(text):
        return "".join(hidden_declarations(lines))
    return text


def hidden(line: str) -> str:
    """A line up to its first colon. What has no colon may be the rest of a value, so nothing of it is left."""
    content = line.rstrip("\r\n")
    if not content.strip() or content.startswith("---"):
        return line
    head, colon, value = content.partition(":")
    if colon and not value.strip():
        return line
    return f"{head}: {HIDDEN}{line[len(content) :]}" if colon else f"{HIDDEN}{line[len(content) :]}"


def hidden_declarations(lines: list[str]) -> list[str]:
    """A Cluster document with its declared Secrets hidden, among which someone may have written a value by mistake."""
    shown: list[str] = []
    inside = False
    for line in lines:
        if _is_top_level(line) or _starts_secrets(line):
            inside = _starts_secrets(line) is not None
        shown.append(hidden(line) if inside else line)
    return shown
