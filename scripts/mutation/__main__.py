"""Mutation testing: small mistakes in passes and plugs, and whether a test notices.

The libraries for this run a suite of tests in a process of its own for each mutant. Here most of what matters is seen
by compiling golden cases, which takes milliseconds in one process: so a mutant is first run over the cases that call
its function, and only one that none of them notices meets the tests that call it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from applied import applied, forget, watch
from coverage import MUTANT, REPORT
from mutants import ROOT, Mutant, modules, mutants
from tests.golden import cases as golden
from tests.golden.projects import projects, rendered
from tests.golden.projects import result as project_result

from kservec.api import compile_files
from kservec.core.text.source import Limits
from kservec.io.bounds import ExceededError, bounded
from kservec.report.text import text_report

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
KEPT = HERE / "equivalent.yaml"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kservec" / "mutation.json"
TESTS = ["tests"]
LEFT_OUT = (
    "apiserver", "browser", "cli", "compare", "delivery", "fuzzing", "golden", "images", "integrations", "invariants",
    "overlays", "pages", "report", "router", "scale", "security", "watching", "writer",
)  # fmt: skip
"""Tests that start processes, or that look at what golden cases give, which is done here."""
MOST_TESTS, AT_ONCE, SECONDS = 60, 16, 120
UNKNOWN_TESTS = (4, 5)
"""How pytest ends when it does not know the tests, which tells nothing of a mutant."""
PYTEST = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "coverage", "-p", "no:cacheprovider"]


def main() -> int:
    """Try a sample, and list who survived; 1 if some did whom nobody has explained."""
    options = arguments()
    started = time.monotonic()
    possible = [mutant for path in modules() for mutant in mutants(path)]
    sample = random.Random(options.seed).sample(possible, min(options.sample, len(possible)))  # noqa: S311
    calls, callers = covered_by_cases(), covered_by_tests()
    fates: Counter[str] = Counter()
    kept = {one["mutant"] for one in yaml.safe_load(KEPT.read_text())}
    survivors = []
    for number, mutant in enumerate(sample, 1):
        fate = fate_of(mutant, calls, callers, kept)
        fates[fate] += 1
        if fate in ("survived", "not run"):
            survivors.append(f"{fate}: {mutant}")
        sys.stdout.write(f"{number}/{len(sample)} {fate}: {mutant}\n" if options.verbose else "")
        sys.stdout.flush()
    minutes = (time.monotonic() - started) / 60
    counts = ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()))
    lines = [
        *survivors,
        f"{len(sample)} of {len(possible):,} mutants, seed {options.seed}: {counts}; {minutes:.0f} min",
    ]
    sys.stdout.write("\n".join([*lines, ""]))
    return 1 if survivors else 0


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=150, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--verbose", action="store_true", help="tell of each as it is tried")
    return parser.parse_args()


def fate_of(mutant: Mutant, calls: dict[str, list[str]], callers: dict[str, list[str]], kept: Iterable[str]) -> str:
    """What becomes of a mutant."""
    function = f"{mutant.module}:{mutant.function}"
    cases, tests = calls.get(function, []), callers.get(function, [])
    if identity(mutant) in kept:
        return "equivalent"
    if not cases and not tests:
        return "not run"
    if noticed_by_cases(mutant, cases):
        return "killed by a golden case"
    return "killed by a test" if tests and noticed_by_tests(mutant, tests[:MOST_TESTS]) else "survived"


def identity(mutant: Mutant) -> str:
    """How the list of equivalent mutants names one: without its line, which moves."""
    return f"{mutant.module} {mutant.function}: {mutant.mistake}"


def noticed_by_cases(mutant: Mutant, names: list[str]) -> bool:
    """Whether a golden case gives something else, or nothing, when a mutant has its way."""
    chosen = set(names)
    try:
        with applied(mutant), bounded(Limits(max_seconds=SECONDS, max_memory=0)):
            return any(given(case) != golden.committed(case) for case in everything() if case.name in chosen)
    except (Exception, ExceededError):  # noqa: BLE001 - whatever it is, the mutant did it
        return True


def everything() -> tuple[golden.Case, ...]:
    """The golden cases, and the golden projects, in which passes run that a project adds."""
    return (*golden.cases(), *projects())


def given(case: golden.Case) -> dict[str, bytes]:
    """What a golden case or project gives now."""
    if golden.has_project(case.folder):
        rendered.cache_clear()
        return project_result(case)
    files, target = golden.inputs(case)
    made = compile_files(files, target=target)
    report = text_report(made.diagnostics, made.sources)
    texts = {f"{golden.EXPECT}/{rendered.path}": rendered.text.encode() for rendered in made.objects}
    return texts | ({golden.DIAGNOSTICS: report.encode()} if report else {})


def noticed_by_tests(mutant: Mutant, tests: list[str]) -> bool:
    """Whether a test fails when a mutant has its way."""
    command = [*PYTEST, *tests]
    try:
        status = run(command, {MUTANT: json.dumps(mutant)}, SECONDS * 5)
    except subprocess.TimeoutExpired:
        return True
    if status in UNKNOWN_TESTS:
        raise SystemExit(f"{CACHE} names tests that are no more; remove it")
    return status != 0


def covered_by_cases() -> dict[str, list[str]]:
    """The golden cases that call each function."""
    found: dict[str, list[str]] = {}
    called: set[str] = set()
    watch(called)
    for case in everything():
        called.clear()
        forget()
        given(case)
        for function in called:
            found.setdefault(function, []).append(case.name)
    return found


def covered_by_tests() -> dict[str, list[str]]:
    """The tests that call each function, nearest first. They are kept in a file; remove it to look anew."""
    if not CACHE.exists():
        CACHE.parent.mkdir(parents=True, exist_ok=True)
        ignored = [f"--ignore=tests/{name}" for name in LEFT_OUT]
        command = [word for word in PYTEST if word != "-x"]
        run([*command, *ignored, *TESTS], {REPORT: str(CACHE)}, 3600)
    return nearest_first(json.loads(CACHE.read_text()))


def nearest_first(callers: dict[str, list[str]]) -> dict[str, list[str]]:
    """Tests by functions, in the order in which they are likely to notice something.

    What calls few functions is most about each of them. Of a test with many parameters only some come at first:
    hundreds of golden cases would leave no room for the tests that are about a function alone.
    """
    breadths = Counter(test for tests in callers.values() for test in tests)
    return {function: in_rounds(tests, breadths) for function, tests in callers.items()}


def in_rounds(tests: list[str], breadths: Counter[str]) -> list[str]:
    """Some tests of each test function, those that call the fewest functions first; then some more of each."""
    rounds: Counter[str] = Counter()
    placed = []
    for test in sorted(tests, key=lambda test: (breadths[test], test)):
        written = test.partition("[")[0]
        placed.append((rounds[written] // AT_ONCE, len(placed), test))
        rounds[written] += 1
    return [test for _, _, test in sorted(placed)]


def run(command: list[str], environment: dict[str, str], seconds: int) -> int:
    """The exit status of a process that has our modules."""
    path = os.pathsep.join((str(HERE), str(ROOT)))
    return subprocess.run(  # noqa: S603 - our own tests
        command,
        cwd=ROOT,
        env=os.environ | environment | {"PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
