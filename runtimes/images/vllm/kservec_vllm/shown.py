"""What the program says, on standard error: each line under its name, and never a secret."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from .words import flag_of

NAME: Final = "kservec-vllm"
MASK: Final = "***"
_is_secret = re.compile(r"(?:^|[-_])(?:api-?key|token|secret|password|passwd|credentials?)s?(?:$|[-_])", re.I).search
_NOT_SECRET: Final = ("tokens", "token-ids", "tokenizer", "token-budget", "-key-file", "-keyfile")
_in_url = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def say(text: str) -> None:
    """One line."""
    sys.stderr.write(f"{NAME}: {text}\n")
    sys.stderr.flush()


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
    """A value without the secrets in it."""
    if text[:1] in ("{", "["):
        try:
            return json.dumps(without_secrets(json.loads(text)), separators=(",", ":"))
        except ValueError:
            pass
    return _in_url.sub(MASK, text)


def without_secrets(node: Any) -> Any:
    """JSON in which the values of secret members are stars."""
    if isinstance(node, dict):
        return {key: MASK if is_secret(key) else without_secrets(value) for key, value in node.items()}
    if isinstance(node, list):
        return [without_secrets(item) for item in node]
    return _in_url.sub(MASK, node) if isinstance(node, str) else node
