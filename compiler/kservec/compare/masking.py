"""What a report may show of a value: everything but what most likely is a credential.

Works on values, where `core/text/confidential.py` works on the text of input files. Rather hides too much than too
little; that something hidden has changed is still told.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.diagnostics import NOT_SHOWN
from kservec.core.text.confidential import SECRET_KINDS, confidential_lines, names_credential, without_passwords

if TYPE_CHECKING:
    from kservec.core.paths import Json

OPEN_FIELDS = ("apiVersion", "kind", "type", "immutable")
"""What is shown of a Secret, besides its name and labels."""

_find_tokens = re.compile(
    r"\bhf_[A-Za-z0-9]{16,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\bsk-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+"
)
_is_digest = re.compile(r"(?:sha256:)?(?:[0-9a-f]{40}|[0-9a-f]{64})").fullmatch
_match_flag = re.compile(r"--?[\w.-]+=").match


def is_secret_kind(body: Json) -> bool:
    """Whether an object is a Secret, of which hardly anything is shown."""
    return isinstance(body, dict) and body.get("kind") in SECRET_KINDS


def shows_field(path: tuple[object, ...]) -> bool:
    """Whether a field of a Secret may be shown."""
    return bool(path) and (path[0] in OPEN_FIELDS or path[:2] in (("metadata", "labels"), ("metadata", "name")))


def conceals(owner: Json, key: str) -> bool:
    """Whether what a map has under a key is a credential, by the key or by the name of the variable beside it."""
    value = owner.get(key)
    if not isinstance(value, str) or not value:
        return False
    if key == "value":
        name = owner.get("name")
        return isinstance(name, str) and names_credential(name)
    return names_credential(key)


def announces(item: Json) -> bool:
    """Whether an argument is a flag whose value, a credential, is the argument after it."""
    return isinstance(item, str) and item.startswith("-") and "=" not in item and names_credential(item.lstrip("-"))


def shown(value: Json, *, hidden: bool = False) -> Json:
    """A value as it may be shown. `hidden`: nothing in it may."""
    if isinstance(value, dict):
        return {key: shown(below, hidden=hidden or conceals(value, key)) for key, below in value.items()}
    if isinstance(value, list):
        before = (None, *value)
        return [shown(item, hidden=hidden or announces(before[i])) for i, item in enumerate(value)]
    if hidden:
        return NOT_SHOWN
    return shown_text(value) if isinstance(value, str) else value


@lru_cache(maxsize=4096)
def shown_text(text: str) -> str:
    """A text as it may be shown: lines that look like credentials are hidden, passwords and tokens in others too."""
    lines = text.split("\n")
    looks = confidential_lines(lines)
    kept = [shown_line(line, looks_confidential=look) for line, look in zip(lines, looks, strict=True)]
    return _find_tokens.sub(NOT_SHOWN, without_passwords("\n".join(kept)))


def shown_line(line: str, *, looks_confidential: bool) -> str:
    """A line; of one with a credential, the flag that it belongs to. Digests look like keys, and are none."""
    if not looks_confidential or _is_digest(line.strip()):
        return line
    flag = _match_flag(line)
    return f"{flag[0] if flag else ''}{NOT_SHOWN}"
