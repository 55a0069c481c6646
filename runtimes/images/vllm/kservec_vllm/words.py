"""Command lines in vLLM's language: how flags are found in them, and their values.

vLLM takes dashes and underscores alike, `--seed=1` and `--seed 1`, and the last of two wins.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from .refusals import CONFIG, USAGE, Refusal

DRY_RUN: Final = "--dry-run"
"""The flag that is this program's own: nothing is to be run."""
LOWEST_PORT, HIGHEST_PORT = 1, 65535
_is_flag = re.compile(r"--[a-zA-Z]|-[a-zA-Z]").match


def flag_of(word: str) -> str | None:
    """The name of a flag in its plain spelling; None for a value."""
    if not _is_flag(word):
        return None
    name = word.partition("=")[0]
    return name.replace("_", "-") if name.startswith("--") else name


def occurrences(words: Sequence[str], *names: str) -> Iterator[tuple[int, list[str]]]:
    """Where a flag stands, and its values there: what follows the `=`, or all words up to the next flag."""
    for i, word in enumerate(words):
        if flag_of(word) not in names:
            continue
        if "=" in word:
            yield i, [word.partition("=")[2]]
            continue
        end = next((j for j in range(i + 1, len(words)) if flag_of(words[j]) is not None), len(words))
        yield i, list(words[i + 1 : end])


def has(words: Sequence[str], *names: str) -> bool:
    """Whether a flag is given, with or without a value."""
    return any(True for _ in occurrences(words, *names))


def values(words: Sequence[str], *names: str) -> list[str]:
    """The values that count in the end: those of the last time that the flag is given."""
    found = list(occurrences(words, *names))
    return found[-1][1] if found else []


def value(words: Sequence[str], *names: str) -> str | None:
    """The one value that counts in the end; None where the flag is not given.

    Raises:
        Refusal: the flag is there, and no value.
    """
    if not has(words, *names):
        return None
    found = values(words, *names)
    if not found:
        raise Refusal(USAGE, f"{names[0]} has no value", f"write {names[0]}=VALUE")
    return found[0]


def number(words: Sequence[str], *names: str) -> int | None:
    """The whole number that counts in the end; None where the flag is not given.

    Raises:
        Refusal: there is something else than a whole number of at least 0.
    """
    text = value(words, *names)
    return None if text is None else whole(text, names[0])


def whole(text: str, name: str) -> int:
    """A whole number of at least 0.

    Raises:
        Refusal: it is none.
    """
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Refusal(USAGE, f"{name} is {text!r}, which is no whole number", f"give {name} a number, or leave it out")
    return int(text)


def port(text: str, name: str) -> int:
    """The number of a port.

    Raises:
        Refusal: it is none.
    """
    found = whole(text, name)
    if not LOWEST_PORT <= found <= HIGHEST_PORT:
        raise Refusal(CONFIG, f"{name} is {found}", f"a port lies between {LOWEST_PORT} and {HIGHEST_PORT}")
    return found


def port_of(words: Sequence[str], *names: str) -> int | None:
    """The port that counts in the end; None where the flag is not given.

    Raises:
        Refusal: it is none.
    """
    text = value(words, *names)
    return None if text is None else port(text, names[0])


def without(words: Sequence[str], *names: str) -> list[str]:
    """All words but a flag and the one value that it has."""
    gone: set[int] = set()
    for i, found in occurrences(words, *names):
        gone |= {i} if "=" in words[i] or not found else {i, i + 1}
    return [word for i, word in enumerate(words) if i not in gone]


def unquoted(word: str) -> str:
    """A word of KServe's, which puts the arguments of adapters into quotes, for its presets hand them to a shell."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] == "'" and word[1] in "{[" else word


def split(text: str, name: str) -> list[str]:
    """The words of a variable, by the shell's rules for quotes; nothing in it is run.

    Raises:
        Refusal: a quote is left open.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        message = f"{name} cannot be split into arguments: {str(error).lower()}"
        raise Refusal(
            USAGE, message, "close the quote: a value with blanks stands in quotes, JSON in single ones"
        ) from None


def json_object(text: str, name: str) -> dict[str, Any]:
    """The JSON object that a flag has as its value.

    Raises:
        Refusal: it is something else.
    """
    found = object_in(text)
    if found is None:
        raise Refusal(USAGE, f"the value of {name} {flaw(text)}", 'check quotes and braces: \'{"key": "value"}\'')
    return found


def object_in(text: str | bytes, whole_number: Callable[[str], int] = int) -> dict[str, Any] | None:
    """The JSON object that a text is, UTF-8 where it is bytes; None where it is something else, however deep."""
    try:
        found = json.loads(text if isinstance(text, str) else text.decode("utf-8"), parse_int=whole_number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def flaw(text: str | bytes) -> str:
    """What is wrong with a text that `object_in` does not take. Python refuses to read thousands of digits."""
    is_endless = object_in(text, len) is not None
    return "has a number with too many digits in it" if is_endless else "is no JSON object"
