"""Rules about single fields: where they look, and what is wrong with what they find there.

Decides how a rule is written and how its faults read. Must not know any kind: the tables of rules do
(`container_rules`, `volume_rules`, `pod_rules`).
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.diagnostics import Code, Severity
from kservec.core.paths import item_key
from kservec.core.quantity import is_negative
from kservec.core.schemas.faults import Fault, field_path
from kservec.core.schemas.object_meta import is_key, is_label_name, is_label_value, is_subdomain

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

INVALID = Code(
    "pod/invalid-value",
    Severity.ERROR,
    "a value in a pod that the API server refuses",
    "The field takes less than its type does: a range of numbers, a form of text, or nothing at all beside some other "
    "field. No schema says so; the API server checks it when the pod is applied.",
)
MISSING = Code(
    "pod/missing-value",
    Severity.ERROR,
    "a value in a pod that must be there and is not",
    "The API server demands the field where the object around it is written, or where another field has a certain "
    "value.",
)
NOT_EXACTLY_ONE = Code(
    "pod/not-exactly-one",
    Severity.ERROR,
    "more or fewer than one of several alternatives",
    "A volume has one source, a probe one handler with a port, a variable a value or a source. Laying a service over a "
    "runtime keeps both sides: use another name, or a runtime without the other alternative.",
)
REPEATED = Code(
    "pod/repeated",
    Severity.ERROR,
    "two things of one name in a pod",
    "Containers, volumes, ports, environment variables and mount paths must differ from each other. When a runtime, a "
    "service and credentials are merged, two of them can bring the same one.",
)

Test: TypeAlias = "Callable[[str], object]"
Check: TypeAlias = "Callable[[Json], Iterable[Wrong]]"


ITEMS = "[]"


class Wrong(NamedTuple):
    """What is wrong at or below a value: `at` are the steps from there to the place."""

    code: Code
    message: str
    at: Path = ()


class Rule(NamedTuple):
    """`where` is a dotted path from the value that rules are about; `[]` stands for every item of a list."""

    where: str
    check: Check


def all_of(rules: Iterable[Rule]) -> Check:
    """One check for a table of rules, which walks a value once and comes by all places that they speak of."""
    return _joined([(_steps(rule.where), rule.check) for rule in rules], "")


def _steps(where: str) -> tuple[str, ...]:
    return tuple(where.replace(ITEMS, f".{ITEMS}").split(".")) if where else ()


def _joined(rules: Iterable[tuple[tuple[str, ...], Check]], field_name: str) -> Check:
    """The check of a value that `field_name` holds, by rules with the steps from there."""
    own: list[Check] = []
    below: dict[str, list[tuple[tuple[str, ...], Check]]] = {}
    for steps, check in rules:
        if steps:
            below.setdefault(steps[0], []).append((steps[1:], check))
        else:
            own.append(check)
    fields = {step: _joined(group, step) for step, group in below.items()}
    if ITEMS in fields:
        own.append(_of_items(fields.pop(ITEMS), field_name))
    if fields:
        own.append(_of_fields(fields))
    return own[0] if len(own) == 1 else lambda value: [wrong for check in own for wrong in check(value)]


def _of_fields(checks: Mapping[str, Check]) -> Check:
    """Checks of the fields of a map. Null is as good as nothing."""

    def check(value: Json) -> Iterable[Wrong]:
        found: tuple[Wrong, ...] = ()
        for name, child in value.items() if value.__class__ is dict else ():
            if child is not None and name in checks:
                for wrong in checks[name](child):
                    found = (*found, _moved(wrong, name))
        return found

    return check


def _of_items(item_check: Check, field_name: str) -> Check:
    """A check of every item of a list."""

    def check(value: Json) -> Iterable[Wrong]:
        found: tuple[Wrong, ...] = ()
        for i, item in enumerate(value) if value.__class__ is list else ():
            for wrong in item_check(item) if item is not None else ():
                key = item_key(item, field_name)
                found = (*found, _moved(wrong, i if key is None else key))
        return found

    return check


def _moved(wrong: Wrong, step: str | int) -> Wrong:
    return wrong._replace(at=(step, *wrong.at))


def faults_of_rules(value: Json, check: Check, base: Path = ()) -> Iterator[Fault]:
    """A fault for everything that is wrong with a value by a check of rules. `base` is the path of the value."""
    for wrong in check(value):
        at = (*base, *wrong.at)
        yield Fault(wrong.code, at, f"{field_path(at)} {wrong.message}", help=HELP[wrong.code.slug])


HELP = {
    INVALID.slug: "correct the value",
    MISSING.slug: "add it",
    NOT_EXACTLY_ONE.slug: "leave exactly one",
    REPEATED.slug: "leave one of the two",
}


def takes(test: Test, expected: str) -> Check:
    """The text must pass a test."""

    def check(value: Json) -> Iterable[Wrong]:
        if not isinstance(value, str) or test(value):
            return ()
        return (Wrong(INVALID, f'is "{value}", but must be {expected}'),)

    return check


def within(low: int, high: int | None = None) -> Check:
    """The number must not be below `low`, nor above `high` if given."""
    expected = f"{low} or more" if high is None else f"{low} to {high}"

    def check(value: Json) -> Iterable[Wrong]:
        if not isinstance(value, int) or (low <= value and (high is None or value <= high)):
            return ()
        return (Wrong(INVALID, f"is {value}, but must be {expected}"),)

    return check


def not_negative(value: Json) -> Iterable[Wrong]:
    """The quantity must not be below zero."""
    try:
        negative = is_negative(value)
    except (ValueError, TypeError):  # the schema's business
        return ()
    return (Wrong(INVALID, f"is {value}, but must not be below zero"),) if negative else ()


def needs(*fields: str) -> Check:
    """Each of the fields must be there, and not be empty."""

    def check(value: Json) -> Iterable[Wrong]:
        if all(map(value.get, fields)):
            return ()
        return [Wrong(MISSING, f"has no {name}") for name in fields if not value.get(name)]

    return check


def exactly_one(*fields: str) -> Check:
    """One of the fields must be there, and no other of them."""

    def check(value: Json) -> Iterable[Wrong]:
        found = [name for name, held in value.items() if name in fields and held is not None]
        if len(found) == 1:
            return ()
        return (Wrong(NOT_EXACTLY_ONE, f"has {' and '.join(sorted(found)) or 'none'} of {', '.join(fields)}"),)

    return check


def unique(*fields: str) -> Check:
    """No two items of the list may agree in all of the fields."""

    def check(items: Json) -> Iterator[Wrong]:
        keys = Counter(tuple(str(item.get(name) or "") for name in fields) for item in items if isinstance(item, dict))
        for key, count in keys.items():
            if count > 1:
                yield Wrong(REPEATED, f"has {count} items with {' and '.join(fields)} {', '.join(key)}")

    return check


def forbids(excluded: str, when: Callable[[Json], object], reason: str) -> Check:
    """A field that must not be there in a certain case."""

    def check(value: Json) -> Iterable[Wrong]:
        if value.get(excluded) is None or not when(value):
            return ()
        return (Wrong(INVALID, f"is not possible {reason}", (excluded,)),)

    return check


def keys_are(test: Test, expected: str) -> Check:
    """Every key of the map must pass a test."""

    def check(value: Json) -> Iterator[Wrong]:
        for key in value if isinstance(value, dict) else ():
            if not test(key):
                yield Wrong(INVALID, f"is no valid key: it must be {expected}", (key,))

    return check


_is_word = re.compile(r"[-._a-zA-Z0-9]{1,253}").fullmatch
_is_variable = re.compile(r"[ -<>-~]+").fullmatch
_is_port_name = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?").fullmatch


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


AN_ADDRESS = takes(is_address, "an IP address")
A_CONFIG_KEY = takes(is_config_key, "letters, digits, dashes, underscores and dots")
A_KEY = takes(is_key, "a label key: letters, digits, dashes, underscores and dots, with or without a domain and slash")
A_LABEL = takes(is_label_name, "at most 63 lower-case letters, digits and dashes")
A_LABEL_VALUE = takes(is_label_value, "at most 63 letters, digits, dashes, underscores and dots")
A_PATH_BELOW = takes(is_below, "a relative path without ..")
A_SUBDOMAIN = takes(is_subdomain, "a DNS name in lower-case letters")
A_VARIABLE = takes(_is_variable, "printable ASCII without =")
A_PREFIX = takes(lambda text: not text or _is_variable(text), "printable ASCII without =")


def a_port(value: Json) -> Iterator[Wrong]:
    """A port is a number, or the name of one."""
    if isinstance(value, str):
        yield from takes(_is_port_name, "at most 15 lower-case letters, digits and dashes, or a number")(value)
    else:
        yield from within(1, 65535)(value)
