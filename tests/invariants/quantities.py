"""Quantities are spelled as an API server gives them back, so that no tool sees a difference. Written here anew."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .output import Output, title

if TYPE_CHECKING:
    from collections.abc import Iterator

MAPS = {"limits", "requests", "capacity", "defaultRequest", "overhead"}
SINGLE = {"sizeLimit", "averageValue"}
_match = re.compile(r"(-?)(0|[1-9][0-9]*)(?:([KMGTPE])i|([numkMGTPE])|[eE]([+-]?[0-9]+))?").fullmatch


def quantities_are_canonical(output: Output) -> Iterator[str]:
    """Every quantity in resources, sizes and targets is text in canonical form."""
    for body in output.objects:
        for path, value in quantities_in(body):
            if not is_canonical(value):
                yield f"{title(body)}: {path}: {value!r}"


def quantities_in(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The quantities of a value, with their paths."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from quantities_in(item, f"{path}[{number}]")
    for key, held in value.items() if isinstance(value, dict) else ():
        if key in MAPS and isinstance(held, dict):
            yield from ((f"{path}.{key}.{name}", quantity) for name, quantity in held.items() if is_one(quantity))
        elif key in SINGLE:
            yield f"{path}.{key}", held
        elif key != "data":
            yield from quantities_in(held, f"{path}.{key}")


def is_one(value: Any) -> bool:
    """Whether a value is a quantity, and no map of its own."""
    return not isinstance(value, dict | list)


def is_canonical(value: Any) -> bool:
    """Whether a quantity is a whole number with the largest suffix that keeps it whole."""
    found = _match(value) if isinstance(value, str) else None
    if found is None or value == "-0":
        return False
    digits, binary, decimal, exponent = int(found[2]), found[3], found[4], found[5]
    if digits == 0:
        return value == "0"
    if binary:
        return digits % 1024 != 0 or binary == "E"
    if exponent:
        return int(exponent) % 3 == 0 and digits % 1000 != 0
    return digits % 1000 != 0 or decimal == "E"


INVARIANTS = (quantities_are_canonical,)
