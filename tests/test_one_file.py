"""The one-file rule: no file outside a family spells the name of a member, and no prefix stands in two files."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from kservec.core.registry import load_plugs

SOURCE = Path(__file__).parents[1] / "compiler" / "kservec"
FAMILIES = ("storage", "scaling", "exposure", "workloads")
PLUGS = load_plugs()


@cache
def literals(module: Path) -> set[str]:
    """Every string constant of a module that is no docstring."""
    tree = ast.parse(module.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return {
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs
    }


@cache
def compared(module: Path) -> set[str]:
    """Strings that a module compares with, matches on, or uses as keys of a literal map."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Dict):
            parts = [k for k in node.keys if k is not None]
        found |= {p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)}
    return found


@pytest.mark.parametrize("prefix", sorted({p for s in PLUGS.schemes for p in s.prefixes}))
def test_a_prefix_stands_in_one_file(prefix: str) -> None:
    """The URI prefix of a storage scheme is a literal in the scheme's own file and nowhere else."""
    holders = [m.relative_to(SOURCE).as_posix() for m in sorted(SOURCE.rglob("*.py")) if prefix in literals(m)]
    assert len(holders) == 1, holders
    assert holders[0].startswith("storage/")


@pytest.mark.parametrize("family", FAMILIES)
def test_nobody_compares_with_the_name_of_a_member(family: str) -> None:
    """Passes ask for traits; a comparison with a member's name belongs into the member's own file."""
    members = {
        "storage": PLUGS.schemes,
        "scaling": (*PLUGS.scalers, *PLUGS.part_scalers),
        "exposure": PLUGS.styles,
        "workloads": (*PLUGS.workloads, *PLUGS.part_workloads),
    }
    names = {m.name for m in members[family]}
    passes = sorted((SOURCE / "passes").glob("*.py"))
    assert {m.name: compared(m) & names for m in passes if compared(m) & names} == {}
