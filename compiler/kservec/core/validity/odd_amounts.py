"""Amounts of resources that an API server takes and nobody means: memory of half a byte, four billion CPUs.

Decides what is too little or too much to be meant, and what was meant instead. Must not know where an amount stands:
the tables of rules do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.patterns import Pattern
from kservec.core.quantity import is_cut, parse_quantity
from kservec.core.validity.field_rules import Check, Wrong, unless

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from kservec.core.tree import Json

ODD = Code(
    "output/quantity-odd",
    Severity.WARNING,
    "an amount that is hardly meant",
    "An API server takes it. Memory of `512m` is 512 thousandths of a byte, since a small m stands for thousandths and "
    "Mi for mebibytes; without a unit it is bytes. CPUs are counted as they are (`4`, `500m`), so that `4Gi` is four "
    "billion of them. A container with next to no memory cannot be started, and one that asks for more than any "
    "machine has waits for ever.",
)

KILO, MEGA = 10**3, 10**6
MOST_BYTES = 64 * 2**40
"""More than the largest machines have, of memory and of storage that is their own."""
MOST_DEVICES = 1000
"""More CPUs, and more GPUs, than one pod has ever been given."""
FEW = 16
"""Numbers without a unit below which gigabytes are meant, where memory is asked for."""
BYTES = frozenset({"memory", "ephemeral-storage"})

A_SIZE = {
    "pattern": r"^(?:[1-9][0-9]{0,3}(?:\.[0-9]{1,3})?[MG]i?|[1-9][0-9]{6,12})$",
    "minimum": MEGA,
    "maximum": 10**13,
}
"""The JSON Schema of sizes that are neither too small nor too large."""
PLAIN_AMOUNTS = {
    "properties": {
        "cpu": {"pattern": r"^(?:[0-9]{1,5}m|[0-9]{1,3}(?:\.[0-9]{1,3})?)$", "minimum": 0, "exclusiveMaximum": 1000},
        **dict.fromkeys(sorted(BYTES), A_SIZE),
    },
    "patternProperties": {"/gpu$": {"maxLength": 3, "minimum": 0, "exclusiveMaximum": MOST_DEVICES}},
}

_match_amount = Pattern(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>m|k|[KMGT]i?)?\Z").match


@unless(PLAIN_AMOUNTS)
def odd_amounts(resources: Json) -> Iterator[Wrong]:
    """The amounts of a map of limits or requests that are hardly meant."""
    for name, quantity in (resources or {}).items():
        for wrong in odd_amount(name, quantity):
            yield wrong._replace(at=(name,))


def an_odd_size(least: int, unit: str) -> Check:
    """The check of the size of a volume; `unit` as for `odd_size`."""
    return Check(lambda quantity: odd_size(quantity, least, unit), A_SIZE)


def odd_amount(resource: str, quantity: Json) -> Iterator[Wrong]:
    """What there is to say of an amount of a resource."""
    if resource in BYTES:
        yield from odd_size(quantity, MEGA, "Mi", most=MOST_BYTES)
    elif resource == "cpu":
        yield from odd_count(quantity, "CPUs", meant_cpus(quantity))
    elif resource.endswith("/gpu"):
        yield from odd_count(quantity, "GPUs", "")


def odd_size(quantity: Json, least: int, unit: str, most: int = 0) -> Iterator[Wrong]:
    """What there is to say of a size in bytes; `unit` is what was forgotten, most often, behind a number alone."""
    size = worth(quantity)
    if size <= 0 or (size >= least and not (most and size >= most)):
        return
    if size >= least:
        yield odd(f"is {quantity}, which is more than any machine has", "write a smaller amount")
        return
    whole = -(-size.numerator // size.denominator)
    amount = "less than a byte" if size < 1 else "a single byte" if whole == 1 else f"{whole} bytes"
    problem = f"is {amount}" if str(quantity) == str(whole) else f"is {quantity}, which is {amount}"
    meant = meant_size(quantity, unit)
    remedy = f"did you mean {meant}?" if worth(meant) >= least else "write a larger amount, such as 512Mi"
    yield odd(problem, remedy)


def odd_count(quantity: Json, what: str, meant: str) -> Iterator[Wrong]:
    """What there is to say of a number of things of which a machine has hundreds at most."""
    if worth(quantity) >= MOST_DEVICES:
        remedy = f"did you mean {meant}?" if meant else "write how many"
        yield odd(f"is {quantity}, which is more {what} than any machine has", remedy)


def odd(message: str, remedy: str) -> Wrong:
    """One finding, which counts once for all places that have the amount from one field."""
    return Wrong(ODD, message, remedy=remedy, once=message)


def worth(quantity: Json) -> Fraction | int:
    """What a quantity is worth; zero for what is none, or is told of for being cut."""
    try:
        return 0 if is_cut(quantity) else parse_quantity(quantity)
    except (ValueError, TypeError):  # the schema's business
        return 0


def meant_size(quantity: Json, unit: str) -> str:
    """The size that was meant by one that is too small; empty if nobody can tell."""
    found = _match_amount(str(quantity))
    if found is None:
        return ""
    if found["unit"]:
        return f"{found['number']}Mi"
    return f"{found['number']}{'Gi' if float(found['number']) < FEW else unit}"


def meant_cpus(quantity: Json) -> str:
    """The CPUs that were meant by far too many: thousandths by a number alone or with M, else those without a unit."""
    found = _match_amount(str(quantity))
    if found is None:
        return ""
    meant = f"{found['number']}m" if found["unit"] in (None, "M") else found["number"]
    return meant if worth(meant) < MOST_DEVICES else ""
