"""Take all measures, print a table, and fail if a ratio is over its limit.

Only ratios of measures of one run are judged, so that the machine does not matter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from benchmarks.comparing import ratios
from benchmarks.compiling import ROUNDS, elsewhere, over_floor
from benchmarks.kustomizing import has_kubectl, kustomize_seconds
from benchmarks.reporting import report_over_build
from benchmarks.services import language_models, services
from benchmarks.sharing import best, recalled
from benchmarks.sharing import elsewhere as shared_elsewhere
from benchmarks.startup import starts
from kservec import File

COUNT = 1_000
KUSTOMIZED = 500
"""kustomize grows faster than its input: with so many services it is compared more strictly than with a thousand."""

GROWTH = (2_000, 20_000)
LLM_GROWTH = (1_000, 5_000)
GROWTH_ROUNDS = 2
AROUND = 2
"""Short runs before a long one, and after it."""
JOBS = 2
SHARED, SHARDS = 20_000, 10
MEMORY = (1_000, 3_000)
HEADER = ("measure", "value", "limit", "", "from")


class Measure(NamedTuple):
    """A ratio, the most that it may be, and the numbers that it comes from."""

    name: str
    value: float
    limit: float
    detail: str

    @property
    def ok(self) -> bool:
        """Whether the limit holds."""
        return self.value <= self.limit

    @property
    def row(self) -> tuple[str, ...]:
        """A line of the table."""
        return (self.name, f"{self.value:.3g}", f"{self.limit:.3g}", "ok" if self.ok else "OVER", self.detail)


def measures() -> Iterator[Measure]:
    """Every measure, the quick ones first."""
    yield from startup()
    yield over("compile", services(COUNT), 3)
    yield over("LLM compile", language_models(COUNT), 5, rounds=3)
    yield memory()
    yield from comparing()
    report_seconds, build_seconds = report_over_build(COUNT)
    each = f"{report_seconds:.1f} over {build_seconds:.1f} s for {COUNT:,} services"
    yield Measure("report / build", report_seconds / build_seconds, 3, each)
    if has_kubectl():
        seconds, ours = kustomize_seconds(KUSTOMIZED), elsewhere("seconds", KUSTOMIZED)
        detail = f"{ours:.2f} over {seconds:.2f} s for {KUSTOMIZED:,} services"
        yield Measure("compile / kubectl kustomize", ours / seconds, 1 / 20, detail)
    yield growth("10 times the services", "seconds", GROWTH, 11)
    yield growth("5 times the LLM services", "llm-seconds", LLM_GROWTH, 5.5)
    yield from sharing()


def growth(name: str, what: str, counts: tuple[int, int], limit: float) -> Measure:
    """How much longer more services take, on average.

    The speed of a machine changes within seconds. A long run has the average of it, so short ones are run around it.
    """
    few, many = map(fmean, zip(*(growth_round(what, *counts) for _ in range(GROWTH_ROUNDS)), strict=True))
    return Measure(name, many / few, limit, f"{many:.2f} over {few:.2f} s for {counts[1]:,} services")


def growth_round(what: str, few: int, many: int) -> tuple[float, float]:
    """Seconds that few services take, on average before and after many; and seconds of the many."""
    before = [elsewhere(what, few) for _ in range(AROUND)]
    long = elsewhere(what, many)
    after = [elsewhere(what, few) for _ in range(AROUND)]
    return fmean((*before, *after)), long


def over(name: str, files: Sequence[File], limit: float, rounds: int = ROUNDS) -> Measure:
    """A compile, in what reading its input and writing its output takes."""
    ours, floor = over_floor(files, rounds)
    each = f"{ours / len(files) * 1e6:.0f} over {floor / len(files) * 1e6:.0f} us a service"
    return Measure(f"{name} / read and write alone", ours / floor, limit, each)


def sharing() -> Iterator[Measure]:
    """Runs that are shared out over processes, machines and time."""
    one, several = best(2 * COUNT, JOBS)
    critical = several.critical(JOBS)
    detail = f"{critical:.2f} over {one.asking:.2f} s, {several.all_in_all:.2f} s of all processors"
    yield Measure(f"{JOBS} jobs / 1 job, where each has a processor", critical / one.asking, 0.8, detail)
    plain, known = recalled(COUNT)
    yield Measure("compile with a cache / without", known / plain, 0.6, f"{known:.2f} over {plain:.2f} s")
    whole, part = shared_elsewhere(SHARED // SHARDS).peak, shared_elsewhere(SHARED, 1, f"1/{SHARDS}").peak
    detail = f"{part / 1e6:.0f} over {whole / 1e6:.0f} MB for 1/{SHARDS} of {SHARED:,} services"
    yield Measure("memory of a shard / of so many services", part / whole, 2, detail)


def startup() -> Iterator[Measure]:
    """The start of the command line, in starts of an empty Python."""
    found = starts()
    base = found["python"]
    for name, limit in {"version": 4, "help": 8, "build": 18}.items():
        detail = f"{found[name] * 1000:.0f} over {base * 1000:.0f} ms"
        yield Measure(f"{name} / python -c pass", found[name] / base, limit, detail)


def comparing() -> Iterator[Measure]:
    """What is done with a rendered tree, in builds that find nothing to write."""
    found = ratios(COUNT)
    for name, seconds, limit in (("check", found.check, 1.1), ("diff", found.diff, 1.5)):
        detail = f"{seconds:.2f} over {found.build:.2f} s for {COUNT:,} services"
        yield Measure(f"{name} / build", seconds / found.build, limit, detail)


def memory() -> Measure:
    """Peak memory that each further service takes."""
    few, many = (elsewhere("memory", count) for count in MEMORY)
    slope = (many - few) / (MEMORY[1] - MEMORY[0]) / 1000
    return Measure("memory of a service, kB", slope, 40, f"{many / 1e6:.0f} MB for {MEMORY[1]:,} services")


def main() -> int:
    """Print the table."""
    found = []
    for measure in measures():
        found.append(measure)
        sys.stderr.write(".")
        sys.stderr.flush()
    rows = [HEADER, *(m.row for m in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    return 0 if all(m.ok for m in found) else 1


if __name__ == "__main__":
    sys.exit(main())
