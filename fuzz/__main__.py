"""Fuzz the compiler: `python -m fuzz --seed 1 --count 100000 --jobs 2`, or show one input again by `--show 1/4711`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from fuzz.families import FAMILIES, make
from fuzz.ledger import commit, keep, rows_of, summary, tasks_of
from fuzz.running import Tally, Task, run
from fuzz.shrinking import shrunk
from fuzz.stock import ROOT, read_stock
from fuzz.trying import Fault, tried

LEDGER = ROOT / "build" / "fuzz.jsonl"
SHOWN_EVERY_SECONDS = 10.0


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first number of the seed to try")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many numbers to try")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: when all are tried")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--family", choices=("", *FAMILIES), default="", help="inputs of one family alone")
    parser.add_argument(
        "--ledger", type=Path, default=LEDGER, help="where the results are kept, and read from to go on"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="try all numbers, whatever the ledger has, and keep nothing"
    )
    parser.add_argument(
        "--show", metavar="SEED/NUMBER", help="make one input again, print it and what is wrong with it"
    )
    parser.add_argument("--shrink", action="store_true", help="with --show: leave out what the fault does not need")
    parser.add_argument("--summary", action="store_true", help="print what the ledger has, as Markdown")
    return parser.parse_args()


def main() -> int:
    """Run; 1 if anything is wrong."""
    asked = arguments()
    if asked.summary:
        sys.stdout.write(summary(rows_of(asked.ledger)))
        return 0
    if asked.show:
        return show(asked.show, asked.family, shrink=asked.shrink)
    wanted = Task(asked.seed, asked.first, asked.count, asked.family)
    rows = [] if asked.fresh else rows_of(asked.ledger)
    tasks, named = tasks_of(wanted, rows), commit()
    if asked.seconds:
        tasks = until(time.monotonic() + asked.seconds, tasks)
    progress = Progress()
    for tally in run(tasks, asked.jobs):
        if not asked.fresh:
            keep(asked.ledger, tally, named)
        progress.add(tally)
    progress.finish()
    return 1 if progress.kinds else 0


def until(end: float, tasks: Iterator[Task]) -> Iterator[Task]:
    """Tasks, until a time has come."""
    for task in tasks:
        if time.monotonic() > end:
            return
        yield task


class Progress:
    """What is said during a run: how many and how fast, and each new kind of fault with how to see it again."""

    def __init__(self) -> None:
        self.start = self.said = time.monotonic()
        self.count = self.busy = 0.0
        self.codes: set[str] = set()
        self.kinds: dict[str, int] = {}

    def add(self, tally: Tally) -> None:
        """Count a tally."""
        self.count += tally.task.count
        self.busy += sum(counts["seconds"] for counts in tally.families.values())
        self.codes |= set(tally.codes)
        for number, family, fault in tally.faults:
            self.add_fault(tally.task, number, family, fault)
        if time.monotonic() - self.said > SHOWN_EVERY_SECONDS:
            self.said = time.monotonic()
            sys.stdout.write(f"{self}\n")
            sys.stdout.flush()

    def add_fault(self, task: Task, number: int, family: str, fault: Fault) -> None:
        """Say a fault whose kind is new."""
        self.kinds[fault.kind] = self.kinds.get(fault.kind, 0) + 1
        if self.kinds[fault.kind] == 1:
            alone = f" --family {task.family}" if task.family else ""
            again = f"python -m fuzz --shrink --show {task.seed}/{number}{alone}"
            sys.stdout.write(f"FAULT {fault.kind} ({family})\n{fault.text}\n  {again}\n")

    def finish(self) -> None:
        """Say the end of it."""
        sys.stdout.write(f"{self}\n")
        for kind, count in sorted(self.kinds.items()):
            sys.stdout.write(f"{count:7,} times: {kind}\n")

    def __str__(self) -> str:
        took = time.monotonic() - self.start
        rate, each = self.count / max(took, 0.001), self.count / max(self.busy, 0.001)
        faults = sum(self.kinds.values())
        return (
            f"{self.count:,.0f} inputs in {took:.0f} s, {rate:.0f} a second ({each:.0f} a second of processor time), "
            f"{len(self.codes)} codes, {faults:,} faults of {len(self.kinds)} kinds"
        )


def show(name: str, family: str, *, shrink: bool) -> int:
    """Print one input and what is wrong with it; 1 if anything is."""
    seed, _, number = name.partition("/")
    given = make(int(seed), int(number), read_stock(), family)
    verdict = tried(given)
    if shrink and verdict.faults:
        given = shrunk(given, verdict.faults[0].kind)
        verdict = tried(given)
    sys.stdout.write(f"{given}\n# family {given.family}, {verdict.outcome} in {verdict.seconds:.3f} s\n")
    sys.stdout.write("".join(f"# {code}\n" for code in sorted(verdict.codes)))
    sys.stdout.write("".join(f"FAULT {fault.kind}\n{fault.text}\n" for fault in verdict.faults))
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    sys.exit(main())
