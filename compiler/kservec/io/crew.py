"""Crews of several processes: the units of a run are shared out, and what becomes of them is put in order again.

Decides who compiles which batch, and nothing about what comes of it. Each worker has all that its batches need and
hands back text; none holds what others made.

Workers are forked where that is safe: on Linux, while this process has one thread. They share the memory of what was
read, and start in milliseconds. Elsewhere (macOS, whose system libraries do not survive a fork; Windows; after a
library has started threads, whose locks a fork would copy in whatever state they are) they are started anew and read
the documents that they are sent.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kservec.core.registry import load_plugs
from kservec.io.interrupts import no_interrupts
from kservec.io.packaged import packaged_schemas
from kservec.workshop import alone, batches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from kservec.compilation import Inputs
    from kservec.workshop import Crew, Made, Workshop

FORK, SPAWN = "fork", "spawn"
LEAST = {FORK: 4, SPAWN: 32}
"""Batches that a worker must have to be worth its start."""
AHEAD = 2
"""Batches that a worker has at hand, so that it need not wait for the next one."""
MOST = 8
"""Workers that are chosen without being asked for: more hardly help, for reading and writing is not shared out."""
TASKS = Path("/proc/self/task")
QUOTA = Path("/sys/fs/cgroup/cpu.max")

Making: TypeAlias = "Callable[[], Workshop]"


class Worker(NamedTuple):
    """A process with the pipe to it, and the places of the batches that it has at hand."""

    process: Any
    pipe: Connection
    at_hand: deque[int]


def several(jobs: int, method: str = "", least: int = 0) -> Crew:
    """A crew of several processes, of this one alone where there is too little to do.

    Args:
        jobs: the most processes that compile at once.
        method: how they are started, by default the best there is.
        least: batches that each of them must have; by default as many as make it worth its start.
    """

    def crew(workshop: Workshop) -> Iterable[list[Made]]:
        chosen = method or start_method()
        todo = list(batches(workshop.units))
        if chosen == SPAWN and workshop.inputs is None:
            return alone(workshop)
        count = min(jobs, len(todo) // (least or LEAST[chosen]))
        return alone(workshop) if count < 2 else shared_out(workshop, todo, count, chosen)

    return crew


def processors() -> int:
    """The processors that this process may use, by its affinity and the quota of its container."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = QUOTA.read_text(encoding="ascii").split()
        count = min(count, max(1, round(int(quota) / int(period))))
    return count


def start_method() -> str:
    """How workers are started here and now."""
    return FORK if sys.platform == "linux" and threads() == 1 else SPAWN


def threads() -> int:
    """The threads of this process, those of libraries included where the system tells."""
    with suppress(OSError):
        return len(os.listdir(TASKS))
    return threading.active_count()


def shared_out(workshop: Workshop, todo: Sequence[range], count: int, method: str) -> Iterator[list[Made]]:
    """What becomes of batches that a number of workers share; they end with it, however it ends."""
    workers = hired(workshop, count, method)
    try:
        yield from gathered(workers, workshop, todo)
    finally:
        for worker in workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()


def hired(workshop: Workshop, count: int, method: str) -> list[Worker]:
    """New workers, each with a workshop of its own."""
    context = get_context(method)
    pipes = [context.Pipe() for _ in range(count)]
    # A fork has all open ends, and as long as it keeps those of others these never notice that this process is gone.
    ends = [end for pair in pipes for end in pair] if method == FORK else []
    if method == FORK:
        make: Making = lambda: workshop  # noqa: E731 - it is never sent
        gc.freeze()
    else:
        assert workshop.inputs is not None
        make = partial(workshop_anew, workshop.inputs)
    workers: list[Worker] = []
    with no_interrupts():
        for ours, theirs in pipes:
            others = [end for end in ends if end is not theirs]
            process = context.Process(target=work, args=(make, theirs, others), daemon=True)  # type: ignore[attr-defined]
            process.start()
            workers.append(Worker(process, ours, deque()))
    for _, theirs in pipes:
        theirs.close()
    return workers


def workshop_anew(inputs: Inputs) -> Workshop:
    """The workshop of a worker that was started with the documents alone."""
    from kservec.compilation import first_stage  # noqa: PLC0415 - a fork has it already
    from kservec.frontend import read  # noqa: PLC0415 - as above

    groups = (inputs.specs, inputs.platform, inputs.builtin)
    return first_stage(read(*groups, inputs.options, packaged_schemas(), load_plugs()), inputs)


def work(make: Making, pipe: Connection, others: Iterable[Connection]) -> None:
    """The life of a worker: batches in, what becomes of them out, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in others:
        end.close()
    workshop = make()
    with suppress(EOFError, OSError):
        while True:
            pipe.send(attempt(workshop, pipe.recv()))


def attempt(workshop: Workshop, batch: range) -> list[Made] | None:
    """What becomes of a batch; None after a bug, which is met again where it can be reported."""
    try:
        return workshop.made(batch)
    except Exception:  # noqa: BLE001 - whatever it is, the process that asked will meet it
        return None


def gathered(workers: Sequence[Worker], workshop: Workshop, todo: Sequence[range]) -> Iterator[list[Made]]:
    """What becomes of batches, in their order.

    What a worker could not do is done here: after a bug it leads to the report that one process alone would give, and
    the work of a worker that was killed is not lost.
    """
    waiting = deque(range(len(todo)))
    done: dict[int, list[Made] | None] = {}
    busy = {worker.pipe: worker for worker in workers}
    for worker in (*workers,) * AHEAD:
        hand_out(worker, waiting, todo)
    for place, batch in enumerate(todo):
        while place not in done:
            if not busy:
                done |= dict.fromkeys(waiting)
                waiting.clear()
                break
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                if not (take_back(worker, done) and hand_out(worker, waiting, todo)):
                    done |= dict.fromkeys(worker.at_hand)
                    del busy[pipe]  # type: ignore[arg-type]
        made = done.pop(place, None)
        yield workshop.made(batch) if made is None else made


def hand_out(worker: Worker, waiting: deque[int], todo: Sequence[range]) -> bool:
    """Give a worker the next batch, if there is one; whether it is still there."""
    if not waiting:
        return True
    worker.at_hand.append(waiting.popleft())
    try:
        worker.pipe.send(todo[worker.at_hand[-1]])
    except OSError:
        return False
    return True


def take_back(worker: Worker, done: dict[int, list[Made] | None]) -> bool:
    """Take what a worker has made of its oldest batch; whether it is still there."""
    try:
        made: list[Made] | None = worker.pipe.recv()
    except (EOFError, OSError):
        return False
    done[worker.at_hand.popleft()] = made
    return True
