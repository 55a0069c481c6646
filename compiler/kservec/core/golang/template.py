"""Executes Go templates, by the rules of Go's text/template and html/template.

Decides what a template makes of its data. Must not know what the data is (a `Struct` of Go values says what fields
there are) nor where templates come from. Functions beyond Go's own are a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final, TypeAlias, TypeVar, assert_never

from kservec.core.golang import template_functions as functions
from kservec.core.golang.formatting import FormatError, GoValue, NilPointer, Struct, Unknown, text_of, type_of
from kservec.core.golang.template_error import TemplateError
from kservec.core.golang.template_functions import NO_VALUE, NoValue, Value
from kservec.core.golang.template_parse import parse
from kservec.core.golang.template_syntax import (  # fmt: skip
    Action,
    Branch,
    Chain,
    Const,
    Dot,
    Field,
    Function,
    Jump,
    Nil,
    Node,
    Operand,
    Pipe,
    Text,
    Variable,
)
from kservec.core.records import fresh, record

MAX_STEPS: Final = 100_000
"""How many nodes one execution may visit; Go has no limit."""

MAX_TEXT: Final = 1 << 20
"""How long the output, or the result of one function, may be, in code points; Go has no limit."""

Functions: TypeAlias = Mapping[str, Callable[..., GoValue]]
"""Functions by name. They take and return Go values, and raise FormatError or TypeError for bad arguments."""

_BUILTINS: Final = functions.BUILTINS
_LAZY: Final = frozenset(("and", "or"))
_HTML_NAMES: Final = frozenset(("html", "urlquery"))


@record
class Options:
    """How a template is executed.

    `functions` are added to Go's own. `is_html`: escape what actions write, as html/template does in plain text.
    `missing_key_fails`: a map without the key is an error (Go's option `missingkey=error`). `no_value`: what plain text
    gets for one.
    """

    functions: Functions = fresh(factory=dict)
    is_html: bool = False
    missing_key_fails: bool = False
    no_value: str = "<no value>"

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all functions."""
        return frozenset((*_BUILTINS, *self.functions))


TEXT: Final = Options()
HTML: Final = Options(is_html=True)


def render(template: str, data: GoValue, options: Options = TEXT) -> str:
    """Execute a template over its data.

    Raises:
        TemplateError: it is no template, it failed, or it needs what is not supported.
    """
    nodes = _parsed(template, options.names)
    if options.is_html:
        _check_html(nodes)
    run = _Run(data, options)
    run.nodes(nodes, data)
    return "".join(run.out)


@lru_cache(maxsize=256)
def _parsed(template: str, names: frozenset[str]) -> tuple[Node, ...]:
    return parse(template, names)


def _check_html(nodes: Sequence[Node]) -> None:
    """Refuse what html/template refuses: its own escapers anywhere but last."""
    for node in nodes:
        if isinstance(node, Branch):
            _check_html(node.body)
            _check_html(node.otherwise)
        elif isinstance(node, Action) and not node.pipe.variables:
            for command in node.pipe.commands[:-1]:
                if isinstance(command[0], Function) and command[0].name in _HTML_NAMES:
                    raise TemplateError(f"predefined escaper {command[0].name!r} not last", command[0].offset)


class _Jump(Exception):  # noqa: N818 - it is no error, only a way out
    """`break` or `continue` on its way to its `range`."""

    def __init__(self, keyword: str) -> None:
        super().__init__(keyword)
        self.keyword = keyword


class _Run:
    """One execution: the output so far, and the variables, innermost last."""

    def __init__(self, data: GoValue, options: Options) -> None:
        self.options = options
        self.out: list[str] = []
        self.variables: list[tuple[str, Value]] = [("$", data)]
        self.steps = 0
        self.size = 0

    def nodes(self, nodes: Sequence[Node], dot: Value) -> None:
        """Write nodes one after the other."""
        for node in nodes:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise TemplateError(f"more than {MAX_STEPS} steps", node.offset, unsupported=True)
            match node:
                case Text():
                    self.out.append(node.text)
                case Action():
                    self.action(node, dot)
                case Branch():
                    self.branch(node, dot)
                case Jump():
                    raise _Jump(node.keyword)
                case _:
                    assert_never(node)

    def action(self, node: Action, dot: Value) -> None:
        """Write the value of a pipeline, unless it goes to a variable."""
        value = self.pipe(node.pipe, dot)
        if node.pipe.variables:
            return
        try:
            text = _limited(self.written(node.pipe, value))
        except FormatError as error:
            raise _failed(error, node.offset) from None
        self.size += len(text)
        if self.size > MAX_TEXT:
            raise TemplateError(f"the output is longer than {MAX_TEXT}", node.offset, unsupported=True)
        self.out.append(text)

    def written(self, pipe: Pipe, value: Value) -> str:
        """The output of a value."""
        if not self.options.is_html:
            return self.options.no_value if isinstance(value, NoValue) or value is None else text_of(value)
        last = pipe.commands[-1][0]
        if isinstance(last, Function) and last.name == "html":
            return text_of(value) if isinstance(value, str) else ""
        return "" if isinstance(value, NoValue) or value is None else functions.html_text(text_of(value))

    def branch(self, node: Branch, dot: Value) -> None:
        """Execute `if`, `with` or `range`; variables set inside end with it."""
        mark = len(self.variables)
        value = self.pipe(node.pipe, dot)
        if node.keyword == "range":
            self.loop(node, value, dot)
        elif self.truth(value, node.pipe.offset):
            self.nodes(node.body, value if node.keyword == "with" else dot)
        else:
            self.nodes(node.otherwise, dot)
        del self.variables[mark:]

    def loop(self, node: Branch, value: Value, dot: Value) -> None:
        """Execute the body of `range` for each item, or the `else`."""
        items = self.items(value, node)
        names = node.pipe.variables
        for key, item in items:
            mark = len(self.variables)
            if names:
                self.set_variable(names[-1], item, node.pipe)
            if len(names) > 1:
                self.set_variable(names[0], key, node.pipe)
            try:
                self.nodes(node.body, item)
            except _Jump as jump:
                if jump.keyword == "break":
                    break
            finally:
                del self.variables[mark:]
        if not items:
            self.nodes(node.otherwise, dot)

    def items(self, value: Value, node: Branch) -> list[tuple[GoValue, GoValue]]:
        """Keys and items that `range` goes over; map keys in order."""
        match value:
            case NoValue() | None:
                return []
            case Mapping():
                return [(key, value[key]) for key in sorted(value)]
            case list() | tuple() if not isinstance(value, Struct | NilPointer | Unknown):
                return list(enumerate(value))
            case int() if not isinstance(value, bool) and len(node.pipe.variables) < 2:
                return [(i, i) for i in range(min(value, MAX_STEPS + 1))]
            case _:
                raise TemplateError(f"range can't iterate over a value of type {_type(value)}", node.pipe.offset)

    def pipe(self, pipe: Pipe, dot: Value) -> Value:
        """The value of a pipeline, also set to its variables (those of `range` are set by the loop)."""
        value: Value | None = None
        final: tuple[Value, ...] = ()
        for command in pipe.commands:
            value = self.command(command, dot, final)
            final = (value,)
        if len(pipe.variables) == 1:
            self.set_variable(pipe.variables[0], value, pipe)
        return value

    def set_variable(self, name: str, value: Value, pipe: Pipe) -> None:
        """Make a variable, or change the innermost of that name."""
        if not pipe.is_assignment:
            self.variables.append((name, value))
            return
        for i in range(len(self.variables) - 1, -1, -1):
            if self.variables[i][0] == name:
                self.variables[i] = (name, value)
                return
        raise TemplateError(f"undefined variable {name!r}", pipe.offset)

    def command(self, command: tuple[Operand, ...], dot: Value, final: tuple[Value, ...]) -> Value:
        """The value of one command; `final` holds the result of the command before it."""
        first = command[0]
        if isinstance(first, Function):
            return self.call(first, command[1:], dot, final)
        if isinstance(first, Chain) and isinstance(first.start, Function):
            raise TemplateError("fields of a function need parentheses", first.offset)
        if len(command) > 1 or final:
            raise TemplateError("can't give argument to non-function", first.offset)
        if isinstance(first, Nil):
            raise TemplateError("nil is not a command", first.offset)
        return self.operand(first, dot)

    def operand(self, operand: Operand, dot: Value) -> Value:
        """The value of one operand."""
        match operand:
            case Const():
                return operand.value
            case Nil():
                return None
            case Dot():
                return dot
            case Field():
                return self.fields(dot, operand.names, operand.offset)
            case Variable():
                return self.fields(self.variable(operand), operand.names, operand.offset)
            case Function():
                return self.call(operand, (), dot, ())
            case Chain():
                return self.fields(self.operand(operand.start, dot), operand.names, operand.offset)
            case Pipe():
                return self.pipe(operand, dot)
            case _:
                assert_never(operand)

    def variable(self, operand: Variable) -> Value:
        """The innermost variable of that name."""
        for name, value in reversed(self.variables):
            if name == operand.name:
                return value
        raise TemplateError(f"undefined variable {operand.name!r}", operand.offset)

    def fields(self, value: Value, names: Sequence[str], offset: int) -> Value:
        """The value of a chain of fields."""
        for name in names:
            value = self.field(value, name, offset)
        return value

    def field(self, value: Value, name: str, offset: int) -> Value:
        """One field of a struct, or key of a map."""
        found: Value = NO_VALUE
        match value:
            case NoValue() | None:
                if not self.options.missing_key_fails:
                    return NO_VALUE
                raise TemplateError(f"nil data; no entry for key {name!r}", offset)
            case NilPointer():
                raise TemplateError(f"nil pointer evaluating *{value.type}.{name}", offset)
            case Struct():
                found = value.fields.get(name, NO_VALUE)
                if isinstance(found, NoValue):
                    raise TemplateError(f"can't evaluate field {name} in type {value.type}", offset)
            case Mapping():
                found = value.get(name, NO_VALUE)
                if isinstance(found, NoValue) and self.options.missing_key_fails:
                    raise TemplateError(f"map has no entry for key {name!r}", offset)
            case _:
                raise TemplateError(f"can't evaluate field {name} in type {_type(value)}", offset)
        if isinstance(found, Unknown):
            raise TemplateError(found.reason, offset, unsupported=True)
        return found

    def truth(self, value: Value, offset: int) -> bool:
        """Whether `if` and `with` take their first branch."""
        try:
            return functions.truth(value)
        except FormatError as error:
            raise _failed(error, offset) from None

    def call(self, function: Function, operands: Sequence[Operand], dot: Value, final: tuple[Value, ...]) -> Value:
        """Call a function; the result of the command before comes last. `and` and `or` stop when they know."""
        if function.name in _LAZY and function.name not in self.options.functions:
            return self.lazily(function, operands, dot, final)
        arguments = [self.argument(operand, dot) for operand in operands]
        own = self.options.functions.get(function.name)
        try:
            if self.options.is_html and function.name in _HTML_NAMES and arguments and not final:
                arguments = [_BUILTINS["print"](*arguments)]
            if own is None:
                return _limited(_BUILTINS[function.name](*arguments, *final))
            return own(*(None if isinstance(a, NoValue) else a for a in (*arguments, *final)))
        except FormatError as error:
            raise _failed(error, function.offset, f"error calling {function.name}: ") from None
        except TypeError:
            count = len(arguments) + len(final)
            raise TemplateError(f"wrong arguments for {function.name}: {count} given", function.offset) from None

    def argument(self, operand: Operand, dot: Value) -> Value:
        """The value of an argument."""
        if isinstance(operand, Chain) and isinstance(operand.start, Function):
            raise TemplateError("fields of a function need parentheses", operand.offset)
        return self.operand(operand, dot)

    def lazily(self, function: Function, operands: Sequence[Operand], dot: Value, final: tuple[Value, ...]) -> Value:
        """`and` and `or`: the first argument that decides, else the last."""
        if not operands and not final:
            raise TemplateError(f"wrong number of args for {function.name}: want at least 1", function.offset)
        value: Value = None
        for operand in operands:
            value = self.argument(operand, dot)
            if self.truth(value, function.offset) == (function.name == "or"):
                return value
        return final[0] if final else value


_T = TypeVar("_T")


def _limited(value: _T) -> _T:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise FormatError(f"a text is longer than {MAX_TEXT}", unsupported=True)
    return value


def _type(value: Value) -> str:
    return "<nil>" if isinstance(value, NoValue) else type_of(value)


def _failed(error: FormatError, offset: int, prefix: str = "") -> TemplateError:
    return TemplateError(f"{prefix}{error}", offset, unsupported=error.unsupported)
