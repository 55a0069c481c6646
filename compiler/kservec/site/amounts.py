"""Amounts: how many pods, processors, memory and GPUs workloads take, with their fewest and their most replicas.

What a pod counts for is decided by `policy/demands.py`, how many there are by `compare/forecast.py`, as in a forecast
of restarts. Must not know HTML.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.forecast import holds_size, scalers_of
from kservec.compare.workloads import NOTHING, Bounds, accelerators, workload_of
from kservec.policy.demands import LIMITS, REQUESTS, Defaults, demand_of, replica_amounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kservec.compare.forecast import Scalers
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json

CPU, MEMORY = "cpu", "memory"
NO_DEFAULTS = Defaults({}, {})
MOST = 10**300
"""Beyond this an amount is shown as this: a float takes little more."""
UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"))


class Range(NamedTuple):
    """An amount with the fewest and with the most replicas; None where there may be any number of them."""

    least: Fraction = Fraction(0)
    most: Fraction | None = Fraction(0)

    def plus(self, other: Range) -> Range:
        """Two amounts together."""
        most = None if self.most is None or other.most is None else self.most + other.most
        return Range(self.least + other.least, most)


class Amounts(NamedTuple):
    """What something takes: pods, GPUs, and what its containers ask for and may use at most.

    CPU in processors, memory in bytes.
    """

    pods: Range = Range()
    gpus: Range = Range()
    cpu: Range = Range()
    memory: Range = Range()
    cpu_limit: Range = Range()
    memory_limit: Range = Range()

    def plus(self, other: Amounts) -> Amounts:
        """Two of them together."""
        return Amounts(*(mine.plus(theirs) for mine, theirs in zip(self, other, strict=True)))


class Sized(NamedTuple):
    """One workload: its replicas, and what they take together."""

    ref: ObjectRef
    replicas: Bounds
    amounts: Amounts


def sized(objects: Sequence[tuple[ObjectRef, Json]]) -> tuple[Sized, ...]:
    """The workloads among the objects of a unit, with the bounds that the autoscalers among them set."""
    scalers = scalers_of((ref, body) for ref, body in objects if holds_size(ref))
    return tuple(found for ref, body in objects for found in of_object(ref, body, scalers))


def of_object(ref: ObjectRef, body: Json, scalers: Scalers) -> Iterator[Sized]:
    """What one object takes, if it has pods. Without a number and an autoscaler there is one replica."""
    workload, demand = workload_of(ref), demand_of(ref, body)
    if workload is None or demand is None:
        return
    replicas = workload.bounds(body) or scalers.bounds.get((ref.namespace, ref.name)) or Bounds(1, 1)
    groups = workload.groups(body)
    claims = {name: count for (place, name), count in scalers.devices.items() if place == ref.namespace}
    gpus = sum(accelerators(group.template, claims) * group.members for group in groups)
    each = replica_amounts(demand, NO_DEFAULTS)
    one = [Fraction(sum(group.members for group in groups)), Fraction(gpus)]
    one += [each.get(f"{field}.{name}", Fraction(0)) for field in (REQUESTS, LIMITS) for name in (CPU, MEMORY)]
    yield Sized(ref, replicas, Amounts(*(times(amount, replicas) for amount in one)))


def times(amount: Fraction, replicas: Bounds) -> Range:
    """An amount for each replica."""
    unbounded = replicas.most is None and amount
    most = None if unbounded else amount * (replicas.most or 0)
    return Range(amount * replicas.least, most)


def total(amounts: Iterable[Amounts]) -> Amounts:
    """Amounts together."""
    found = Amounts()
    for each in amounts:
        found = found.plus(each)
    return found


def replicas_of(workloads: Iterable[Sized]) -> Bounds:
    """The replicas of workloads together."""
    least, most = 0, 0
    bounded = True
    for found in workloads:
        least += found.replicas.least
        bounded = bounded and found.replicas.most is not None
        most += found.replicas.most or 0
    return Bounds(least, most if bounded else None) if least or most or not bounded else NOTHING


def count_text(found: Range) -> str:
    """A number of pods or GPUs: `2`, `2 to 6`, `1 or more`."""
    return text_of(found, lambda amount: f"{int(amount):,}")


def cpu_text(found: Range) -> str:
    """A number of processors, with hundredths only where there are few."""
    return text_of(found, lambda amount: rounded(amount, 2 if amount < 100 else 1))


def memory_text(found: Range) -> str:
    """An amount of memory in the unit that reads best."""
    largest = found.least if found.most is None else found.most
    size, unit = next(((size, unit) for size, unit in UNITS if largest >= size), UNITS[-1])
    return text_of(found, lambda amount: rounded(amount / size, 1), f" {unit}" if largest else "")


def text_of(found: Range, shown: Callable[[Fraction], str], unit: str = "") -> str:
    """An amount from its least to its most, in a unit."""
    least = shown(found.least)
    if found.most is None:
        return f"{least}{unit} or more"
    most = shown(found.most)
    return f"{least}{unit}" if most == least else f"{least} to {most}{unit}"


def rounded(amount: Fraction, digits: int) -> str:
    """A number with so many digits after the point at most; never 0 for what is more."""
    number, least = float(amount if amount < MOST else MOST), 10.0**-digits
    return f"{least if 0 < number < least else round(number, digits):,.10g}"
