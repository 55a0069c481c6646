"""What the entry point imports, as a process loads it that forks itself for runs of it."""

from __future__ import annotations

import importlib
import pkgutil
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

IMAGE = Path(__file__).parents[2] / "runtimes" / "images" / "vllm"

RUNS = 1
"""Most runs become another program."""


def load() -> None:
    """Import what the package imports, and forget the package: each run has its own, which a test may have changed."""
    sys.path.insert(0, str(IMAGE))
    package = importlib.import_module("kservec_vllm")
    for module in pkgutil.walk_packages(package.__path__, "kservec_vllm."):
        importlib.import_module(module.name)
    for name in [name for name in sys.modules if name.split(".")[0] == "kservec_vllm"]:
        del sys.modules[name]
    sys.path.remove(str(IMAGE))
    importlib.invalidate_caches()


def run(arguments: Sequence[str]) -> int:
    """Run a program by its path, with the words after it."""
    sys.argv = list(arguments)
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
        return 1
    return 0
