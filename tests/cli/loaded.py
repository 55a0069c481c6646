"""The compiler as a process loads it that forks itself for some commands at a time."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

RUNS = 50
"""What a run keeps, the next one may find: it is what depends on nothing but what it is kept for, as in a library."""
NOT_LOADED = "kservec.testing"
GOLDEN = Path(__file__).parents[2] / "golden"
RENDERED = ("project-network-policy", "project-capacity")
COMPILED = ("isvc-ingress", "isvc-hpa-cpu", "isvc-canary-keda", "graph-knative")
"""Golden cases that have between them most of what is made once and kept."""
KUSTOMIZE = ("asyncio", "pykustomize")
"""Takes longer to import than to run. Its threads begin when it first runs, which is in none of the cases."""


def load() -> None:
    """Import all modules of the compiler, and compile some inputs, for what a run makes and keeps."""
    import kservec  # noqa: PLC0415 - only the process that forks needs the compiler
    from kservec.api import compile_tree  # noqa: PLC0415
    from kservec.environments import render  # noqa: PLC0415
    from kservec.io.packaged import packaged_schemas  # noqa: PLC0415
    from kservec.io.workspace import open_workspace  # noqa: PLC0415
    from kservec.overlays.openapi import openapi_document  # noqa: PLC0415

    for module in pkgutil.walk_packages(kservec.__path__, "kservec."):
        if not module.name.startswith(NOT_LOADED):
            importlib.import_module(module.name)
    with contextlib.suppress(ImportError):
        for name in KUSTOMIZE:
            importlib.import_module(name)
    for project in RENDERED:
        with contextlib.chdir(GOLDEN / project / "input"):
            workspace, _, found = open_workspace(Path("kservec.yaml"), 1 << 20)
            assert workspace is not None, found
            for name in workspace.environments:
                render(workspace, name)
    for case in COMPILED:
        compile_tree(GOLDEN / case / "input")
    assert openapi_document(packaged_schemas())


def still_in_memory(stream: int) -> None:
    """Does not wait for the disk: no test of the command line cuts the power, and a build waits two dozen times."""
    del stream


def run(arguments: Sequence[str]) -> int:
    """Run a command, as `python -m kservec` does."""
    from kservec.__main__ import main  # noqa: PLC0415 - only the process that forks needs it

    os.fsync = still_in_memory
    sys.path[0] = str(Path.cwd())
    sys.argv = ["kservec", *arguments]
    return main()
