"""What very many services take, in one process, in several, and by parts: `python -m benchmarks.growth [COUNT] [JOBS]`.

By default 100,000, in as many processes as there are processors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain

from benchmarks.sharing import Sharing, elsewhere
from kservec.io.crew import processors

LARGEST = 100_000
STEPS = (100, 10, 1)
SHARDS = 10
HEADER = ("services", "jobs", "shard", "s", "CPU s", "CPU us each", "MB")


def rows(largest: int, jobs: int) -> Iterator[tuple[str, ...]]:
    """The lines of the table, the smallest size first; the last one is a tenth of the largest, by namespaces."""
    for part in STEPS:
        count = largest // part
        for used in dict.fromkeys((1, jobs) if part > 1 else (jobs,)):
            yield row(count, used, "", elsewhere(count, used))
    yield row(largest, 1, f"1/{SHARDS}", elsewhere(largest, 1, f"1/{SHARDS}"))


def row(count: int, jobs: int, shard: str, made: Sharing) -> tuple[str, ...]:
    """What one compile took."""
    each = made.all_in_all / count * 1e6
    memory = made.peak / 1e6
    return (f"{count:,}", str(jobs), shard, f"{made.clock:.1f}", f"{made.all_in_all:.1f}", f"{each:.0f}",
            f"{memory:,.0f}")  # fmt: skip


def main() -> None:
    """Print the table, a line as soon as it is measured."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else LARGEST
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else processors()
    widths = [max(len(name), 10) for name in HEADER]
    for cells in chain([HEADER], rows(largest, jobs)):
        sys.stdout.write("  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
