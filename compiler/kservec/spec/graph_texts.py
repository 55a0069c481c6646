"""The texts in a graph that mean something to its router: conditions, URLs, and what `data` asks for.

Says what is wrong with them, for the compiler and for the router, which must refuse the same. Evaluates nothing.
Conditions are GJSON paths (tidwall/gjson 1.18), which takes any text; what is refused here cannot have been meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

REQUEST, RESPONSE = "$request", "$response"
SCHEMES = ("http", "https")
LONGEST_CONDITION = 4096
MOST_MODIFIERS = 50
MOST_CALLS = 1_000
"""Calls that one request may lead to, or one for each step of the graph if those are more: nodes that several steps
lead to are run once for each, so a small graph can ask for millions."""
OF_QUERIES, OF_ALL = ("[(", "])"), ("[({", "])}")
"""Brackets that open and close: those that count in queries, and those of multipaths."""

_find_queries = re.compile(r"(?:\A|(?<=[.|(\[{,:]))#[(\[]").finditer
_find_tokens = re.compile(r'\\.|"(?:[^"\\]|\\.)*+"?|[\[\](){},:@]', re.DOTALL).finditer
_is_unfit = re.compile(r"[\x00-\x20\x7f]").search


def condition_problem(text: str) -> str | None:
    """Why a text cannot be meant as a GJSON path; None when it can."""
    if text.lstrip().startswith("$"):
        return "it looks like JSONPath; conditions are GJSON paths, which have no `$`"
    if any(closing(text, found.end(), OF_QUERIES) < 0 for found in _find_queries(text)):
        return "a query `#(...)` is not closed"
    if text[:1] in ("{", "["):
        if closing(text, 1, OF_ALL) < 0:
            return "its brackets are not closed"
        if any(path.lstrip().startswith(".") for path in members(text)):
            return "it looks like JSONPath; conditions are GJSON paths, such as `[@this].#(userId==1)`"
    if len(text.encode()) > LONGEST_CONDITION or text.count("|") + text.count("@") > MOST_MODIFIERS:
        return "it is too long"
    return None


def closing(text: str, start: int, brackets: tuple[str, str]) -> int:
    """Where the bracket before `start` is closed; -1 if it never is. Brackets in strings and escaped ones are text.

    Any bracket closes any other, as in GJSON.
    """
    opened, closed = brackets
    depth = 1
    for token in _find_tokens(text, start):
        if token[0] in opened:
            depth += 1
        elif token[0] in closed:
            depth -= 1
            if not depth:
                return token.start()
    return -1


def members(text: str) -> Iterator[str]:
    """The paths in the brackets that a text begins with, without their names; a colon in a modifier ends no name."""
    start, depth, is_named, in_modifier = 1, 1, False, False
    for token in _find_tokens(text, 1):
        char, at = token[0], token.start()
        depth += (char in OF_ALL[0]) - (char in OF_ALL[1])
        if char == "@":
            in_modifier = in_modifier or text[at - 1] in ".|"
        elif char == ":" and depth == 1 and not is_named and not in_modifier:
            start, is_named = at + 1, True
        elif not depth or (depth == 1 and char == ","):
            yield text[start:at]
            start, is_named, in_modifier = at + 1, False, False
        if not depth:
            return


def input_problem(text: str) -> str | None:
    """Why `data` asks for nothing that there is; None when it does. A path below $response is GJSON."""
    if text in ("", REQUEST, RESPONSE) or (text.startswith(f"{RESPONSE}.") and len(text) > len(RESPONSE) + 1):
        return None
    return "it can be $request, $response, or $response.<GJSON path>"


def url_problem(url: str) -> str | None:
    """Why a URL cannot be called; None when it can."""
    if _is_unfit(url):
        return "there are spaces or control characters in it; write them as %20 and the like"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in SCHEMES:
        return "it must begin with http:// or https://"
    if not host or not host.isascii():
        return "it has no host name, or one that is not ASCII"
    return None
