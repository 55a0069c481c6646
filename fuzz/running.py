"""A run: chunks of numbers, each tried by one of several processes, and what came of them kept in a ledger.

A process that neither ends nor can be interrupted is ended from outside, and the number that it was at is a fault.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fuzz.families import make
from fuzz.stock import Stock, read_stock
from fuzz.trying import THOROUGH, TWICE, Fault, tried

CHUNK = 500
PATIENCE_SECONDS = 60.0
"""Of processor time, for one input, before its process is ended: on a busy machine it may wait for minutes."""
SILENCE_SECONDS = 3600.0
"""Of real time, for one input of a process that waits for what will never come."""
MOST_FAULTS = 50
USER_TICKS = 11
"""Where a process's `stat` has its time as itself, and next that in the kernel, counted behind its name."""
_processes = get_context("fork")


@dataclass(frozen=True, slots=True)
class Task:
    """Numbers of a seed to try. `family`: all of them are of this one, if it is named."""

    seed: int
    first: int
    count: int
    family: str = ""


@dataclass(slots=True)
class Tally:
    """What came of a task: for each family how many inputs, how they ended and how long they took; codes; faults."""

    task: Task
    families: dict[str, dict[str, float]] = field(default_factory=dict)
    codes: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, str, Fault]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def row(self) -> dict[str, Any]:
        """The tally as JSON holds it."""
        faults = [{"number": n, "family": family, **fault._asdict()} for n, family, fault in self.faults]
        return {
            **asdict(self.task),
            "seconds": self.seconds,
            "families": self.families,
            "codes": self.codes,
            "faults": faults,
        }


def tally_of(task: Task, stock: Stock, at: Callable[[int], None]) -> Tally:
    """Try the inputs of a task. `at` is told each number before it is tried."""
    tally, start = Tally(task), time.monotonic()
    for number in range(task.first, task.first + task.count):
        at(number)
        given = make(task.seed, number, stock, task.family)
        verdict = tried(given, twice=number % TWICE == 0, thorough=number % THOROUGH == 0)
        counts = tally.families.setdefault(
            given.family, {"inputs": 0, "output": 0, "refused": 0, "compared": 0, "planned": 0, "seconds": 0}
        )
        counts["inputs"] += 1
        counts[verdict.outcome] += 1
        counts["seconds"] = round(counts["seconds"] + verdict.seconds, 6)
        tally.codes.update(verdict.codes)
        room = MOST_FAULTS - len(tally.faults)
        tally.faults += [(number, given.family, fault) for fault in verdict.faults[:room]]
    tally.seconds = round(time.monotonic() - start, 3)
    return tally


class Worker:
    """A process that tries tasks."""

    def __init__(self, stock: Stock) -> None:
        self.here, there = _processes.Pipe()
        self.number = _processes.Value("q", -1)
        self.task: Task | None = None
        self.since = time.monotonic()
        self.spent = 0.0
        self.seen = -1
        self.process = _processes.Process(target=work, args=(self.here, there, self.number, stock), daemon=True)
        self.process.start()
        there.close()

    def give(self, task: Task) -> None:
        """Let it try a task."""
        self.task, self.since, self.spent = task, time.monotonic(), self.busy_seconds()
        self.here.send(task)

    def is_stuck(self) -> bool:
        """Whether it has been at one number for too long, or is no more."""
        busy = self.busy_seconds()
        if self.number.value != self.seen:
            self.seen, self.since, self.spent = self.number.value, time.monotonic(), busy
        waited = time.monotonic() - self.since
        return not self.process.is_alive() or busy - self.spent > PATIENCE_SECONDS or waited > SILENCE_SECONDS

    def busy_seconds(self) -> float:
        """The processor time that the process has had; all time that went by where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return sum(map(int, fields[USER_TICKS : USER_TICKS + 2])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.here.close()


def work(parent: Connection[Any, Any], tasks: Connection[Any, Any], number: Any, stock: Stock) -> None:
    """What a worker's process does, until nobody has tasks for it: the other end must not be open here, too."""
    parent.close()
    gc.freeze()
    gc.set_threshold(20_000)

    def at(tried_number: int) -> None:
        number.value = tried_number

    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            tasks.send(tally_of(tasks.recv(), stock, at))


def run(tasks: Iterator[Task], jobs: int) -> Iterator[Tally]:
    """Try tasks in so many processes; what came of each in the order in which they end."""
    stock = read_stock()
    workers: list[Worker] = []
    rests: list[Task] = []
    try:
        while True:
            for worker in workers:
                if worker.task is None and (task := next_task(rests, tasks)):
                    worker.give(task)
            while len(workers) < jobs and (task := next_task(rests, tasks)):
                workers.append(Worker(stock))
                workers[-1].give(task)
            busy = {worker.here: worker for worker in workers if worker.task}
            if not busy:
                return
            for ready in wait(list(busy), timeout=1):
                with contextlib.suppress(EOFError, ConnectionError):
                    yield busy[ready].here.recv()  # type: ignore[index]
                    busy[ready].task = None  # type: ignore[index]
            for worker in [w for w in busy.values() if w.task and w.is_stuck()]:
                workers.remove(worker)
                yield from given_up(worker, rests)
    finally:
        for worker in workers:
            worker.end()


def next_task(rests: list[Task], tasks: Iterator[Task]) -> Task | None:
    """What is left of a task that was broken off, or the next one."""
    return rests.pop() if rests else next(tasks, None)


def given_up(worker: Worker, rests: list[Task]) -> Iterator[Tally]:
    """End a worker; the number that it was at is a fault, the others of its task are tried again by another one."""
    alive, number, task = worker.process.is_alive(), worker.number.value, worker.task
    worker.end()
    if task is None or not task.first <= number < task.first + task.count:
        return
    rests += [
        Task(task.seed, task.first, number - task.first, task.family),
        Task(task.seed, number + 1, task.first + task.count - number - 1, task.family),
    ]
    kind = "hang that cannot be interrupted" if alive else "crash of the process"
    tally = Tally(Task(task.seed, number, 1, task.family))
    tally.faults.append((number, task.family, Fault(kind, f"{task.seed}/{number}")))
    yield tally
