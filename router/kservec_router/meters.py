"""Counting what happens, and saying it in Prometheus' words.

A meter belongs to the graph, to a node, or to a step, and outlives a reload of the graph.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

Labels = tuple[tuple[str, str], ...]


class Meter:
    """Counts by status, how long it took in seconds, and how many are under way."""

    __slots__ = ("buckets", "in_flight", "seconds", "statuses")

    def __init__(self) -> None:
        self.in_flight = 0
        self.seconds = 0.0
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.statuses: dict[int, int] = defaultdict(int)

    def observe(self, status: int, seconds: float) -> None:
        """Count one that ended with *status* after *seconds*."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds
        self.statuses[status] += 1


class Meters:
    """All meters, by family (`requests`, `node`, `step`) and labels, and a few plain counters and gauges."""

    def __init__(self) -> None:
        self._meters: dict[tuple[str, Labels], Meter] = {}
        self._numbers: dict[tuple[str, Labels], float] = {}

    def meter(self, family: str, labels: Labels = ()) -> Meter:
        """The meter of a family and labels, made when it is first asked for."""
        return self._meters.setdefault((family, labels), Meter())

    def add(self, name: str, labels: Labels = (), amount: float = 1) -> None:
        """Raise a counter."""
        self._numbers[name, labels] = self._numbers.get((name, labels), 0) + amount

    def put(self, name: str, value: float, labels: Labels = ()) -> None:
        """Set a gauge."""
        self._numbers[name, labels] = value

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        return "".join(f"{line}\n" for line in [*self._number_lines(), *self._meter_lines()])

    def _number_lines(self) -> Iterator[str]:
        last = ""
        for (name, labels), value in sorted(self._numbers.items()):
            if name != last:
                yield f"# TYPE kservec_router_{name} {'counter' if name.endswith('_total') else 'gauge'}"
            last = name
            yield f"kservec_router_{name}{_written(labels)} {value:g}"

    def _meter_lines(self) -> Iterator[str]:
        for family in sorted({family for family, _ in self._meters}):
            mine = [(labels, self._meters[of, labels]) for of, labels in sorted(self._meters) if of == family]
            yield f"# TYPE kservec_router_{family}_total counter"
            for labels, meter in mine:
                for status, count in sorted(meter.statuses.items()):
                    yield f"kservec_router_{family}_total{_written((*labels, ('status', str(status))))} {count}"
            yield f"# TYPE kservec_router_{family}_in_flight gauge"
            for labels, meter in mine:
                yield f"kservec_router_{family}_in_flight{_written(labels)} {meter.in_flight}"
            yield f"# TYPE kservec_router_{family}_seconds histogram"
            for labels, meter in mine:
                yield from _histogram(f"kservec_router_{family}_seconds", labels, meter)


def _histogram(name: str, labels: Labels, meter: Meter) -> Iterator[str]:
    total = 0
    for bound, count in zip((*BOUNDS, None), meter.buckets, strict=True):
        total += count
        yield f"{name}_bucket{_written((*labels, ('le', '+Inf' if bound is None else f'{bound:g}')))} {total}"
    yield f"{name}_sum{_written(labels)} {meter.seconds:.6f}"
    yield f"{name}_count{_written(labels)} {total}"


def _written(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
