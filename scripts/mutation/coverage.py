"""Which tests run which functions, and a mutant below all tests: a pytest plugin."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from applied import applied, forget, watch
from mutants import Mutant

if TYPE_CHECKING:
    import pytest

MUTANT, REPORT = "KSERVEC_MUTANT", "KSERVEC_MUTATION_COVERAGE"
"""Variables that tell the plugin which mutant to run with, or where to write what it saw."""


class Recorder:
    """Notes what each test runs. A test that fails without a mutant tells nothing of one, and is left out."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.called: set[str] = set()
        self.failed: set[str] = set()
        self.found: dict[str, list[str]] = defaultdict(list)
        watch(self.called)

    def pytest_runtest_logstart(self) -> None:
        """Begin to look, without what earlier tests have left in caches."""
        self.called.clear()
        forget()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Keep what was seen."""
        for function in self.called if nodeid not in self.failed else ():
            self.found[function].append(nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write it down."""
        self.place.write_text(json.dumps(self.found))


def pytest_configure(config: pytest.Config) -> None:
    """Record, or run all tests with a mutant."""
    if place := os.environ.get(REPORT):
        config.pluginmanager.register(Recorder(Path(place)))
    if text := os.environ.get(MUTANT):
        stack = ExitStack()
        stack.enter_context(applied(Mutant(*json.loads(text))))
        config.add_cleanup(stack.close)
