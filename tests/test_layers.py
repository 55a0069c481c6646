"""Who may import whom, and who may touch the world: the walls of the house."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[1] / "compiler" / "kservec"
RINGS = {
    "spec": 0,
    "core": 1,
    "storage": 2, "scaling": 2, "exposure": 2, "workloads": 2,
    "passes": 3,
    "admission": 4, "capacity": 4, "documents": 4, "drawing": 4, "readers": 4, "gitops": 4, "frontend": 4,
    "pipeline": 4,
    "compilation": 4, "report": 4, "emit": 4, "project": 4, "overlays": 4, "edits": 4, "explain": 4, "importing": 4,
    "policy": 4, "recovery": 4, "scaffold": 4, "site": 4, "topology": 4, "testing": 5, "recall": 4, "workshop": 4,
    "io": 5, "api": 5, "braking": 5, "environments": 5, "judging": 5, "rollout": 5, "importer": 5, "cli": 5,
    "__main__": 5, "__init__": 5,
    "_version": 0,
    "emptiness": 4,
    "compare": 4, "committed": 5, "comparisons": 5, "overlay_edits": 5, "previewing": 5, "promotion": 5,
    "reporting": 5, "stable": 5, "surveying": 5,
}  # fmt: skip
PLUGS = {"storage", "scaling", "exposure", "workloads"}
WORLD = {
    "os", "pathlib", "time", "datetime", "random", "uuid", "socket", "locale", "logging", "subprocess", "tempfile",
    "shutil", "sys",
}  # fmt: skip
INTERNING = {"sys", "sys.intern"}
"""What `from sys import intern` imports: it makes equal texts one, and touches nothing."""


def modules() -> list[Path]:
    """Every module of the compiler."""
    return sorted(SOURCE.rglob("*.py"))


def room(module: Path) -> str:
    """The top-level package or module that a file belongs to."""
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


class Uses(NamedTuple):
    """What a module uses."""

    imports: frozenset[str]
    """The dotted names that it imports, at the top or inside functions."""
    calls: frozenset[str]
    """The plain names that it calls."""


@cache
def uses(module: Path) -> Uses:
    """What a module uses; each is parsed once."""
    imported: set[str] = set()
    called: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            imported |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
    return Uses(frozenset(imported), frozenset(called))


def ours(module: Path) -> set[str]:
    """The rooms that a module imports from."""
    return {name.split(".")[1] for name in uses(module).imports if name.startswith("kservec.")}


@pytest.mark.parametrize("module", modules(), ids=lambda m: str(m.relative_to(SOURCE)))
def test_a_module_imports_only_from_rings_below(module: Path) -> None:
    """A room may use itself and the rings below it; plugs and passes may not use each other."""
    here = room(module)
    for there in ours(module) - {here} & set(RINGS):
        if there in RINGS:
            assert RINGS[there] <= RINGS[here], f"{here} imports {there}"
            assert there not in PLUGS or RINGS[here] > 3, f"{here} names the plug family {there}"


@pytest.mark.parametrize(
    "module", [m for m in modules() if room(m) in PLUGS | {"passes"}], ids=lambda m: str(m.relative_to(SOURCE))
)
def test_plugs_and_passes_do_not_know_each_other(module: Path) -> None:
    """A plug never imports another plug, a pass never another pass: they meet in the pipeline and the registry."""
    package = f"kservec.{room(module)}."
    assert not {name for name in uses(module).imports if name.startswith(package)}


@pytest.mark.parametrize(
    "module", [m for m in modules() if RINGS.get(room(m), 9) < 5], ids=lambda m: str(m.relative_to(SOURCE))
)
def test_the_inner_rings_do_not_touch_the_world(module: Path) -> None:
    """Below the outermost ring nothing reads a clock, a file, an environment variable or a random number."""
    touched = {name for name in uses(module).imports if name.split(".")[0] in WORLD}
    assert touched in (set(), INTERNING)
    assert not uses(module).calls & {"open", "print", "input", "eval", "exec"}


def test_every_room_has_a_ring() -> None:
    """A new room must be given its place before anything can live in it."""
    assert {room(m) for m in modules()} <= set(RINGS)
