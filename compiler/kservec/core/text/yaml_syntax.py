"""What is wrong with text that is not YAML, said so that it can be mended.

Decides, from what the parser stumbled over and the text around it, which mistake was made. Must not know the parser's
state: it gets the message and two marks, and the text. The two parsers word their messages differently, so rules look
for what both have. No message repeats a value: it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import yaml

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.patterns import Pattern
from kservec.core.text.document import SourceText
from kservec.core.text.reading import CONTROL_CHARACTER, TOO_DEEP
from kservec.core.text.yaml_reader import TEMPLATE, TEMPLATE_ADVICE, TEMPLATE_MESSAGE

SYNTAX = Code(
    "yaml/syntax",
    Severity.ERROR,
    "Not valid YAML",
    "The text breaks YAML's grammar at the place shown; nothing after it in the document was read.",
)
TAB = Code(
    "yaml/tab",
    Severity.ERROR,
    "A tab used for indentation",
    "YAML is indented with spaces only. Replace each tab by spaces; most editors can do so on saving.",
)
INDENTATION = Code(
    "yaml/indentation",
    Severity.ERROR,
    "Indentation that fits nothing above it",
    "Keys of one map, and dashes of one list, stand in the same column. Move the line to where its neighbours are.",
)
UNCLOSED = Code(
    "yaml/unclosed",
    Severity.ERROR,
    "A quote or bracket that is never closed",
    "The text after an opening quote or bracket runs on to the end of the document. Add the closing one.",
)
MERGE_CONFLICT = Code(
    "yaml/merge-conflict",
    Severity.ERROR,
    "The marks of a merge conflict",
    "Git could not merge two changes of this file and left both in it, between lines of `<<<<<<<`, `=======` and "
    "`>>>>>>>`. Keep what is meant, remove the marks, and `git add` the file.",
)

_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ADVICE = {
    "\0": "remove it; a file with NUL bytes is binary, or was damaged when the disk was full or the machine stopped",
    "\x1b": "remove the colours: the text was written for a terminal (`--color=never`, `NO_COLOR=1`)",
    "\x1a": "remove it; DOS programs mark the end of a file with it",
    "\ufffe": "save the file as UTF-8",
}
_find_conflict = Pattern(r"^(?:<{7}|>{7}|\|{7})(?=[ \r\n]|\Z)", re.MULTILINE).search
_find_template = Pattern(r"\{\{|\{%").search
_match_glued_colon = Pattern(r"\s*(?:-\s+)?[\w.-]+(:)[^\s/:]").match
_match_glued_dash = Pattern(r"\s*(-)[^\s-]").match
_match_block_line = Pattern(r"\s*(?:-\s|[\w./-]+:(?:\s|\Z)|---)").match
_CLOSERS = {"[": "]", "{": "}"}
_LONGEST_KEY = 1024
_MOST_CONTROLS = 20


def without_control_characters(text: SourceText) -> tuple[SourceText, list[Diagnostic]]:
    """The text with a space for every character that YAML does not allow, and a finding for each of the first ones."""
    findings = [
        Diagnostic(
            code=CONTROL_CHARACTER,
            message=f"the character U+{ord(found[0]):04X} is not allowed in YAML",
            span=text.span(found.start(), found.end()),
            help=_ADVICE.get(found[0], "remove it, or write it as an escape in double quotes"),
        )
        for found in islice(_CONTROL.finditer(text.text), _MOST_CONTROLS)
    ]
    return text.with_blanks(_CONTROL), findings


class Stumble(NamedTuple):
    """Where the parser gave up (`at`), where what it was reading began (`began`), and what it said."""

    text: str
    at: int
    began: int
    problem: str
    context: str

    @property
    def char(self) -> str:
        """The character the parser gave up at; empty at the end of the text."""
        return self.text[self.at : self.at + 1]

    @property
    def before(self) -> str:
        """What stands before that character in its line."""
        return self.text[self.line_start(self.at) : self.at]

    def line_start(self, at: int) -> int:
        """The offset of the beginning of the line that `at` is on."""
        return self.text.rfind("\n", 0, at) + 1

    def line(self, at: int) -> str:
        """The line that `at` is on, without its end."""
        end = self.text.find("\n", at)
        return self.text[self.line_start(at) : len(self.text) if end < 0 else end].rstrip("\r")

    def line_above(self) -> int:
        """The offset of the beginning of the last line with text before the one of `at`; its own if it is the first."""
        start = self.line_start(self.at)
        return self.line_start(len(self.text[:start].rstrip()))


class Mistake(NamedTuple):
    """What was found: where, the words for it, and a second place that takes part in it."""

    code: Code
    at: int
    message: str
    advice: str
    related: tuple[int, str] | None = None


def explain_syntax_error(error: Exception, text: SourceText) -> Diagnostic:
    """The finding for what a parser raised on this text."""
    stumble = _stumble(error, text.text)
    mistake = next(found for rule in _RULES if (found := rule(stumble)) is not None)
    related: tuple[tuple[Span, str], ...] = ()
    if mistake.related is not None and mistake.related[0] != mistake.at:
        related = ((text.token(mistake.related[0]), mistake.related[1]),)
    span = text.token(mistake.at)
    return Diagnostic(code=mistake.code, message=mistake.message, span=span, help=mistake.advice, related=related)


def _stumble(error: Exception, text: str) -> Stumble:
    if not isinstance(error, yaml.MarkedYAMLError):
        return Stumble(text, 0, 0, str(error).split("\n", 1)[0], "")
    at = 0 if error.problem_mark is None else min(error.problem_mark.index, len(text))
    began = at if error.context_mark is None else error.context_mark.index
    return Stumble(text, at, began, error.problem or "", error.context or "")


def merge_conflict(text: SourceText) -> Diagnostic | None:
    """The finding about the first mark of a merge conflict, for a text that cannot be read; None without one."""
    found = _conflict(Stumble(text.text, 0, 0, "", ""))
    if found is None:
        return None
    return Diagnostic(code=found.code, message=found.message, span=text.token(found.at), help=found.advice)


def _conflict(s: Stumble) -> Mistake | None:
    found = _find_conflict(s.text)
    if found is None:
        return None
    advice = "keep what is meant of both sides, and remove the marks"
    return Mistake(MERGE_CONFLICT, found.start(), "a merge conflict begins here", advice)


def _too_deep(s: Stumble) -> Mistake | None:
    if "nesting depth" not in s.problem:
        return None
    return Mistake(TOO_DEEP, s.at, "maps and lists are nested too deeply here", "check the brackets")


def _template(s: Stumble) -> Mistake | None:
    places = (s.at, s.began) if "flow" in s.context or "simple key" in s.context else (s.at,)
    for at in places:
        found = _find_template(s.line(at))
        if found is not None:
            return Mistake(TEMPLATE, s.line_start(at) + found.start(), TEMPLATE_MESSAGE, TEMPLATE_ADVICE)
    return None


def _tab(s: Stumble) -> Mistake | None:
    indent = re.match(r"\s*", s.before)
    if s.char != "\t" and "tab" not in s.problem and (indent is None or "\t" not in indent[0]):
        return None
    at = s.at if s.char == "\t" else s.text.find("\t", s.line_start(s.at))
    return Mistake(TAB, max(at, 0), "a tab is used for indentation", "replace it by spaces")


def _reserved(s: Stumble) -> Mistake | None:
    if "cannot start any token" not in s.problem:
        return None
    sign = "a backtick" if s.char == "`" else f"`{s.char}`"
    return Mistake(SYNTAX, s.at, f"a value without quotes cannot begin with {sign}", "put the value in quotes")


def _name_of_alias(s: Stumble) -> Mistake | None:
    if "alphabetic or numeric" not in s.problem or "directive" in s.context:
        return None
    word = "an alias" if s.text[s.began : s.began + 1] == "*" else "an anchor"
    sign = s.text[s.began : s.began + 1]
    return Mistake(SYNTAX, s.began, f"`{sign}` begins {word}, but no name follows", "put the value in quotes")


def _quote(s: Stumble) -> Mistake | None:
    if "quoted scalar" not in s.context and "double-quoted" not in s.context:
        return None
    if "stream" in s.problem or "document" in s.problem:
        advice = 'add the closing quote; a quote inside single quotes is written twice, inside double quotes as `\\"`'
        return Mistake(UNCLOSED, s.began, "the quote that opens here is never closed", advice)
    at = s.text.rfind("\\", 0, s.at + 1)
    escape = s.text[at : at + 2]
    advice = "write `\\\\` for a backslash, or put the text in single quotes, where a backslash is just that"
    if escape in ("\\u", "\\U"):
        advice = "write the character itself"
    return Mistake(SYNTAX, at, f"`{escape}` begins no valid escape in double quotes", advice)


def _bracket(s: Stumble) -> Mistake | None:
    if "flow" not in s.context:
        return None
    opened = s.began if s.text[s.began : s.began + 1] in _CLOSERS else _last_bracket(s)
    bracket = s.text[opened : opened + 1]
    if s.char == "" or (s.line_start(s.at) > opened and (s.char == ":" or _match_block_line(s.line(s.at)))):
        advice = f"add the closing `{_CLOSERS.get(bracket, ']')}`"
        return Mistake(UNCLOSED, opened, "the bracket that opens here is never closed", advice)
    opening = (opened, "opened here")
    if "content" in s.problem:
        advice = "remove the comma, or put text in quotes"
        return Mistake(SYNTAX, s.at, "a value is missing before this", advice, opening)
    message = f"a comma or `{_CLOSERS.get(bracket, ']')}` is expected here"
    return Mistake(SYNTAX, s.at, message, "put text with brackets or commas in quotes", opening)


def _last_bracket(s: Stumble) -> int:
    return max(s.text.rfind("[", 0, s.at), s.text.rfind("{", 0, s.at), 0)


def _glued(s: Stumble) -> Mistake | None:
    """A colon or dash without the space after it makes the line plain text, which shows up one line later."""
    if "mapping values" not in s.problem and "':'" not in s.problem:
        return None
    for start in dict.fromkeys((s.line_start(s.began), s.line_start(s.at), s.line_above())):
        line = s.line(start)
        for match, sign in ((_match_glued_dash, "dash"), (_match_glued_colon, "colon")):
            found = match(line)
            if found is not None and start + found.start(1) != s.at:
                advice = f"write a space after the {sign}"
                return Mistake(SYNTAX, start + found.start(1), f"no space follows this {sign}", advice)
    return None


def _no_colon(s: Stumble) -> Mistake | None:
    if "':'" not in s.problem:
        return None
    if s.at - s.began > _LONGEST_KEY:
        return _long_key(s.began)
    return Mistake(SYNTAX, s.began, "this line is no `key: value`", "write a colon and a space after the key")


def _long_key(at: int) -> Mistake:
    advice = "shorten it, or write `? ` before it"
    return Mistake(SYNTAX, at, f"a key has more than {_LONGEST_KEY:,} characters", advice)


def _second_colon(s: Stumble) -> Mistake | None:
    if "mapping values" not in s.problem:
        return None
    before = s.before
    if len(before) > _LONGEST_KEY:
        return _long_key(s.line_start(s.at))
    if ": " in before:
        message = "a value without quotes cannot hold a colon and a space"
        return Mistake(SYNTAX, s.at, message, "put all of the value in quotes")
    at = s.line_start(s.at) + len(before) - len(before.lstrip())
    above = s.line_above()
    related = (above + len(s.line(above)) - len(s.line(above).lstrip()), "this has a value already")
    message = "this key is indented under a line that has a value already"
    return Mistake(INDENTATION, at, message, "give it the column of the keys it belongs to", related)


def _dash_after_key(s: Stumble) -> Mistake | None:
    if "sequence entries are not allowed" not in s.problem:
        return None
    if s.before.strip():
        advice = "write the list's items on lines of their own, or in brackets; quote the value if it is text"
        return Mistake(SYNTAX, s.at, "a list cannot begin here, on the line of its key", advice)
    return Mistake(INDENTATION, s.at, "this dash belongs to no list", "give it the column of the list's other dashes")


def _block(s: Stumble) -> Mistake | None:
    if "expected key" not in s.problem and "block end" not in s.problem and "'-' indicator" not in s.problem:
        return None
    before = s.before.strip()
    if before[-1:] in ("'", '"'):
        advice = "put all of the value in quotes; a quote inside single quotes is written twice"
        return Mistake(SYNTAX, s.at, "there is more text after the closing quote", advice)
    if s.char in ("]", "}", ","):
        return Mistake(SYNTAX, s.at, f"`{s.char}` closes or separates nothing", "remove it, or put the value in quotes")
    if before:
        return Mistake(SYNTAX, s.at, "this does not belong to what stands before it", "put the value in quotes")
    if s.text[s.began : s.began + 1] == "-":
        message, related = "a dash is expected here, to go on with the list", "the list begins here"
    else:
        message, related = "this line's indentation fits nothing above it", "the map around it begins here"
    return Mistake(INDENTATION, s.at, message, "give it the column of the lines it belongs to", (s.began, related))


def _after_document(s: Stumble) -> Mistake | None:
    if "document start" not in s.problem:
        return None
    return Mistake(SYNTAX, s.at, "there is more text after the end of the document", "write `---` before it")


def _directive(s: Stumble) -> Mistake | None:
    if not s.line(s.at).startswith("%"):
        return None
    at = s.line_start(s.at)
    return Mistake(SYNTAX, at, "a line that begins with `%` is a directive, and this one is unknown", "remove the line")


def _block_header(s: Stumble) -> Mistake | None:
    if "block scalar" not in s.context:
        return None
    advice = "begin the text on the next line, or put the value in quotes"
    return Mistake(SYNTAX, s.began, f"nothing may follow `{s.text[s.began : s.began + 1]}` in its line", advice)


def _tag(s: Stumble) -> Mistake | None:
    if "tag" not in s.context and "tag" not in s.problem:
        return None
    return Mistake(SYNTAX, s.began, "`!` begins a tag, and this one is malformed", "put the value in quotes")


def _other(s: Stumble) -> Mistake:
    return Mistake(SYNTAX, s.at, f"the parser stopped here: {s.problem}", "check the quotes and the indentation")


_RULES: tuple[Callable[[Stumble], Mistake | None], ...] = (
    _conflict,
    _too_deep,
    _template,
    _tab,
    _reserved,
    _name_of_alias,
    _quote,
    _bracket,
    _glued,
    _no_colon,
    _second_colon,
    _dash_after_key,
    _block,
    _after_document,
    _directive,
    _block_header,
    _tag,
    _other,
)
"""The most telling first; the last one always has an answer."""
