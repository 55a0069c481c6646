"""The router under load on 127.0.0.1, next to nginx as a proxy of one hop in the same run.

    python -m benchmarks.router [--rounds 3] [--seconds 3]

Router and proxy take turns on one core; the load (wrk) and the service (an nginx that answers from memory) share
another. What counts is requests per second of processor time, as a share of nginx's: that depends little on the
machine. Everything that can be switched on is on: limits, metrics, traces, access log.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import NGINX, free_port, proxy, service

SIZES = {"200 B": 200, "20 kB": 20_000}
KSERVE = {
    "200 B": {"Sequence of 1": 0.165, "Sequence of 3": 0.069, "Ensemble of 3": 0.049, "Switch of 3": 0.160},
    "20 kB": {"Sequence of 1": 0.095, "Sequence of 3": 0.048, "Ensemble of 3": 0.024, "Switch of 3": 0.075},
}
"""What KServe's own router does per second of processor time, as a share of nginx: medians, measured the same way."""

GOAL = 1.8
"""How many times that this router is to do."""

MEGABYTES = 60
GROWTH = 8
"""So many megabytes more, at most, after thousands of requests that fail."""

PROXY = "nginx, one hop"
CONNECTIONS = 32
SCRIPT = """\
wrk.method = "POST"
wrk.body = '{"kind":"c","instances":["' .. string.rep("x", tonumber(os.getenv("SIZE")) - 29) .. '"]}'
wrk.headers["Content-Type"] = "application/json"
function done(summary, latency)
  io.write(string.format('{"requests":%d,"p50":%f,"p99":%f,"failed":%d}',
    summary.requests, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
"""


class Sample(NamedTuple):
    """Requests per second, and per second of the server's processor time; milliseconds; megabytes."""

    rate: float
    per_second: float
    p50: float
    p99: float
    megabytes: float
    failed: float


class Server:
    """A process on the first core, under load from the second one."""

    def __init__(self, words: list[str], port: int, ready: str) -> None:
        self.port = port
        self.popen = subprocess.Popen(_on_core(0, words), stderr=subprocess.DEVNULL)  # noqa: S603 - our own
        for _ in range(400):
            with contextlib.suppress(OSError):
                if urllib.request.urlopen(f"http://127.0.0.1:{port}{ready}", timeout=2).status == 200:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"{words[0]} did not get ready")

    def load(self, folder: Path, size: int, seconds: float) -> Sample:
        """One run of wrk."""
        script = folder / "load.lua"
        script.write_text(SCRIPT)
        wrk = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--timeout", "10s", "-s", str(script)]
        before, begin = self.processor_seconds(), time.monotonic()
        words = _on_core(1, [*wrk, f"http://127.0.0.1:{self.port}/"])
        environment = os.environ | {"SIZE": str(size)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
        spent, elapsed = self.processor_seconds() - before, time.monotonic() - begin
        found = json.loads(done.stdout[done.stdout.rindex("{") :])
        count = found["requests"]
        return Sample(
            count / elapsed, count / max(spent, 0.01), found["p50"], found["p99"], self.megabytes(), found["failed"]
        )

    def processor_seconds(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self.popen.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self.popen.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def stop(self) -> None:
        """End the process."""
        self.popen.kill()
        self.popen.wait()


@contextlib.contextmanager
def running(words: list[str], port: int, ready: str = "/") -> Iterator[Server]:
    """A server that answers."""
    server = Server(words, port, ready)
    try:
        yield server
    finally:
        server.stop()


def graphs(url: str) -> dict[str, dict[str, Any]]:
    """The graphs to measure, with all steps at the same service."""

    def node(kind: str, *steps: dict[str, Any]) -> dict[str, Any]:
        return {"nodes": {"root": {"routerType": kind, "steps": [{"serviceUrl": url, **step} for step in steps]}}}

    response = {"data": "$response"}
    return {
        "Sequence of 1": node("Sequence", {}),
        "Sequence of 3": node("Sequence", {}, response, response),
        "Ensemble of 3": node("Ensemble", {"name": "a"}, {"name": "b"}, {"name": "c"}),
        "Switch of 3": node("Switch", *({"condition": f'[@this].#(kind=="{kind}")'} for kind in "abc")),
    }


@contextlib.contextmanager
def routing(folder: Path, graph: dict[str, Any], *flags: str) -> Iterator[Server]:
    """A router for a graph."""
    file, port = folder / "graph.json", free_port()
    file.write_text(json.dumps(graph))
    words = [sys.executable, "-m", "kservec_router", "--graph", str(file), "--port", str(port), "--host", "127.0.0.1"]
    with running([*words, *flags], port, "/readyz") as server:
        yield server


def one_round(folder: Path, size: int, seconds: float) -> dict[str, Sample]:
    """Every server once, for bodies of one size."""
    found = {}
    with service(folder, size, _on_core(1, [])) as port:
        words, proxy_port = proxy(folder, port)
        with running(words, proxy_port) as server:
            found[PROXY] = server.load(folder, size, seconds)
        for name, graph in graphs(f"http://127.0.0.1:{port}/").items():
            with routing(folder, graph) as server:
                server.load(folder, size, 1)
                found[name] = server.load(folder, size, seconds)
    return found


def measured(rounds: int, seconds: float) -> Iterator[tuple[str, str, Sample, float]]:
    """Size, name, medians, and the share of nginx's requests per second of processor time."""
    with tempfile.TemporaryDirectory(prefix="kservec-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # nginx's workers are another user
        for label, size in SIZES.items():
            samples = [one_round(folder, size, seconds) for _ in range(rounds)]
            for key in samples[0]:
                columns = zip(*(one[key] for one in samples), strict=True)
                shares = [one[key].per_second / one[PROXY].per_second for one in samples]
                yield label, key, Sample(*map(statistics.median, columns)), statistics.median(shares)


def failing(seconds: float) -> tuple[Sample, float]:
    """An Ensemble in which nobody listens, and how many megabytes the failures have left behind."""
    with tempfile.TemporaryDirectory(prefix="kservec-bench-") as name:
        steps = [{"serviceUrl": f"http://127.0.0.1:{free_port()}/", "dependency": "Hard", "name": n} for n in "abc"]
        graph = {"nodes": {"root": {"routerType": "Ensemble", "steps": steps}}}
        with routing(Path(name), graph, "--connect-attempts", "1") as server:
            before = server.load(Path(name), 200, 1).megabytes
            after = server.load(Path(name), 200, seconds)
            return after, after.megabytes - before


def missing() -> str | None:
    """What is not there that is needed; None when all is."""
    absent = [tool for tool in (NGINX, "wrk", "taskset") if not shutil.which(tool)]
    if absent:
        return f"not installed: {', '.join(absent)}"
    if not {0, 1} <= os.sched_getaffinity(0):
        return "two cores are needed"
    return None


def _on_core(core: int, words: list[str]) -> list[str]:
    return ["taskset", "-c", str(core), *words]


def main() -> int:
    """Print the table; fail when a line is below the goal, or memory above its limit."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=3)
    given = options.parse_args()
    if reason := missing():
        sys.stdout.write(f"router: skipped, {reason}\n")
        return 0
    fine = True
    row = "{:7}{:16}{:>9}{:>9}{:>8}{:>10}{:>9}{:>9}{:>7}{:>8}\n"
    heads = ("req/s", "per CPU", "share", "x KServe", "p50 ms", "p99 ms", "MB", "failed")
    sys.stdout.write(row.format("", "", *heads))
    for size, name, sample, share in measured(given.rounds, given.seconds):
        times = share / KSERVE[size][name] if name in KSERVE[size] else None
        fine = fine and (times is None or (times >= GOAL and sample.megabytes <= MEGABYTES and not sample.failed))
        figures = (f"{sample.rate:.0f}", f"{sample.per_second:.0f}", f"{share:.3f}", f"{times:.1f}" if times else "")
        more = (f"{sample.p50:.1f}", f"{sample.p99:.1f}", f"{sample.megabytes:.0f}", f"{sample.failed:.0f}")
        sys.stdout.write(row.format(size, name, *figures, *more))
        sys.stdout.flush()
    sample, grown = failing(given.seconds)
    count = sample.rate * given.seconds
    sys.stdout.write(f"\n{count:.0f} failing requests: {sample.megabytes:.0f} MB, {grown:+.1f} MB\n")
    return 0 if fine and sample.megabytes <= MEGABYTES and grown <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
