"""Confidential: the text of input files as it may be shown in reports, without lines that may hold a secret.

Works on text alone, so that it also holds for files that cannot be parsed. Rather hides too much than too little: a
document that is or holds a Secret is hidden as a whole, and of others each line that looks like a credential.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from kservec.core.diagnostics import NOT_SHOWN
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRET_KINDS = ("Secret", "SecretList")

_find_markers = re.compile(r"^---(?=\s|\Z)", re.MULTILINE).finditer
# Searches for what begins with letters go through a text many times as fast, so what stands before is looked at after.
_find_kinds = re.compile(r"""kind(?<![^\s{,"'-]kind)\b["']?\s*:?\s*(?:[&!]\S*\s+)*["']?(\w+)""").findall
_has_string_data = re.compile(r"""stringData(?<![^\s{,"'-]stringData)\b""").search
_has_type_of_secret = re.compile(r"""type(?<!\wtype)["']?\s*:\s*["']?(?:Opaque|kubernetes\.io/)""").search
_has_data = re.compile(r"""data(?<![^\s{,"'-]data)\b""").search
_is_declaration = re.compile(r"""kind["']?\s*:\s*["']?Cluster\b""").search
_starts_secrets = re.compile(r"""[\s{,]*["']?secrets["']?\s*:""").match
_is_top_level = re.compile(r"[A-Za-z\"']").match
_split_lines = re.compile(r"(\r\n|\r|\n)").split

_WORD_BEGINS = r"(?:^|[^A-Za-z]|(?<=[a-z0-9])(?=[A-Z]))"
_NAME = (
    rf"{_WORD_BEGINS}(?i:pass(?:word|wd|phrase|code)?|pwd|secret|(?<!account)token|credentials?|authorization|bearer|"
    r"(?:api|access|private|secret|account|encryption|signing)[_-]?key(?:[_-]?id)?)"
)
_is_credential = re.compile(
    rf"""{_NAME}["']?(?:\s*[:=]|\s)\s*["']?(?!["'|>&{{\[\s]|(?i:true|false|null)\b|\Z)"""
    r"""|\w(?::/|//)/?[^\s/@:"']*:[^\s/@]+@|-----BEGIN\s"""
).search
_LONG = 40
_is_encoded = re.compile(rf"\s*(?:-\s+)?[A-Za-z0-9+/=]{{{_LONG},}}\s*\Z").match
_is_value = re.compile(r"""\s*(?:-\s+)?["']?value["']?\s*:""").match
_is_credential_name = re.compile(rf"""["']?\bname["']?\s*:\s*["']?[\w.-]*?{_NAME}\b""").search
_ends_as_credential = re.compile(rf".*?{_NAME}").fullmatch
_has_value = re.compile(r"""[{,]\s*["']?value["']?\s*:""").search


_find_in_uris = re.compile(
    r"(?P<user>(?:(?<=\w://)|(?<=\w:/)|(?<=\w//))[^\s/@:\"']*:[^\s/@]+(?=@))"
    r"|(?P<key>[?&][\w.-]*(?i:token|secret|passw|pwd|credential|signature|sig|key)[\w.-]*=)[^\s&\"'`]+"
)


_TOKENS = {
    "a token of Hugging Face": r"\bhf_[A-Za-z0-9]{20,}",
    "an access key of AWS": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "an API key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a key of Google": r"\bAIza[A-Za-z0-9_-]{35}",
    "a JSON Web Token": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY",
    "a password in a URI": r"\w://[^\s/@:\"'$]*:[^\s/@$]+@",
}
"""Credentials that have a shape of their own."""
_TOKENS_BEGIN = (
    *("hf_", "AKIA", "ASIA", "github_pat_", "glpat-", "sk-", "xox", "AIza", "eyJ", "-----BEGIN"),
    *(f"gh{letter}_" for letter in "pousr"),
)
_IN_NAMES = ("pass", "pwd", "secret", "token", "cred", "author", "bearer", "key")
_HINTS = (*_IN_NAMES, "@", *map(str.casefold, _TOKENS_BEGIN))
"""Each credential that is known by its name, its shape or its place in a URI has one of these in it, in lower case."""
_find_token = re.compile("|".join(f"(?P<t{i}>{pattern})" for i, pattern in enumerate(_TOKENS.values()))).search
_may_be_token = re.compile("|".join((*_TOKENS_BEGIN, "://"))).search


@lru_cache(maxsize=1024)
def token_in(text: str) -> str:
    """What kind of credential a text holds by the shape of it; empty if there is none."""
    found = _find_token(text) if _may_be_token(text) else None
    return tuple(_TOKENS)[int((found.lastgroup or "t0")[1:])] if found else ""


def without_passwords(text: str) -> str:
    """The text without the passwords and tokens of URIs in it, be it that a colon or slash was forgotten in them."""
    if "/" not in text:
        return text
    return _find_in_uris.sub(lambda found: f"{found['key']}***" if found["key"] else "***", text)


@lru_cache(maxsize=4096)
def names_credential(name: str) -> bool:
    """Whether a variable or key of this name most likely holds a credential."""
    return _ends_as_credential(name) is not None


def showable(text: str) -> str:
    """The text with what may be secret hidden; every line stays where it is."""
    starts = [0, *(found.start() for found in _find_markers(text) if found.start()), len(text)]
    return "".join(shown_document(text[start:end]) for start, end in pairwise(starts))


def shown_document(text: str) -> str:
    """One document, with what is confidential in it hidden."""
    parts = _split_lines(text)
    lines, ends = parts[::2], [*parts[1::2], ""]
    if is_secret(text):
        shown = [hidden(line) for line in lines]
    else:
        shown = hidden_declarations(lines) if _is_declaration(text) else lines
        shown = [
            NOT_SHOWN if confidential else line
            for line, confidential in zip(shown, confidential_lines(lines), strict=True)
        ]
    return "".join(line + end for line, end in zip(shown, ends, strict=True))


def is_secret(text: str) -> bool:
    """Whether a document is or holds a Secret, be it that its kind is misspelt, broken up by NULs, or missing."""
    text = text.replace("\0", "")
    kinds = _find_kinds(text)
    if any(kind in SECRET_KINDS or closest(kind, SECRET_KINDS) for kind in kinds):
        return True
    if _has_string_data(text) or _has_type_of_secret(text):
        return True
    return not kinds and _has_data(text) is not None


def hidden(line: str) -> str:
    """What is shown of a line that may hold a secret. Empty lines and the marks between documents stay."""
    return line if not line.strip() or line.rstrip() == "---" else NOT_SHOWN


def hidden_declarations(lines: list[str]) -> list[str]:
    """A Cluster document with its declared Secrets hidden, among which someone may have written a value by mistake."""
    shown: list[str] = []
    inside = False
    for line in lines:
        if _is_top_level(line) or _starts_secrets(line):
            inside = _starts_secrets(line) is not None
        shown.append(hidden(line) if inside and not line.rstrip().endswith("secrets:") else line)
    return shown


def confidential_lines(lines: Sequence[str]) -> list[bool]:
    """Of each line of a text, whether it gives a credential a value, or looks like one itself."""
    hints = hints_in("\n".join(lines))
    return [holds_credential(line, hints) or is_value_of_credential(lines, i) for i, line in enumerate(lines)]


def hints_in(text: str) -> tuple[str, ...]:
    """What stands in a text that may be part of a credential; most texts have little of it, and are through soon."""
    folded = text.casefold()
    return tuple(hint for hint in _HINTS if hint in folded)


def holds_credential(line: str, hints: tuple[str, ...]) -> bool:
    """Whether a line gives something that is named like a credential a value, or looks like one itself.

    `hints` are those of the whole text.
    """
    if len(line) >= _LONG and _is_encoded(line):
        return True
    folded = line.casefold() if hints else ""
    return any(hint in folded for hint in hints) and (_is_credential(line) is not None or token_in(line) != "")


def is_value_of_credential(lines: Sequence[str], i: int) -> bool:
    """Whether a line has the value of what it, or a line beside it, gives a name like that of a credential."""
    line = lines[i]
    if "value" not in line:
        return False
    if _is_value(line):
        around = (*lines[max(0, i - 1) : i], *lines[i + 1 : i + 2])
        return any(_is_credential_name(other) for other in around)
    return _has_value(line) is not None and _is_credential_name(line) is not None
