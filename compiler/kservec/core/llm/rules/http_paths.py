"""Paths that a rule of a route matches.

Gateway API: apis/v1/httproute_types.go, HTTPPathMatch
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

PLAIN_TYPES: Final = ("Exact", "PathPrefix")
TYPES: Final = (*PLAIN_TYPES, "RegularExpression")
ENDS: Final = ("/..", "/.")

PATH = Code(
    "llm/route-path",
    Severity.ERROR,
    "a path that no route can match",
    "A path of type Exact or PathPrefix begins with a slash, is written as in a URL (other characters as %20 and the "
    "like) and has no `//`, `/./`, `/../`, `#` or escaped slash in it. The name of a model becomes part of such paths.",
)
_find_part = re.compile(r"//|/\.{1,2}/|%2[fF]|#").search
_is_plain = re.compile(r"[-A-Za-z0-9/._~!$&'()*+,;=:@]+").fullmatch
_is_path = re.compile(r"(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+").fullmatch


def check_path(subject: Subject, given: Json, path: Path) -> Iterator[Diagnostic]:
    """One path, at the place where it stands."""
    if given is None:
        return
    kind, text = given.get("type", "PathPrefix"), given.get("value", "/")
    if kind not in TYPES:
        message = f"there is no match by {kind}"
        yield subject.finding(PATH, message, (*path, "type"), f"use {' or '.join(TYPES)}")
    elif kind in PLAIN_TYPES:
        problem = path_problem(text)
        if problem:
            yield subject.finding(PATH, f"the path {text!r} {problem}", (*path, "value"), "correct it")


def path_problem(text: str) -> str:
    """What is wrong with a path; empty if nothing is."""
    if not text.startswith("/"):
        return "does not begin with a slash"
    found = _find_part(text)
    if found:
        return f"has {found[0]} in it"
    if text.endswith(ENDS):
        return "ends with a dot after a slash"
    return "" if _is_plain(text) or _is_path(text) else "has characters in it that must be escaped"
