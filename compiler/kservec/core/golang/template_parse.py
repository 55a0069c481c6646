"""Reads Go templates: from text to a tree of nodes, by the rules of Go's text/template/parse.

Decides what a template says. Must not know what its data is, what its functions do, or what the output is for.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from kservec.core.golang.template_error import Reach, TemplateError
from kservec.core.golang.template_syntax import (
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
    Token,
    Variable,
    lex,
    literal,
)

MAX_DEPTH: Final = 50
"""How deep parentheses and blocks may nest."""

_BRANCHES: Final = frozenset(("if", "with", "range"))
_UNSUPPORTED: Final = frozenset(("block", "define", "template"))
_KEYWORDS: Final = _BRANCHES | _UNSUPPORTED | {"break", "continue", "else", "end"}


def parse(template: str, functions: Container[str]) -> tuple[Node, ...]:
    """Read a template.

    Args:
        template: the text.
        functions: the names that may be called.

    Raises:
        TemplateError: it is no template, or has a construct that is not supported.
    """
    parser = _Parser(lex(template), functions)
    nodes, stop = parser.nodes(0)
    if stop is not None:
        raise TemplateError(f"unexpected {{{{{stop.text}}}}}", stop.offset, reach=Reach.BACK)
    return nodes


class _Parser:
    """A cursor over tokens."""

    def __init__(self, tokens: list[Token | Text], functions: Container[str]) -> None:
        self.tokens = tokens
        self.functions = functions
        self.at = 0
        self.depth = 0
        self.loops = 0
        self.variables = ["$"]

    def nodes(self, opened_at: int, *, nested: bool = False) -> tuple[tuple[Node, ...], Token | None]:
        """Nodes up to `else`, `end` or the end of the template; and that keyword."""
        found: list[Node] = []
        while self.at < len(self.tokens):
            item = self.tokens[self.at]
            if isinstance(item, Text):
                self.at += 1
                found.append(item)
                continue
            word = self.peek()
            if word.kind == "word" and word.text in {"else", "end"}:
                self.take()
                return tuple(found), word
            found.append(self.node(word))
        if nested:
            message = "unexpected end of the template: an {{end}} is missing"
            raise TemplateError(message, opened_at, reach=Reach.ONWARD)
        return tuple(found), None

    def node(self, word: Token) -> Node:
        """One action or block."""
        if word.kind != "word" or word.text not in _KEYWORDS:
            return Action(self.pipe("command", "end"), word.offset)
        self.take()
        if word.text in _BRANCHES:
            return self.branch(word)
        if word.text in _UNSUPPORTED:
            raise TemplateError(f"{{{{{word.text}}}}} is not supported", word.offset, unsupported=True)
        if not self.loops:
            raise TemplateError(f"{{{{{word.text}}}}} outside {{{{range}}}}", word.offset, reach=Reach.BACK)
        self.expect_end(word)
        return Jump(word.text, word.offset)

    def branch(self, word: Token) -> Branch:
        """`if`, `with` or `range`, from behind the keyword through its `end`."""
        self.enter(word)
        n = len(self.variables)
        pipe = self.pipe(word.text, "end")
        self.loops += word.text == "range"
        body, stop = self.nodes(word.offset, nested=True)
        self.loops -= word.text == "range"
        otherwise: tuple[Node, ...] = ()
        if stop is not None and stop.text == "else":
            otherwise = self.otherwise(word)
        elif stop is not None:
            self.expect_end(stop)
        del self.variables[n:]
        self.depth -= 1
        return Branch(word.text, pipe, body, otherwise, word.offset)

    def otherwise(self, word: Token) -> tuple[Node, ...]:
        """What follows `else`, through the `end`; `else if` is an `if` inside it that shares the `end`."""
        again = self.peek()
        if again.kind == "word" and again.text == word.text and word.text != "range":
            self.take()
            return (self.branch(again),)
        self.expect_end(again)
        nodes, stop = self.nodes(word.offset, nested=True)
        if stop is None or stop.text == "else":
            raise TemplateError("expected {{end}}; found {{else}}", again.offset)
        self.expect_end(stop)
        return nodes

    def pipe(self, context: str, close: str) -> Pipe:
        """A pipeline up to and with the token that closes it."""
        start = self.peek()
        variables, is_assignment = self.declarations(context)
        commands: list[tuple[Operand, ...]] = []
        while True:
            token = self.peek()
            if token.kind == close:
                self.take()
                break
            commands.append(self.command())
        if not commands:
            raise TemplateError(f"missing value for {context}", start.offset)
        for command in commands[1:]:
            if isinstance(command[0], Const | Dot | Nil):
                raise TemplateError("a value cannot take the result of another command", command[0].offset)
        return Pipe(variables, is_assignment, tuple(commands), start.offset)

    def declarations(self, context: str) -> tuple[tuple[str, ...], bool]:
        """The variables that a pipeline sets."""
        mark = self.at
        first = self.peek()
        if first.kind != "variable":
            return (), False
        self.take()
        second = None
        if self.peek().kind == "comma" and context == "range":
            self.take()
            second = self.take()
            if second.kind != "variable":
                raise TemplateError("range can only set variables", second.offset)
        if self.peek().kind not in {"declare", "assign"}:
            if second is not None:
                raise TemplateError("expected := or =", self.peek().offset)
            self.at = mark
            return (), False
        is_assignment = self.take().kind == "assign"
        names = (first.text,) if second is None else (first.text, second.text)
        self.variables += names
        return names, is_assignment

    def command(self) -> tuple[Operand, ...]:
        """Operands up to a `|`, which is taken, or to what closes the pipeline, which is not."""
        operands: list[Operand] = []
        start = self.peek()
        while True:
            operand = self.operand()
            if operand is not None:
                operands.append(operand)
            token = self.next_token()
            if token.kind == "space":
                self.at += 1
                continue
            if token.kind == "pipe":
                self.at += 1
            elif token.kind not in {"end", "close"}:
                raise TemplateError(f"unexpected {token.text!r} in operand", token.offset)
            break
        if not operands:
            raise TemplateError("empty command", start.offset)
        return tuple(operands)

    def operand(self) -> Operand | None:
        """A term and the fields that follow it."""
        term = self.term()
        names: list[str] = []
        while self.next_token().kind == "field" and term is not None:
            names.append(self.take().text[1:])
        if not names or term is None:
            return term
        match term:
            case Field() | Variable():
                return term._replace(names=(*term.names, *names))
            case Pipe() | Function():
                return Chain(term, tuple(names), term.offset)
            case _:
                raise TemplateError("unexpected . after a literal", term.offset)

    def term(self) -> Operand | None:
        """One literal, name, variable or pipeline in parentheses; None if something else comes next."""
        token = self.peek()
        match token.kind:
            case "field":
                term: Operand = Field((token.text[1:],), token.offset)
            case "dot":
                term = Dot(token.offset)
            case "variable":
                self.check_variable(token)
                term = Variable(token.text, (), token.offset)
            case "word":
                term = self.word(token)
            case "raw" | "string" | "char" | "number":
                term = Const(literal(token), token.text, token.offset)
            case "open":
                return self.parentheses(token)
            case _:
                return None
        self.take()
        return term

    def word(self, token: Token) -> Operand:
        """A constant or the name of a function."""
        if token.text in {"true", "false"}:
            return Const(token.text == "true", token.text, token.offset)
        if token.text == "nil":
            return Nil(token.offset)
        if token.text in _KEYWORDS:
            raise TemplateError(f"unexpected {token.text!r} in operand", token.offset)
        if token.text not in self.functions:
            raise TemplateError(f"function {token.text!r} not defined", token.offset)
        return Function(token.text, token.offset)

    def parentheses(self, token: Token) -> Pipe:
        """A pipeline in parentheses."""
        self.take()
        self.enter(token)
        pipe = self.pipe("parenthesized pipeline", "close")
        self.depth -= 1
        return pipe

    def check_variable(self, token: Token) -> None:
        """Refuse a variable that nobody set."""
        if token.text not in self.variables:
            raise TemplateError(f"undefined variable {token.text!r}", token.offset, reach=Reach.BACK)

    def enter(self, token: Token) -> None:
        """Go one level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TemplateError(f"nested more than {MAX_DEPTH} levels deep", token.offset, unsupported=True)

    def expect_end(self, after: Token) -> None:
        """Take the closing delimiter."""
        token = self.take()
        if token.kind != "end":
            raise TemplateError(f"unexpected {token.text!r} in {after.text}", token.offset)

    def peek(self) -> Token:
        """The next token that is no space; spaces before it are taken."""
        token = self.next_token()
        if token.kind == "space":
            self.at += 1
            token = self.next_token()
        return token

    def take(self) -> Token:
        """The next token that is no space, taken."""
        token = self.peek()
        self.at += 1
        return token

    def next_token(self) -> Token:
        """The next token, spaces too. Actions are closed, so inside one there always is one."""
        token = self.tokens[self.at]
        if isinstance(token, Text):
            raise AssertionError(f"text inside an action at {token.offset}")  # noqa: TRY004 - never the caller's fault
        return token
