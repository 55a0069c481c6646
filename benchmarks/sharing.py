"""Runs that are shared out: over processes, over machines, over time: `python -m benchmarks.sharing COUNT [JOBS]`.

Time is that of processors, so that other work on the machine does not count: with several processes it is that of the
one which asks and the mean of its workers, which is what a run takes where each has a processor of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.compiling import own_peak
from benchmarks.services import services, target
from kservec import File, compile_files
from kservec.cli.labour import few_collections
from kservec.core.records import evolve
from kservec.core.share import Share
from kservec.io.cache import recalling
from kservec.io.crew import processors, several
from kservec.workshop import Crew, alone

ROUNDS = 3


class Sharing(NamedTuple):
    """A compile that is shared out: seconds of a processor and of the clock, and bytes of memory at most."""

    asking: float
    workers: float
    clock: float
    peak: int

    @property
    def all_in_all(self) -> float:
        """Seconds of all processors."""
        return self.asking + self.workers

    def critical(self, jobs: int) -> float:
        """Seconds where each process has a processor of its own."""
        return self.asking + self.workers / jobs


def shared(files: Sequence[File], crew: Crew, share: Share | None = None) -> Sharing:
    """One compile, as a crew shares it out."""
    with few_collections():
        before, begun = os.times(), time.perf_counter()
        compiled = compile_files(files, target=evolve(target(), share=share), crew=crew)
        clock, after = time.perf_counter() - begun, os.times()
    assert compiled.ok, compiled.diagnostics[:3]
    asking, workers = (sum(after[i : i + 2]) - sum(before[i : i + 2]) for i in (0, 2))
    return Sharing(asking, workers, clock, own_peak())


def best(count: int, jobs: int) -> tuple[Sharing, Sharing]:
    """The best of some rounds of one process, and of several."""
    files = services(count)
    compile_files(files[:10], target=target())
    rounds = [(shared(files, alone), shared(files, several(jobs))) for _ in range(ROUNDS)]
    return min(r[0] for r in rounds), min((r[1] for r in rounds), key=lambda s: s.critical(jobs))


def recalled(count: int) -> tuple[float, float]:
    """Seconds of a compile, and of one that finds all services in a cache: the best of some rounds."""
    files = services(count)
    with tempfile.TemporaryDirectory() as folder:
        crew = recalling(Path(folder), alone)
        shared(files, crew)
        rounds = [(shared(files, alone).asking, shared(files, crew).asking) for _ in range(ROUNDS)]
    return min(r[0] for r in rounds), min(r[1] for r in rounds)


def elsewhere(count: int, jobs: int = 1, share: str = "1/1") -> Sharing:
    """One compile, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.sharing", str(count), str(jobs), share]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
    asking, workers, clock, peak = done.stdout.split()
    return Sharing(float(asking), float(workers), float(clock), int(peak))


def main() -> None:
    """Write the numbers of one compile."""
    count, jobs, (number, of) = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split("/")
    crew = alone if jobs == 1 else several(jobs or processors())
    made = shared(services(count), crew, Share(int(number), int(of)) if of != "1" else None)
    sys.stdout.write(" ".join(map(str, made)) + "\n")


if __name__ == "__main__":
    main()
