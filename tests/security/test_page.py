"""The page about security names a test for every threat, and each of them is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
TABLE = re.compile(r"(?m)^\| threat \|.*\n\|[-|]+\n((?:\|.*\n)+)")
ROWS = [line.strip("|\n").split(" | ") for table in TABLE.findall(PAGE) for line in table.splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_a_threat_has_a_test(row: list[str]) -> None:
    """The last column is the name of a test in a file of tests."""
    _threat, defence, test = (cell.strip() for cell in row)
    assert defence
    path, _, name = test.strip("`").partition("::")
    functions = {n.name for n in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(n, ast.FunctionDef)}
    assert name in functions


def test_there_are_rows() -> None:
    """The tables were found, all of them."""
    assert len(ROWS) == PAGE.count("`tests/") - 1
    assert len(ROWS) > 30
