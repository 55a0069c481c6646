"""The words of Go templates: tokens, literals, and the nodes that a parsed template is made of.

Decides where an action begins and ends, what trim markers take away, and what a literal stands for, by the rules of
Go's text/template/parse. Must not know which sequences of tokens make sense: that is `template_parse`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias

from kservec.core.digits import MOST_DIGITS
from kservec.core.golang.template_error import TemplateError
from kservec.core.patterns import Pattern


class Const(NamedTuple):
    """A literal: bool, int, float or str, as written in `source`."""

    value: bool | int | float | str
    source: str
    offset: int


class Nil(NamedTuple):
    """The literal `nil`."""

    offset: int


class Dot(NamedTuple):
    """The current value, `.`."""

    offset: int


class Field(NamedTuple):
    """Fields of the current value, `.A.B`."""

    names: tuple[str, ...]
    offset: int


class Variable(NamedTuple):
    """A variable and fields of it, `$x.A`."""

    name: str
    names: tuple[str, ...]
    offset: int


class Function(NamedTuple):
    """The name of a function."""

    name: str
    offset: int


class Chain(NamedTuple):
    """Fields of a pipeline in parentheses, or of a function's result, `(f x).A`."""

    start: Pipe | Function
    names: tuple[str, ...]
    offset: int


class Pipe(NamedTuple):
    """Commands joined by `|`, whose result may go to variables: `$x := a | b`."""

    variables: tuple[str, ...]
    is_assignment: bool
    commands: tuple[tuple[Operand, ...], ...]
    offset: int


class Text(NamedTuple):
    """Text as it is."""

    text: str
    offset: int


class Action(NamedTuple):
    """A pipeline whose value is written, unless it goes to a variable."""

    pipe: Pipe
    offset: int


class Branch(NamedTuple):
    """`if`, `with` or `range`."""

    keyword: str
    pipe: Pipe
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]
    offset: int


class Jump(NamedTuple):
    """`break` or `continue`."""

    keyword: str
    offset: int


Operand: TypeAlias = "Const | Nil | Dot | Field | Variable | Function | Chain | Pipe"
Node: TypeAlias = "Text | Action | Branch | Jump"


class Token(NamedTuple):
    """A piece of an action. `kind` is the name of a group of `_TOKEN`, or `end` for the closing delimiter."""

    kind: str
    text: str
    offset: int


_TOKEN: Final = Pattern(
    r"""(?P<space>[ \t\r\n]+) | (?P<raw>`[^`]*`) | (?P<string>"(?:[^"\\\n]|\\.)*") | (?P<char>'(?:[^'\\\n]|\\.)+')
    | (?P<number>[+-]?(?:\d|\.\d)(?:[\w.]|(?<=[eEpP])[+-])*) | (?P<field>\.\w+) | (?P<dot>\.) | (?P<variable>\$\w*)
    | (?P<word>\w+) | (?P<declare>:=) | (?P<assign>=) | (?P<pipe>\|) | (?P<open>\() | (?P<close>\)) | (?P<comma>,)""",
    re.VERBOSE,
)
_END: Final = Pattern(r"(?P<trim>[ \t\r\n]-\}\})|\}\}")
_AFTER_WORD: Final = " \t\r\n.,|:)("
_SPACES: Final = " \t\r\n"
_ESCAPE: Final = Pattern(
    r"\\(?:([abfnrtv\\\"'])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.?))", re.DOTALL
)
_SIMPLE_ESCAPES: Final = dict(zip("abfnrtv\\\"'", "\a\b\f\n\r\t\v\\\"'", strict=True))


def lex(template: str) -> list[Token | Text]:
    """Texts, and tokens of actions each closed by an `end` token. Comments are gone and trim markers have acted."""
    out: list[Token | Text] = []
    at = 0
    trim_next = False
    while True:
        start = template.find("{{", at)
        text = template[at:] if start < 0 else template[at:start]
        inside = start + 2
        trim = start >= 0 and template.startswith("-", inside) and template[inside + 1 : inside + 2] in tuple(_SPACES)
        inside += 2 * trim
        text = text.lstrip(_SPACES) if trim_next else text
        text = text.rstrip(_SPACES) if trim else text
        if text:
            out.append(Text(text, at))
        if start < 0:
            return out
        at, trim_next = _lex_action(template, start, inside, out)


def _lex_action(template: str, start: int, at: int, out: list[Token | Text]) -> tuple[int, bool]:
    """Append the tokens of one action. Returns where it ends, and whether it trims what follows."""
    if template.startswith("/*", at):
        close = template.find("*/", at + 2)
        end = _END.match(template, close + 2) if close >= 0 else None
        if end is None:
            raise TemplateError("comment is not closed, or something follows it", start)
        return end.end(), end["trim"] is not None
    while True:
        end = _END.match(template, at)
        if end is not None:
            out.append(Token("end", "}}", at))
            return end.end(), end["trim"] is not None
        found = _TOKEN.match(template, at)
        if found is None:
            raise _bad_character(template, start, at)
        token = Token(found.lastgroup or "", found[0], at)
        at = found.end()
        if token.kind == "space" and _END.match(template, at - 1):
            token, at = token._replace(text=token.text[:-1]), at - 1
        if token.kind in {"field", "word", "variable", "number"}:
            _check_terminated(template, token, at)
        if token.text:
            out.append(token)


def _check_terminated(template: str, token: Token, at: int) -> None:
    following = template[at : at + 1]
    if following and following not in _AFTER_WORD and not template.startswith("}}", at):
        raise TemplateError(f"bad character {following!r} after {token.text!r}", at)


def _bad_character(template: str, start: int, at: int) -> TemplateError:
    if at >= len(template):
        return TemplateError("action is not closed by }}", start)
    if template[at] in "\"'`":
        return TemplateError(f"unterminated quote {template[at : at + 10]!r}", at)
    return TemplateError(f"unexpected {template[at]!r} in an action", at)


def literal(token: Token) -> int | float | str:
    """The value of a string, character or number token.

    Raises:
        TemplateError: Go would not read it.
    """
    match token.kind:
        case "raw":
            return token.text[1:-1].replace("\r", "")
        case "string":
            return _unquote(token)
        case "char":
            text = _unquote(token)
            if len(text) != 1:
                raise TemplateError(f"malformed character constant: {token.text}", token.offset)
            return ord(text)
        case _:
            return _number(token)


def _unquote(token: Token) -> str:
    quote = token.text[0]

    def replace(match: re.Match[str]) -> str:
        simple, x, u, long, octal, bad = match.groups()
        if bad is not None or (simple in {'"', "'"} and simple != quote):
            raise TemplateError(f"bad escape {match[0]!r} in {token.text}", token.offset + match.start())
        if simple:
            return _SIMPLE_ESCAPES[simple]
        return chr(int(octal, 8) if octal else int(x or u or long, 16))

    try:
        return _ESCAPE.sub(replace, token.text[1:-1])
    except (ValueError, OverflowError):
        raise TemplateError(f"bad escape in {token.text}", token.offset) from None


def _number(token: Token) -> int | float:
    text = token.text.replace("_", "")
    if len(text) > MOST_DIGITS:
        raise TemplateError("a number has too many digits", token.offset)
    if text.endswith("i"):
        raise TemplateError("complex numbers are not supported", token.offset, unsupported=True)
    try:
        if re.fullmatch(r"[+-]?0[0-7]+", text):
            return int(text, 8)
        if re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|[1-9]\d*|0)", text):
            return int(text, 0)
        return float.fromhex(text) if "x" in text.lower() and "p" in text.lower() else float(text)
    except (ValueError, OverflowError):
        raise TemplateError(f"bad number syntax: {token.text!r}", token.offset) from None
