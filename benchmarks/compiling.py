"""Time and memory of a compile, each in a process of its own: `python -m benchmarks.compiling WHAT COUNT`.

WHAT is `seconds`, `llm-seconds` or `memory`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.services import language_models, services, target
from kservec import File, compile_files
from kservec.api import builtin_files, need_presets, parsed
from kservec.cli.labour import few_collections
from kservec.core.text.source import Limits
from kservec.emit import dump

ROUNDS = 9


def seconds(work: Callable[[], Any]) -> float:
    """How much time of a processor a piece of work takes, with the garbage collector as the command line sets it."""
    with few_collections():
        begun = time.process_time()
        work()
        return time.process_time() - begun


def over_floor(files: Sequence[File], rounds: int = ROUNDS) -> tuple[float, float]:
    """Seconds of a compile, and of reading all that it reads and writing its output alone: the best of some rounds."""
    cluster = target()
    compiled = compile_files(files, target=cluster)
    assert compiled.ok, compiled.diagnostics[:3]
    specs, _ = parsed(files[:1], Limits())
    values = [yaml.load(o.text, Loader=yaml.CSafeLoader) for o in compiled.objects]

    def floor() -> None:
        for read in (files, cluster.platform, builtin_files(cluster, presets=need_presets(specs))):
            parsed(read, Limits())
        for value in values:
            dump(value)

    taken = [(seconds(lambda: compile_files(files, target=cluster)), seconds(floor)) for _ in range(rounds)]
    return min(r[0] for r in taken), min(r[1] for r in taken)


def one_compile(count: int) -> float:
    """Seconds of one compile."""
    return after_another(services(count))


def one_llm_compile(count: int) -> float:
    """Seconds of one compile of LLM services."""
    return after_another(language_models(count))


def after_another(files: Sequence[File]) -> float:
    """Seconds of a compile in a process that has compiled something before."""
    cluster = target()
    compile_files(files[:10], target=cluster)
    return seconds(lambda: compile_files(files, target=cluster))


def peak_bytes(count: int) -> int:
    """The most memory that a process takes which reads and compiles so many services and holds the result."""
    with few_collections():
        compiled = compile_files(services(count), target=target())
    assert compiled.ok
    return own_peak()


def own_peak() -> int:
    """The most memory that this process took, in bytes.

    Linux tells it apart from what the parent took before this program was loaded into the copy of it; `getrusage` does
    not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def elsewhere(what: str, count: int) -> float:
    """A measure, taken in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.compiling", what, str(count)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: S603 - ourselves


MEASURES: dict[str, Callable[[int], float]] = {
    "seconds": one_compile, "llm-seconds": one_llm_compile, "memory": peak_bytes,
}  # fmt: skip

if __name__ == "__main__":
    sys.stdout.write(f"{MEASURES[sys.argv[1]](int(sys.argv[2]))}\n")
