"""JSON as Go's `encoding/json` takes it, where Python's reader would take more or give up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from kservec.core.paths import Json

MOST_LEVELS = 100
"""How many objects and arrays may be nested. Go allows 10,000; no setting needs more than a few."""

MOST_DIGITS = 400
"""How long a number may be; the largest that Go can hold has 309 digits."""


def decode(text: str) -> Json:
    """The value that a JSON text holds.

    Raises:
        ValueError: it is no JSON, as with NaN and Infinity, or is nested too deeply, or holds an endless number.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_int=_integer)
    except RecursionError:
        raise _too_deep() from None
    if text.count("{") + text.count("[") > MOST_LEVELS and _is_deep(value):
        raise _too_deep()
    return value


def no_json(text: str) -> tuple[str, int]:
    """Why a text is no JSON, and the offset where that shows.

    The words are ours: those of Python's reader, and the place that it names, depend on its version.
    """
    from kservec.core.text.document import SourceText  # noqa: PLC0415 - not needed without a finding
    from kservec.core.text.json_reader import JsonReader, NotJsonError  # noqa: PLC0415 - as above
    from kservec.core.text.reading import Limits, StopReadingError  # noqa: PLC0415 - as above

    reader = JsonReader(SourceText("", text), Limits())
    try:
        for count, _ in enumerate(reader.documents()):
            if count:
                return "more follows after its end", reader.start
    except NotJsonError as error:
        return str(error), error.offset
    except StopReadingError as error:
        return error.diagnostic.message, reader.start
    return "a value is expected here", len(text)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no value of JSON's")


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number in it has {len(digits):,} digits")
    return int(digits)


def _too_deep() -> ValueError:
    return ValueError(f"more than {MOST_LEVELS} objects and arrays are nested in it")


def _is_deep(value: Json) -> bool:
    """Whether values are nested beyond the limit."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(value, dict | list) for value in level)
