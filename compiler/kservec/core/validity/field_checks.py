"""Checks of single fields: the ranges, forms and combinations of values that tables of rules ask for.

Decides what is wrong with a value, how that is worded, and which values surely pass, by a JSON Schema beside each
check. Must not know where a value stands, nor any kind: the tables of rules do.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from kservec.core.patterns import Pattern
from kservec.core.quantity import is_cut, is_negative
from kservec.core.schemas.object_meta import (
    PLAIN_KEY,
    PLAIN_LABEL,
    PLAIN_SUBDOMAIN,
    PLAIN_WORD,
    is_key,
    is_label_name,
    is_label_value,
    is_subdomain,
    plain,
)
from kservec.core.spelling import closest
from kservec.core.validity.field_rules import (
    ABSENT,
    CUT,
    INVALID,
    MISSING,
    NOT_EXACTLY_ONE,
    REPEATED,
    TOO_MUCH,
    Check,
    Wrong,
    unless,
)

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

Test: TypeAlias = "Callable[[str], object]"

ANY_QUANTITY = {
    "type": ["string", "integer"],
    "pattern": r"^(?:[0-9]{1,15}(?:\.[0-9]{1,3})?[numkMGT]?|[0-9]{1,6}(?:\.[0-9]{1,3})?[KMGT]i)$",
    "minimum": 0,
    "maximum": 2**53,
}

PAIR = 2
REMOVE = "remove it"


def must_be(value: Json, expected: str, at: Path = ()) -> Wrong:
    """The fault of a value that has to be another one."""
    return Wrong(INVALID, f"is {value}, but must be {expected}", at, f"use {expected}")


def takes(test: Test, expected: str, fine: str = "") -> Check:
    """The text must pass a test. `fine` is a regular expression for short texts that do."""

    def find(value: Json) -> Iterable[Wrong]:
        if not isinstance(value, str) or test(value):
            return ()
        return (must_be(f'"{value}"', expected),)

    return Check(find, plain(fine) if fine else ABSENT)


def one_of(*words: str) -> Check:
    """The text must be one of these words. Of the empty one, which stands for a default, nothing is said."""
    told = [word for word in words if word]
    listed = " or ".join(told) if len(told) <= PAIR else f"one of {', '.join(told)}"

    def find(value: Json) -> Iterable[Wrong]:
        if not isinstance(value, str) or value in words:
            return ()
        near, wrong = closest(value, told), must_be(f'"{value}"', listed)
        return (wrong._replace(remedy=f"did you mean {near}?") if near else wrong,)

    return Check(find, plain("|".join(told)))


def within(low: int, high: int | None = None) -> Check:
    """The number must not be below `low`, nor above `high` if given."""
    expected = f"{low} or more" if high is None else f"{low} to {high}"

    def find(value: Json) -> Iterable[Wrong]:
        if not isinstance(value, int) or (low <= value and (high is None or value <= high)):
            return ()
        return (must_be(value, expected),)

    return Check(find, {"minimum": low} if high is None else {"minimum": low, "maximum": high})


@unless(ANY_QUANTITY)
def an_amount(value: Json) -> Iterable[Wrong]:
    """The quantity must not be below zero; one that is cut to what a quantity can hold is warned of."""
    try:
        negative, cut = is_negative(value), is_cut(value)
    except (ValueError, TypeError):  # the schema's business
        return ()
    if negative:
        return (Wrong(INVALID, f"is {value}, but must not be below zero", remedy="use 0 or more"),)
    return (Wrong(CUT, TOO_MUCH),) if cut else ()


def needs(*fields: str) -> Check:
    """Each of the fields must be there, and not be empty."""

    def find(value: Json) -> Iterable[Wrong]:
        return [Wrong(MISSING, f"has no {name}", remedy=f"add {name}") for name in fields if not value.get(name)]

    full = {"type": ["string", "array", "object"], "minLength": 1, "minItems": 1, "minProperties": 1}
    return Check(find, {"required": list(fields), "properties": dict.fromkeys(fields, full)})


def exactly_one(*fields: str) -> Check:
    """One of the fields must be there, and no other of them."""

    def find(value: Json) -> Iterable[Wrong]:
        found = [name for name, held in value.items() if name in fields and held is not None]
        if len(found) == 1:
            return ()
        remedy = "" if found else f"add one of {', '.join(fields)}"
        message = f"has {' and '.join(sorted(found)) or 'none'} of {', '.join(fields)}"
        return (Wrong(NOT_EXACTLY_ONE, message, remedy=remedy),)

    ones = {name: {"not": {"type": "null"}} for name in fields}
    fine = {"properties": ones, "minProperties": 1, "maxProperties": 1, "propertyNames": {"enum": list(fields)}}
    return Check(find, fine)


def unique(*fields: str) -> Check:
    """No two items of the list may agree in all of the fields."""

    def find(items: Json) -> Iterator[Wrong]:
        keys = Counter(tuple(str(item.get(name) or "") for name in fields) for item in items if isinstance(item, dict))
        for key, count in keys.items():
            if count > 1:
                yield Wrong(REPEATED, f"has {count} items with {' and '.join(fields)} {', '.join(key)}")

    return Check(find, {"maxItems": 1})


def forbids(excluded: str, when: Callable[[Json], object], reason: str) -> Check:
    """A field that must not be there in a certain case."""

    def find(value: Json) -> Iterable[Wrong]:
        if value.get(excluded) is None or not when(value):
            return ()
        return (Wrong(INVALID, f"is not possible {reason}", (excluded,), REMOVE),)

    return Check(find, without(excluded))


def without(*fields: str) -> Json:
    """The JSON Schema of a map that has none of these fields."""
    return {"properties": dict.fromkeys(fields, ABSENT)}


def keys_are(test: Test, expected: str, fine: str = "") -> Check:
    """Every key of the map must pass a test. `fine` is a regular expression for keys that do."""

    def find(value: Json) -> Iterator[Wrong]:
        for key in value if isinstance(value, dict) else ():
            if not test(key):
                yield Wrong(INVALID, f"is no valid key: it must be {expected}", (key,), f"use {expected}")

    return Check(find, {"propertyNames": plain(fine)} if fine else ABSENT)


_is_word = Pattern(r"[-._a-zA-Z0-9]{1,253}").fullmatch
_is_variable = Pattern(r"[ -<>-~]+").fullmatch
_is_port_name = Pattern(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?").fullmatch

_PLAIN_FILE = "[-_A-Za-z0-9][-._A-Za-z0-9]*"


def is_address(text: str) -> bool:
    """Whether the text is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_config_key(text: str) -> bool:
    """Whether the text may be a key of a ConfigMap or Secret."""
    return _is_word(text) is not None and text not in (".", "..") and not text.startswith("..")


def is_below(text: str) -> bool:
    """Whether the text is a relative path that does not leave its folder."""
    return not text.startswith("/") and ".." not in text.split("/")


AN_ADDRESS = takes(is_address, "an IP address", fine=r"[1-9][0-9]?\.[1-9][0-9]?\.[1-9][0-9]?\.[1-9][0-9]?")
A_CONFIG_KEY = takes(is_config_key, "letters, digits, dashes, underscores and dots", fine="[A-Za-z0-9][-._A-Za-z0-9]*")
A_KEY = takes(
    is_key, "a label key: letters, digits, dashes, underscores and dots, with or without a domain and slash", PLAIN_KEY
)
A_LABEL = takes(is_label_name, "at most 63 lower-case letters, digits and dashes", PLAIN_LABEL)
A_LABEL_VALUE = takes(is_label_value, "at most 63 letters, digits, dashes, underscores and dots", PLAIN_WORD)
A_PATH_BELOW = takes(is_below, "a relative path without ..", fine=f"{_PLAIN_FILE}(?:/{_PLAIN_FILE})*")
A_SUBDOMAIN = takes(is_subdomain, "a DNS name in lower-case letters", PLAIN_SUBDOMAIN)
A_VARIABLE = takes(_is_variable, "printable ASCII without =", fine="[-._A-Za-z0-9]+")
A_PREFIX = takes(lambda text: not text or _is_variable(text), "printable ASCII without =", fine="[-._A-Za-z0-9]*")
A_PORT_NAME = takes(
    _is_port_name, "at most 15 lower-case letters, digits and dashes, or a number", fine="[a-z][a-z0-9]{0,14}"
)
A_PORT_NUMBER = within(1, 65535)


@unless({"type": ["integer", "string"], **A_PORT_NUMBER.fine, **A_PORT_NAME.fine})
def a_port(value: Json) -> Iterable[Wrong]:
    """A port is a number, or the name of one."""
    return (A_PORT_NAME if isinstance(value, str) else A_PORT_NUMBER)(value)
