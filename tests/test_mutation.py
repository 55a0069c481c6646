"""The script that makes mutants: they are small mistakes, and a golden case notices them."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

import pytest
from tests import libyaml

FOLDER = Path(__file__).parents[1] / "scripts" / "mutation"


@pytest.fixture(name="scripts", autouse=True)
def scripts_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the script is on the search path, as when it runs."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("applied", "coverage", "mutants"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("line", "mistakes"),
    [
        ("return a == 1", {"return a != 1", "return a == 2"}),
        ("return a and b", {"return a or b", "return a"}),
        ("return not a", {"return a"}),
        ("return b if a else c", {"return b if not a else c"}),
        ("return a < 'x'", {"return a <= 'x'", "return a < 'x?'"}),
        ("yield a", {"yield from ()"}),
        ("print(a)", {"None"}),
        ("return True", {"return False"}),
    ],
)
def test_each_mistake_is_one(line: str, mistakes: set[str]) -> None:
    """What can be wrong with a line."""
    from mutants import mistakes as found  # noqa: PLC0415 - it lies in a folder of scripts
    from mutants import wrong  # noqa: PLC0415 - as above

    def body() -> ast.FunctionDef:
        (function,) = ast.parse(f"def f(a, b, c):\n    'About it.'\n    {line}").body
        assert isinstance(function, ast.FunctionDef)
        return function

    made = set()
    for number in range(len(list(found(body())))):
        function = body()
        node, mistake = list(found(function))[number]
        changed = ast.unparse(Replacing(node, wrong(node, mistake)).visit(function)).splitlines()[-1].strip()
        made.add(changed[1:-1] if changed.startswith("(") else changed)
    assert made == mistakes


class Replacing(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """The new node for the old one."""
        return self.new if node is self.old else self.generic_visit(node)


def test_a_mutant_is_run_by_everybody_and_then_no_more() -> None:
    """Whoever holds the function runs the mistake, until it is taken back."""
    from applied import applied  # noqa: PLC0415 - it lies in a folder of scripts
    from mutants import SOURCE, mutants  # noqa: PLC0415 - as above

    from kservec.scaling.keda import whole_number  # noqa: PLC0415 - as above

    path = SOURCE / "kservec" / "scaling" / "keda.py"
    mutant = next(m for m in mutants(path) if m.function == "whole_number" and "'-'" in m.mistake)
    assert whole_number("-5") == -5
    with applied(mutant):
        assert whole_number("-5") is None
    assert whole_number("-5") == -5


def test_tests_that_are_about_a_function_come_first() -> None:
    """Of the tests that call a function those are first that call few others, and of one with parameters only some."""
    script = runpy.run_path(str(FOLDER / "__main__.py"), run_name="mutation")
    many = [f"b[{number}]" for number in range(10, 40)]
    first = script["AT_ONCE"]
    callers = {"f": ["whole", *many, "a"], "g": ["whole", "a"], "h": ["whole"]}
    assert script["nearest_first"](callers) == {
        "f": [*many[:first], "a", "whole", *many[first:]],
        "g": ["a", "whole"],
        "h": ["whole"],
    }


def test_equivalent_mutants_are_there_and_explained() -> None:
    """Every mutant of the list can still be made."""
    from mutants import modules, mutants  # noqa: PLC0415 - it lies in a folder of scripts

    possible = {f"{m.module} {m.function}: {m.mistake}" for path in modules() for m in mutants(path)}
    kept = libyaml.load((FOLDER / "equivalent.yaml").read_text())
    assert all(one["why"] for one in kept)
    assert {one["mutant"] for one in kept} <= possible
