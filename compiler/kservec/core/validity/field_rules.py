"""Rules about single fields: where they look, and what is wrong with what they find there.

Decides how a rule is written, how its faults read, and when none need be looked for. Must not know any kind: the
tables of rules do (`container_rules`, `volume_rules`, `pod_rules`).

Every check says by a JSON Schema which values surely pass. One validator made of them all judges nearly every value at
once, at a tenth of what the checks take; the checks find and word what is wrong with the few others.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from jsonschema_rs import Draft202012Validator, RegexOptions

from kservec.core.diagnostics import Code, Severity
from kservec.core.paths import item_key
from kservec.core.quantity import is_cut, is_negative
from kservec.core.records import entity
from kservec.core.schemas.conjunction import both, conjunction
from kservec.core.schemas.faults import Fault, field_path
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

CUT = Code(
    "output/quantity-cut",
    Severity.WARNING,
    "a quantity that is the largest that Kubernetes can hold, or larger",
    "A quantity with one of the suffixes Ki to Ei holds 2^63-1 at most, which is a little less than 8Ei. Whatever is "
    "more becomes that, without a word. No node has as much, so a pod that asks for it waits for ever.",
)
TOO_MUCH = "is 9223372036854775807, the most that a quantity can hold: whatever is more becomes that"
LESS = "write a smaller amount"

Test: TypeAlias = "Callable[[str], object]"
Find: TypeAlias = "Callable[[Json], Iterable[Wrong]]"

ABSENT = False
"""The JSON Schema of no value at all."""
ANY_QUANTITY = {
    "type": ["string", "integer"],
    "pattern": r"^(?:[0-9]{1,15}(?:\.[0-9]{1,3})?[numkMGT]?|[0-9]{1,6}(?:\.[0-9]{1,3})?[KMGT]i)$",
    "minimum": 0,
    "maximum": 2**53,
}

ITEMS, PORTS = "[]", "ports"


class Wrong(NamedTuple):
    """What is wrong at or below a value: `at` are the steps from there to the place, `remedy` what to do."""

    code: Code
    message: str
    at: Path = ()
    remedy: str = ""


class Check(NamedTuple):
    """A function that finds what is wrong with a value, and a JSON Schema of values that it finds nothing wrong with.

    The schema may be as narrow as it likes, and is at best what people write.
    """

    find: Find
    fine: Json = ABSENT

    def __call__(self, value: Json) -> Iterable[Wrong]:
        """What is wrong with a value."""
        return self.find(value)


def unless(fine: Json) -> Callable[[Find], Check]:
    """Make a check of a function that finds nothing in values of a schema."""
    return lambda find: Check(find, fine)


class Rule(NamedTuple):
    """`where` is a dotted path from the value that rules are about; `[]` stands for every item of a list."""

    where: str
    check: Check

    def below(self, where: str) -> Rule:
        """The rule for values that stand at a path."""
        separator = "." if self.where and not self.where.startswith(ITEMS) else ""
        return self._replace(where=f"{where}{separator}{self.where}")


@entity
class Rules:
    """A table of rules about one value. `beside`: what else is asked, by a JSON Schema, of what passes at once."""

    rules: tuple[Rule, ...]
    beside: Json = True

    @cached_property
    def plain(self) -> Draft202012Validator:
        """Tells values that no rule has anything to say about, and that are fine beside; it may miss some."""
        return Draft202012Validator(both(_fine(self._with_steps()), self.beside), pattern_options=RegexOptions())

    @cached_property
    def check(self) -> Find:
        """All rules in one: it walks a value once and comes by all places that they speak of."""
        return _joined(self._with_steps(), "")

    def _with_steps(self) -> list[tuple[tuple[str, ...], Check]]:
        return [(_steps(rule.where), rule.check) for rule in self.rules]


def faults_of_rules(value: Json, rules: Rules) -> Iterator[Fault]:
    """A fault for everything that is wrong with a value by a table of rules; ask for nothing that is plain."""
    for wrong in rules.check(value):
        yield Fault(
            wrong.code, wrong.at, f"{shown(wrong.at)} {wrong.message}", help=wrong.remedy or HELP[wrong.code.slug]
        )


def shown(path: Path) -> str:
    """A path as messages have it. Ports have their numbers for names, which look like indices: they are left out."""
    return field_path(tuple(step for i, step in enumerate(path) if i == 0 or path[i - 1] != PORTS))


def _steps(where: str) -> tuple[str, ...]:
    return tuple(where.replace(ITEMS, f".{ITEMS}").removeprefix(".").split(".")) if where else ()


def _by_step(
    rules: Iterable[tuple[tuple[str, ...], Check]],
) -> tuple[list[Check], dict[str, list[tuple[tuple[str, ...], Check]]]]:
    """The checks of a value itself, and the rules for what stands below it by the first step."""
    own: list[Check] = []
    below: dict[str, list[tuple[tuple[str, ...], Check]]] = {}
    for steps, check in rules:
        if steps:
            below.setdefault(steps[0], []).append((steps[1:], check))
        else:
            own.append(check)
    return own, below


def _fine(rules: Iterable[tuple[tuple[str, ...], Check]]) -> Json:
    """The schema of the values that pass all rules for sure."""
    own, below = _by_step(rules)
    fields = {step: _fine(group) for step, group in below.items()}
    parts = [{"items": fields.pop(ITEMS)}] if ITEMS in fields else []
    parts += [{"properties": fields}] if fields else []
    return conjunction([*(check.fine for check in own), *parts])


def _joined(rules: Iterable[tuple[tuple[str, ...], Check]], field_name: str) -> Find:
    """The check of a value that `field_name` holds, by rules with the steps from there."""
    checks, below = _by_step(rules)
    own = [check.find for check in checks]
    fields = {step: _joined(group, step) for step, group in below.items()}
    if ITEMS in fields:
        own.append(_of_items(fields.pop(ITEMS), field_name))
    if fields:
        own.append(_of_fields(fields))
    return own[0] if len(own) == 1 else lambda value: [wrong for find in own for wrong in find(value)]


def _of_fields(checks: Mapping[str, Find]) -> Find:
    """Checks of the fields of a map. Null is as good as nothing."""

    def find(value: Json) -> Iterable[Wrong]:
        for name, child in value.items() if value.__class__ is dict else ():
            if child is not None and name in checks:
                yield from (_moved(wrong, name) for wrong in checks[name](child))

    return find


def _of_items(item_check: Find, field_name: str) -> Find:
    """A check of every item of a list."""

    def find(value: Json) -> Iterable[Wrong]:
        for i, item in enumerate(value) if value.__class__ is list else ():
            key = item_key(item, field_name)
            for wrong in item_check(item) if item is not None else ():
                yield _moved(wrong, i if key is None else key)

    return find


def _moved(wrong: Wrong, step: str | int) -> Wrong:
    return wrong._replace(at=(step, *wrong.at))


PAIR = 2
REMOVE = "remove it"
HELP = {
    INVALID.slug: "correct the value",
    MISSING.slug: "add it",
    NOT_EXACTLY_ONE.slug: "leave exactly one",
    REPEATED.slug: "leave one of the two",
    CUT.slug: LESS,
}


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
    """The text must be one of these words."""
    listed = " or ".join(words) if len(words) <= PAIR else f"one of {', '.join(words)}"
    return takes(words.__contains__, listed, fine="|".join(words))


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


_is_word = re.compile(r"[-._a-zA-Z0-9]{1,253}").fullmatch
_is_variable = re.compile(r"[ -<>-~]+").fullmatch
_is_port_name = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?").fullmatch

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
