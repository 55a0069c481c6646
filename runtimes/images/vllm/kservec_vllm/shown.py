"""What the program says, on standard error: each line under its name, and never a secret.

Every line goes through `say`, which masks what looks like a secret and escapes what a terminal, a log or a workflow
would take for more than text. A command line is masked by its flags before. All of it takes a time that grows with the
text alone: each expression goes over a part of it once.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from .words import flag_of

NAME: Final = "kservec-vllm"
MASK: Final = "***"
_is_secret = re.compile(
    r"(?:^|[-_.])(?:api[-_]?key|token|secret|password|passwd|credential|signature|sig)s?(?:$|[-_.])", re.I
).search
_NOT_SECRET: Final = ("tokens", "token-ids", "tokenizer", "token-budget", "-key-file", "-keyfile")
_with_user = re.compile(r"://[^\s\"]*")
_with_query = re.compile(r"://[^\s\"']*")
_user_with_blanks = re.compile(r"(?<=://)[^/@\s:]*:(?!\d+\s)[^/@]*(?=@)")
_named = re.compile(r"""(?<![\w.-])([\w.-]+)["']?\s*[=:]\s*""").finditer
_value = re.compile(r"""(?:"[^"]*"?|'[^']*'?|[^\s&"',;}]+)?""").match


def say(text: str) -> None:
    """One line, whatever the text is."""
    line = f"{NAME}: {escaped(cleaned(text))}\n".encode(errors="backslashreplace")
    with suppress(OSError, AttributeError):  # a log that is closed or full is no reason not to serve
        os.write(sys.stderr.fileno(), line)


def escaped(text: str) -> str:
    """Text without control characters, line breaks, and `::`, by which workflows know their commands."""
    plain = (c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii") for c in text)
    return "".join(plain).replace("::", r":\x3a")


def shown(words: Sequence[str]) -> str:
    """A command line as a shell would take it, with secrets masked."""
    return " ".join(shlex.quote(word) for word in masked(words))


def masked(words: Sequence[str]) -> Iterator[str]:
    """Words in which the values of secret flags, secret members of JSON and passwords of URLs are stars."""
    secret = False
    for word in words:
        flag = flag_of(word)
        if flag is not None:
            name, sign, text = word.partition("=")
            secret = is_secret(flag)
            yield f"{name}{sign}{MASK if secret else cleaned(text)}" if sign else name
            secret = secret and not sign
        else:
            yield MASK if secret else cleaned(word)


def is_secret(name: str) -> bool:
    """Whether what a name stands for must not be shown."""
    plain = name.replace("_", "-").lower()
    return _is_secret(plain) is not None and not any(part in plain for part in _NOT_SECRET)


def cleaned(text: str) -> str:
    """Text without the secrets in it: of JSON, of URLs, and of settings with a secret name."""
    if text[:1] in ("{", "["):
        try:
            return json.dumps(without_secrets(json.loads(text)), separators=(",", ":"))
        except (ValueError, RecursionError):
            pass
    text = _user_with_blanks.sub(MASK, _with_user.sub(without_user, text))
    return "".join(without_settings(_with_query.sub(without_query, text)))


def without_user(url: re.Match[str]) -> str:
    """A URL from its `://` on without user and password, which may have any sign in them."""
    _, at, rest = url[0].rpartition("@")
    return f"://{MASK}{at}{rest}" if at else rest


def without_query(url: re.Match[str]) -> str:
    """A URL from its `://` on without its query, which may be a signature."""
    path, sign, query = url[0].partition("?")
    return f"{path}{sign}{MASK if query else ''}"


def without_settings(text: str) -> Iterator[str]:
    """The parts of a text in which the values behind secret names are stars."""
    end = 0
    for found in _named(text):
        if found.start() >= end and is_secret(found[1]) and (secret := _value(text, found.end())):
            yield f"{text[end : found.end()]}{MASK}"
            end = secret.end()
    yield text[end:]


def without_secrets(node: Any) -> Any:
    """JSON in which the values of secret members are stars."""
    if isinstance(node, dict):
        return {key: MASK if is_secret(key) else without_secrets(value) for key, value in node.items()}
    if isinstance(node, list):
        return [without_secrets(item) for item in node]
    return cleaned(node) if isinstance(node, str) else node
