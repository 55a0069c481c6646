"""Mutants: functions with one small mistake each, made from their syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "compiler"
ROOMS = ("passes", "storage", "scaling", "exposure", "workloads")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
Function = ast.FunctionDef


class Mutant(NamedTuple):
    """A mistake: the module and the function, the number of the mistake among those of the function, and its line."""

    module: str
    function: str
    number: int
    line: int
    mistake: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.mistake}"


def module_name(path: Path) -> str:
    """The dotted name of a file of the compiler."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def modules() -> list[Path]:
    """The files whose functions are changed."""
    return sorted(path for room in ROOMS for path in (SOURCE / "kservec" / room).rglob("*.py"))


def functions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, Function]]:
    """The functions and methods of a module with their names; those inside functions are part of these."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield f"{above}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{above}{node.name}.")


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mistake that can be made in a file."""
    for name, function in functions(ast.parse(path.read_text())):
        for number, (node, mistake) in enumerate(mistakes(function)):
            yield Mutant(module_name(path), name, number, node.lineno, mistake)


def mistakes(function: Function) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """The places of a function where something can be wrong, each with what: always in the same order."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    for node in (part for statement in body for part in ast.walk(statement)):
        yield from ((node, words) for words in possible(node) if isinstance(node, ast.expr | ast.stmt))


def possible(node: ast.AST) -> Iterator[str]:
    """What can be wrong with one node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        yield f"another comparison than {ast.unparse(node)}"
    if isinstance(node, ast.BoolOp):
        yield f"and for or, or for and: {ast.unparse(node)}"
        yield f"only the first part of {ast.unparse(node)}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"no not: {ast.unparse(node)}"
    if isinstance(node, ast.If | ast.IfExp):
        yield f"the other branch of if {ast.unparse(node.test)}"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | str):
        yield f"another value than {node.value!r}"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Call):
        yield f"no {ast.unparse(node)}"
    if isinstance(node, ast.keyword):
        return


def mutated(mutant: Mutant) -> CodeType:
    """The code of a function with its mistake."""
    path = SOURCE.joinpath(*mutant.module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text())
    function = dict(functions(tree))[mutant.function]
    node, mistake = list(mistakes(function))[mutant.number]
    changed = Wrong(node, mistake).visit(tree)
    return code_of(compile(ast.fix_missing_locations(changed), str(path), "exec"), mutant.function)


def marked(path: Path, mark: str) -> dict[str, CodeType]:
    """The code of each function of a file, which first calls what the module holds as *mark*, with both their names."""
    tree = ast.parse(path.read_text())
    names = []
    for name, function in functions(tree):
        called = f"{module_name(path)}:{name}"
        function.body[:0] = ast.parse(f"{mark}({called!r})").body
        names.append(name)
    code = compile(ast.fix_missing_locations(tree), str(path), "exec")
    return {name: code_of(code, name) for name in names}


def code_of(code: CodeType, name: str) -> CodeType:
    """The code of a function inside that of its module."""
    for part in name.split("."):
        code = next(c for c in code.co_consts if hasattr(c, "co_name") and c.co_name == part)
    return code


class Wrong(ast.NodeTransformer):
    """Makes one mistake at one node."""

    def __init__(self, node: ast.AST, mistake: str) -> None:
        self.node = node
        self.mistake = mistake

    def visit(self, node: ast.AST) -> ast.AST:
        """A node as it is, but for the one."""
        return wrong(node, self.mistake) if node is self.node else super().generic_visit(node)


def wrong(node: ast.AST, mistake: str) -> ast.AST:
    """A node with a mistake."""
    if isinstance(node, ast.Compare):
        node.ops = [COMPARISONS[type(node.ops[0])]()]
    elif isinstance(node, ast.BoolOp) and mistake.startswith("only"):
        return node.values[0]
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp):
        return node.operand
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant):
        node.value = another(node.value)
    elif isinstance(node, ast.Expr):
        # What yields stays a generator.
        node.value = ast.parse("(yield from ())", mode="eval").body if is_yield(node) else ast.Constant(None)
    return node


def another(value: object) -> object:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}?"


def is_yield(node: ast.Expr) -> bool:
    """Whether a statement yields."""
    return isinstance(node.value, ast.Yield | ast.YieldFrom)
