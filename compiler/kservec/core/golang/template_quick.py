"""The quick way through simple templates: fields, functions and `if`, put together once as functions of the data.

Decides which templates are simple, and gives what `template.render` gives; wherever anything is out of the ordinary it
gives up, and `render` says what is wrong. Must not know what the data is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kservec.core.golang.formatting import FormatError, GoValue, Struct, Unknown, text_of
from kservec.core.golang.template import MAX_TEXT, Options, render
from kservec.core.golang.template_error import TemplateError
from kservec.core.golang.template_functions import BUILTINS, NoValue, truth
from kservec.core.golang.template_parse import parse
from kservec.core.golang.template_syntax import Action, Branch, Const, Field, Function, Pipe, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.golang.template_syntax import Node, Operand

Value: TypeAlias = Callable[[Struct], GoValue]
Made: TypeAlias = Callable[[Struct], str]
LAZY: Final = ("and", "or")


class SlowError(Exception):
    """The template is not simple, or its data are not."""


class Prepared(NamedTuple):
    """A template, and what makes its text quickly; None if it is not simple."""

    template: str
    made: Made | None

    def render(self, data: Struct, options: Options) -> str:
        """What `template.render` gives for the options that it is prepared for.

        Raises:
            TemplateError: it is no template, it failed, or it needs what is not supported.
        """
        try:
            text = self.made(data) if self.made is not None else None
        except (SlowError, FormatError, TypeError):
            text = None
        return render(self.template, data, options) if text is None or len(text) > MAX_TEXT else text


def prepared(template: str, options: Options) -> Prepared:
    """A template for plain text, prepared to be executed many times."""
    try:
        return Prepared(template, _nodes(parse(template, options.names), options))
    except (SlowError, TemplateError):
        return Prepared(template, None)


def _nodes(nodes: Sequence[Node], options: Options) -> Made:
    """What makes the text of nodes, one after the other."""
    made = [_node(node, options) for node in nodes]
    if len(made) == 1:
        return made[0]
    return lambda data: "".join([make(data) for make in made])


def _node(node: Node, options: Options) -> Made:
    if isinstance(node, Text):
        text = node.text
        return lambda _: text
    if isinstance(node, Action):
        return _written(_pipe(node.pipe, options))
    if isinstance(node, Branch) and node.keyword == "if":
        return _branch(_pipe(node.pipe, options), _nodes(node.body, options), _nodes(node.otherwise, options))
    raise SlowError


def _written(value: Value) -> Made:
    def write(data: Struct) -> str:
        found = value(data)
        if found.__class__ is str:
            return found
        if found is None:
            raise SlowError
        return text_of(found)

    return write


def _branch(condition: Value, body: Made, otherwise: Made) -> Made:
    return lambda data: body(data) if truth(condition(data)) else otherwise(data)


def _pipe(pipe: Pipe, options: Options) -> Value:
    """The value of one command without variables."""
    if pipe.variables or len(pipe.commands) > 1:
        raise SlowError
    first, *arguments = pipe.commands[0]
    if isinstance(first, Function):
        return _call(first.name, [_operand(argument, options) for argument in arguments], options)
    if arguments:
        raise SlowError
    return _operand(first, options)


def _operand(operand: Operand, options: Options) -> Value:
    if isinstance(operand, Field):
        return _field(operand.names)
    if isinstance(operand, Const):
        value = operand.value
        return lambda _: value
    if isinstance(operand, Pipe):
        return _pipe(operand, options)
    raise SlowError


def _field(names: tuple[str, ...]) -> Value:
    """A chain of fields of structs."""

    def find(data: Struct) -> GoValue:
        value: GoValue = data
        for name in names:
            if value.__class__ is not Struct:
                raise SlowError
            try:
                value = value.fields[name]
            except KeyError:
                raise SlowError from None
        if value.__class__ is Unknown:
            raise SlowError
        return value

    return find


def _call(name: str, arguments: list[Value], options: Options) -> Value:
    """A function of Go's or of the options'; `and` and `or` stop when they know."""
    own = options.functions.get(name)
    if own is None and name in LAZY and arguments:
        stops_at = name == "or"

        def lazily(data: Struct) -> GoValue:
            value: GoValue = None
            for argument in arguments:
                value = argument(data)
                if truth(value) == stops_at:
                    return value
            return value

        return lazily
    function: Callable[..., GoValue | NoValue] = own if own is not None else BUILTINS[name]

    def call(data: Struct) -> GoValue:
        value = function(*[argument(data) for argument in arguments])
        if isinstance(value, NoValue):
            raise SlowError
        return value

    return call
