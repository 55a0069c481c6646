"""Which golden cases and which tests run which functions: a pytest plugin, and the same for the cases."""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from applied import applied
from mutants import ROOMS, SOURCE, Mutant, module_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    import pytest

FOLDERS = tuple(f"{SOURCE / 'kservec' / room}{os.sep}" for room in ROOMS)
MUTANT, REPORT = "KSERVEC_MUTANT", "KSERVEC_MUTATION_COVERAGE"
"""Variables that tell the plugin which mutant to run with, or where to write what it saw."""


@contextmanager
def seen(found: set[str]) -> Iterator[None]:
    """Note the functions that are called, as `module:function`."""

    def note(frame: FrameType, event: str, argument: Any) -> None:
        del argument
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(FOLDERS):
            found.add(f"{module_name(Path(code.co_filename))}:{code.co_qualname.partition('.<')[0]}")

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


class Recorder:
    """Notes what each test runs."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.found: dict[str, list[str]] = defaultdict(list)

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Begin to look."""
        self.called: set[str] = set()
        self.looking = seen(self.called)
        self.looking.__enter__()
        self.item = item

    def pytest_runtest_logfinish(self) -> None:
        """Keep what was seen."""
        self.looking.__exit__(None, None, None)
        for function in self.called:
            self.found[function].append(self.item.nodeid)

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
