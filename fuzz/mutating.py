"""Mutation of values: one place of a document becomes something else. Documents are changed where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from fuzz.stock import Stock
from fuzz.words import EVERYTHING, Raw, fitting

Place: TypeAlias = tuple[Any, Any, str]
"""A map or list, a key or index in it, and the name of the nearest field."""
Mutation: TypeAlias = Callable[[Place, Random, Stock], None]

LARGEST = 2**53
"""Whole numbers beyond it have no half, and may be no float at all."""
TIMES = (1, 1, 1, 1, 2, 2, 3, 5)
"""How many places are changed, by chance."""


def places(value: Any, name: str = "") -> list[Place]:
    """Every place in a value, from the outside in."""
    found: list[Place] = []
    waiting = [(value, name)]
    while waiting:
        holder, above = waiting.pop()
        parts = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, part in parts:
            field = str(key) if isinstance(holder, dict) else above
            found.append((holder, key, field))
            if isinstance(part, (dict, list)):
                waiting.append((part, field))
    return found


def odd(key: str, chance: Random) -> Any:
    """A value that is odd for a field, and most often meant for such a field."""
    values = fitting(key) if chance.random() < 0.6 else chance.choice(EVERYTHING)
    value = chance.choice(values)
    return json.loads(json.dumps(value)) if isinstance(value, (dict, list)) else value


def set_odd(place: Place, chance: Random, stock: Stock) -> None:
    """Put an odd value there."""
    del stock
    holder, key, name = place
    holder[key] = odd(name, chance)


def set_other(place: Place, chance: Random, stock: Stock) -> None:
    """Put there what some file has for this field."""
    holder, key, name = place
    holder[key] = stock.piece(name, chance)


def splice(place: Place, chance: Random, stock: Stock) -> None:
    """Put there what some file has for any other field."""
    holder, key, _ = place
    holder[key] = json.loads(chance.choice(stock.pieces[chance.choice(list(stock.pieces))]))


def remove(place: Place, chance: Random, stock: Stock) -> None:
    """Take it away."""
    del chance, stock
    holder, key, _ = place
    del holder[key]


def repeat(place: Place, chance: Random, stock: Stock) -> None:
    """Have it twice: in a list, or under the name of another field."""
    holder, key, name = place
    again = json.loads(json.dumps(holder[key], default=str))
    if isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), again)
    else:
        holder[chance.choice(stock.siblings.get(name) or [name])] = again


def rename(place: Place, chance: Random, stock: Stock) -> None:
    """Misspell a key, or give it the name of another one."""
    holder, key, _ = place
    if isinstance(holder, list):
        return
    text = str(key)
    at = chance.randrange(len(text) + 1)
    names = (
        text[:at] + text[at + 1 :], text[:at] + "x" + text[at:], text.swapcase(), text + " ",
        text[:1].upper() + text[1:], chance.choice(list(stock.scalars)), chance.choice(list(stock.pieces)), Raw("1"),
        Raw("null"), Raw("<<"), "", Raw("y"),
    )  # fmt: skip
    holder[chance.choice(names)] = holder.pop(key)


def add(place: Place, chance: Random, stock: Stock) -> None:
    """Add a field that other files have there."""
    holder, key, name = place
    target = holder[key] if isinstance(holder[key], dict) else holder if isinstance(holder, dict) else None
    known = stock.siblings.get(name)
    if target is None or not known:
        return
    field = chance.choice(known)
    target[field] = stock.piece(field, chance)


def retype(place: Place, chance: Random, stock: Stock) -> None:
    """Keep the value and change its type."""
    del stock
    holder, key, name = place
    value = holder[key]
    ways: list[Any] = [
        [value],
        {name: value},
        str(value),
        json.dumps(value, default=str),
        None,
        [],
        {},
        [value, value],
        [None],
        True,
    ]
    if isinstance(value, str):
        ways += [Raw(value or "~"), list(value[:3]), {value: value}, len(value)]
    if isinstance(value, (dict, list)) and value:
        ways += [next(iter(value.values())) if isinstance(value, dict) else value[0]]
        ways += [
            list(value.values()) if isinstance(value, dict) else dict(zip(map(str, range(9)), value, strict=False))
        ]
    holder[key] = chance.choice(ways)


def bend(place: Place, chance: Random, stock: Stock) -> None:
    """Change a text or a number a little."""
    holder, key, name = place
    value = holder[key]
    if isinstance(value, str):
        at = chance.randrange(len(value) + 1)
        extra = odd(name, chance)
        extra = extra if isinstance(extra, str) else " "
        ways = (
            value[:at],
            value[at:],
            value[:at] + extra + value[at:],
            value.upper(),
            value * 2,
            value[::-1],
            value + extra,
        )
        holder[key] = chance.choice(ways)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        half = 0.5 if abs(value) < LARGEST else 1
        holder[key] = chance.choice(
            (value + 1, value - 1, -value, value * 1000, value + half, value * 2**40, str(value), 0)
        )
    else:
        set_other(place, chance, stock)


def swap(place: Place, chance: Random, stock: Stock) -> None:
    """Exchange it with a neighbour."""
    del stock
    holder, key, _ = place
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    other = chance.choice(keys)
    holder[key], holder[other] = holder[other], holder[key]


MUTATIONS: tuple[Mutation, ...] = (
    set_odd, set_odd, set_other, set_other, splice, remove, remove, repeat, rename, add, add, retype, bend, bend, swap,
)  # fmt: skip


def mutate(
    documents: list[Any], times: int, chance: Random, stock: Stock, mutations: tuple[Mutation, ...] = MUTATIONS
) -> None:
    """Change some places of documents; those near the top, where kinds and names stand, not more often than others."""
    for _ in range(times):
        found = places(documents)
        if not found:
            return
        chance.choice(mutations)(chance.choice(found), chance, stock)
