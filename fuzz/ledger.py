"""The ledger: a line of JSON for every chunk that was tried, so that a run can go on, and be summed up."""

from __future__ import annotations

import json
import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fuzz.judging import codes
from fuzz.running import CHUNK, Tally, Task
from fuzz.stock import ROOT

TRIED = ("compiler", "router", "runtimes", "schemas", "fuzz", "golden", "examples")
"""The folders that decide what an input is and what comes of it."""


def commit() -> str:
    """The commit of this checkout, with a + if it has been changed since."""
    ask = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=8", "--exclude=*"]
    named = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    changed = ["git", "-C", str(ROOT), "status", "--porcelain", "--", *TRIED]
    return named + "+" * bool(subprocess.run(changed, capture_output=True, text=True, check=False).stdout.strip())  # noqa: S603


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Everything that a ledger holds."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def keep(path: Path, tally: Tally, named: str) -> None:
    """Add what came of a task to a ledger."""
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {**tally.row, "commit": named, "python": platform.python_version()}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def tasks_of(wanted: Task, rows: Iterable[dict[str, Any]]) -> Iterator[Task]:
    """The chunks of numbers that no row of a ledger has yet."""
    known = {(row["seed"], row["family"], row["first"], row["count"]) for row in rows}
    for first in range(wanted.first, wanted.first + wanted.count, CHUNK):
        count = min(CHUNK, wanted.first + wanted.count - first)
        if (wanted.seed, wanted.family, first, count) not in known:
            yield Task(wanted.seed, first, count, wanted.family)


def summary(rows: list[dict[str, Any]]) -> str:
    """Tables in Markdown: what was run on which commit, each family, and the codes."""
    return "\n".join((*runs(rows), "", *families(rows), "", *reached(rows), ""))


def runs(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each seed on each commit."""
    yield "| seed | numbers | inputs | hours of one process | commit | faults |"
    yield "|---|---|---:|---:|---|---:|"
    groups: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["seed"], row["commit"]), []).append(row)
    for (seed, named), found in groups.items():
        first, last = min(r["first"] for r in found), max(r["first"] + r["count"] for r in found) - 1
        hours, faults = sum(r["seconds"] for r in found) / 3600, sum(len(r["faults"]) for r in found)
        yield f"| {seed} | {first} to {last} | {sum(r['count'] for r in found):,} | {hours:.2f} | {named} | {faults} |"


def families(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each family of inputs."""
    yield "| family | inputs | gave output | refused | ms each |"
    yield "|---|---:|---:|---:|---:|"
    sums: dict[str, Counter[str]] = {}
    for row in rows:
        for family, counts in row["families"].items():
            sums.setdefault(family, Counter()).update(counts)
    for family, counts in sorted(sums.items()):
        each = 1000 * counts["seconds"] / counts["inputs"]
        judged = (f"{counts[name]:,}" if counts["output"] + counts["refused"] else "" for name in ("output", "refused"))
        yield f"| {family} | {counts['inputs']:,} | {' | '.join(judged)} | {each:.1f} |"


def reached(rows: list[dict[str, Any]]) -> Iterator[str]:
    """How many of the documented codes came up, and which did not."""
    seen = {code for row in rows for code in row["codes"]}
    missing = sorted(codes() - seen)
    share = 100 * len(codes() & seen) / len(codes())
    yield f"{len(codes() & seen)} of {len(codes())} codes came up ({share:.0f} %)."
    yield f"Not: {', '.join(f'`{code}`' for code in missing) or 'none'}."
