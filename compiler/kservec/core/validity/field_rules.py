"""Rules about single fields: where they look, and how what is wrong there is told.

Decides how a rule is written, how its faults read, and when none need be looked for. Must not know any check, which
are in `field_checks`, nor any kind: the tables of rules do (`container_rules`, `volume_rules`, `pod_rules`).

Every check says by a JSON Schema which values surely pass. One validator made of them all judges nearly every value at
once, at a tenth of what the checks take; the checks find and word what is wrong with the few others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from jsonschema_rs import Draft202012Validator, RegexOptions

from kservec.core.diagnostics import Code, Severity
from kservec.core.paths import item_key
from kservec.core.records import entity
from kservec.core.schemas.conjunction import both, conjunction
from kservec.core.schemas.faults import Fault, field_path

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
HELP = {
    INVALID.slug: "correct the value",
    MISSING.slug: "add it",
    NOT_EXACTLY_ONE.slug: "leave exactly one",
    REPEATED.slug: "leave one of the two",
    CUT.slug: LESS,
}

Find: TypeAlias = "Callable[[Json], Iterable[Wrong]]"

ABSENT = False
"""The JSON Schema of no value at all."""

ITEMS, PORTS = "[]", "ports"


class Wrong(NamedTuple):
    """What is wrong at or below a value: `at` are the steps from there to the place, `remedy` what to do.

    `once` as in a `Fault`.
    """

    code: Code
    message: str
    at: Path = ()
    remedy: str = ""
    once: str = ""


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
        yield fault_of(wrong, wrong.at, shown(wrong.at))


def fault_of(wrong: Wrong, path: Path, what: str) -> Fault:
    """What is wrong with a value as a fault of what it is the value of, at a path there; `what` names it."""
    remedy = wrong.remedy or HELP[wrong.code.slug]
    return Fault(wrong.code, path, f"{what} {wrong.message}", help=remedy, once=wrong.once)


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
