"""Node pools: the nodes that a cluster has, or that its autoscaler may add, as far as pods are placed on them.

Decides in which whole units amounts are counted: CPU in thousandths, everything else as it is. Must not know any pod.
"""

from __future__ import annotations

from decimal import Decimal
from math import ceil, floor
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.quantity import canonical, parse_quantity
from kservec.core.records import fresh, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Span

CPU: Final = "cpu"
MEMORY: Final = "memory"
PODS: Final = "pods"
MILLI: Final = 1000
KIBI: Final = 1024
BINARY_STEPS: Final = ("Ki", "Mi", "Gi", "Ti")


class Taint(NamedTuple):
    """A taint of the nodes of a pool."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class Device(NamedTuple):
    """A GPU, or a partition of one, under the resource that nodes offer it as.

    `memory` is that of one of them in bytes, None where nobody says; `kind` is what its maker calls it.
    """

    resource: str
    number: int
    memory: int | None = None
    kind: str = ""
    is_partition: bool = False


@record
class NodePool:
    """Nodes that are alike.

    `fewest` and `most` are how many there are; the same twice without an autoscaler. `room` is what the pods of one
    node may use together, in units of `units_of`: what the node has without what it keeps for itself and for the pods
    that the platform runs on each. `labels` and `taints` are those that the document states.
    """

    name: str
    fewest: int
    most: int
    room: Mapping[str, int]
    devices: tuple[Device, ...] = ()
    labels: Mapping[str, str] = fresh(factory=dict)
    taints: tuple[Taint, ...] = ()
    span: Span | None = None

    @property
    def nodes(self) -> str:
        """How many nodes there are, in words."""
        return str(self.most) if self.fewest == self.most else f"{self.fewest}..{self.most}"

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where it is."""
        return () if self.span is None else (self.span,)

    def device(self, resource: str) -> Device | None:
        """The GPU that a resource stands for; None if the pool has none of it."""
        return next((device for device in self.devices if device.resource == resource), None)


def units_of(resource: str, quantity: str | int | float, *, up: bool = True) -> int:
    """A quantity in whole units: thousandths of a CPU, bytes, pieces. Rounded up for what is asked for, else down.

    Raises:
        ValueError: not a quantity.
    """
    amount = parse_quantity(quantity) * (MILLI if resource == CPU else 1)
    return ceil(amount) if up else floor(amount)


def shown_units(resource: str, units: int) -> str:
    """Whole units as people write them: CPUs with at most one decimal, memory in the largest unit that keeps three."""
    if resource == CPU:
        return canonical(f"{units}m") if abs(units) < MILLI else f"{units / MILLI:.1f}".removesuffix(".0")
    return shown_bytes(units) if is_bytes(resource) else str(units)


def base_of(resource: str) -> str:
    """The resource that a quota counts: `cpu` of `requests.cpu`."""
    return resource.removeprefix("requests.").removeprefix("limits.")


def is_bytes(resource: str) -> bool:
    """Whether a resource is counted in bytes."""
    return resource == MEMORY or resource.endswith("storage") or resource.startswith("hugepages-")


def shown_bytes(count: int) -> str:
    """A number of bytes, rounded to a tenth of its unit."""
    amount, unit = Decimal(count), ""
    for step in BINARY_STEPS:
        if abs(amount) < KIBI:
            break
        amount, unit = amount / KIBI, step
    return f"{amount:.1f}".removesuffix(".0") + unit
