"""Annotations added to objects that are text already, without reading them again. Pure.

What `kservec.emit` writes has one form: metadata comes third, annotations come first in it, keys are sorted. So the
result is what `emit` would have written, had the annotation been there.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from kservec.emit import dump

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA = "\nmetadata:\n"
HEAD = "  annotations:\n"
_block = re.compile(r"(?:(?:    .*)?\n)*").match
_key = re.compile(r'(?m)^    (?P<key>"(?:[^"\\]|\\.)*"|[^\s"][^\n]*?):(?: |$)').finditer


def annotated(text: str, added: Mapping[str, str]) -> str:
    """An object with more annotations; those that it has already are kept.

    Args:
        text: one object as `emit` writes it.
        added: the annotations to add.
    """
    start = text.find(METADATA)
    if not added or start < 0:
        return text
    start += len(METADATA)
    has_some = text.startswith(HEAD, start)
    first = start + len(HEAD) * has_some
    found = _block(text, first) if has_some else None
    last = found.end() if found is not None else first
    lines = entries_in(text[first:last])
    merged = {**{key: f"    {dump({key: value})}" for key, value in added.items()}, **lines}
    return f"{text[:start]}{HEAD}{''.join(merged[key] for key in sorted(merged))}{text[last:]}"


def entries_in(block: str) -> dict[str, str]:
    """The entries of a map that is indented by four: the lines of each by its key."""
    found = list(_key(block))
    ends = [match.start() for match in found[1:]] + [len(block)] * bool(found)
    return {bare(match["key"]): block[match.start() : end] for match, end in zip(found, ends, strict=True)}


def annotations_of(text: str) -> dict[str, str]:
    """The keys of an object's annotations with the lines that they are written in."""
    start = text.find(METADATA + HEAD)
    if start < 0:
        return {}
    found = _block(text, start + len(METADATA + HEAD))
    return entries_in(found[0]) if found is not None else {}


def bare(text: str) -> str:
    """A scalar without the quotes that it may be written in; as it stands where `emit` did not write it."""
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        return text
