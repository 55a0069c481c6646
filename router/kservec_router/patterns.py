"""Regular expressions as Go reads them, which take a time that grows with the text alone, whatever the expression is.

Clients choose the names of their headers, and Python's expressions take as long as they like for `X-.*-Id$` and a name
of 64 kB. So an expression becomes the states of an automaton, and a text goes through all that apply at once. What a
single character may be is left to Python's. It must not know what is matched, nor why.

Names hold no line ends and are matched without regard to case: the flags i, m and s change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z", "upper": "A-Z", "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_ATOM = r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[]"
_PYTHON_ONLY = r"\(\?(?:[=!#>(]|<[=!]|P[=>])|\\[1-9Z]|[*+?}]\+"
# What Python reads and RE2 does not: look-around, back-references, possessive repetition...
_NOT_RE2 = re.compile(rf"(?:{_ATOM})*?(?:{_PYTHON_ONLY})", re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<open>\((?:\?P<\w+>|\?[ims-]*:)?(?!\?))|(?P<flags>\(\?[ims-]+\))|(?P<close>\))|(?P<either>\|)"
    rf"|(?P<repeat>(?:[*+?]|{{\d+(?:,\d*)?}})\??)|(?P<place>\^|\$|\\[AZbB])|(?P<one>\\(?:x..|0[0-7]{{0,2}})|{_ATOM})",
    re.DOTALL,
)
_REPEATED = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MOST_COPIES = 1000  # as in RE2
_MOST_PARTS = 3000  # each may cost its time for each character
_REMEMBERED = 1024
_ALPHABET = [chr(number) for number in range(256)]
_WORD = frozenset(filter(re.compile(r"\w", re.ASCII).match, _ALPHABET))


class State(NamedTuple):
    """Where a text may have got to.

    `taken`: the characters of which one leads on; None if none is needed. `place`: the assertion that must hold where
    none is. `others`: the states that this one leads to.
    """

    taken: frozenset[str] | None = None
    place: str = ""
    others: tuple[int, ...] = ()


_MATCH = 0
Part = Callable[["_States", int], int]
"""Adds the states of a part of an expression in front of a state, and gives the first of them."""


class Pattern:
    """An expression that is ready.

    Raises:
        re.error: the expression is none, or too long.
        OverflowError, RecursionError: likewise.
    """

    def __init__(self, text: str) -> None:
        translated = _translated(text)
        tokens = _Tokens(translated)
        states = _States()
        self._first = states.build(tokens.either(), _MATCH)
        tokens.end()
        self._states = states.all
        self._step = lru_cache(_REMEMBERED)(self._stepped)

    def found(self, text: str) -> bool:
        """Whether the expression matches anywhere in a text."""
        states: frozenset[int] | None = frozenset()
        before = ""
        for after in (*text, ""):
            if (states := self._step(states, before, after)) is None:
                return True
            before = "w" if after in _WORD else "-"
        return False

    def _stepped(self, states: frozenset[int], before: str, after: str) -> frozenset[int] | None:
        """The states behind the next character; None when the expression has matched before it.

        Args:
            states: those behind the last character.
            before: whether that was `w`, part of a word, or `-`, another; empty at the beginning.
            after: the next character; empty at the end.
        """
        left, seen = [self._first, *states], set(states)
        reached: set[int] = set()
        while left:
            if (number := left.pop()) == _MATCH:
                return None
            taken, place, others = self._states[number]
            if taken is None and (not place or _holds(place, before, after)):
                left += [other for other in others if other not in seen]
                seen.update(others)
            elif taken is not None and after in taken:
                reached.update(others)
        return frozenset(reached)


def _translated(text: str) -> str:
    """An expression of Go's in Python's words.

    Raises:
        re.error: Go cannot read it.
    """
    for name, characters in _CLASSES.items():
        text = text.replace(f"[:{name}:]", characters)
    if _NOT_RE2.match(text) or "[[" in text:
        raise re.error("not of Go's syntax")
    text = text.replace(r"\z", r"\Z")
    re.compile(text)
    return text


def _holds(place: str, before: str, after: str) -> bool:
    """Whether an assertion holds between two characters."""
    if place in ("^", r"\A"):
        return not before
    if place in ("$", r"\Z"):
        return not after
    return ((before == "w") != (after in _WORD)) == (place == r"\b")


class _States:
    """The states of an expression, from its end to its beginning."""

    def __init__(self) -> None:
        self.all = [State()]
        self._parts = 0

    def build(self, part: Part, after: int) -> int:
        """Add what a part needs."""
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise re.error("too long")
        return part(self, after)

    def add(self, state: State) -> int:
        """Add one state; its number."""
        self.all.append(state)
        return len(self.all) - 1


def _one(state: State) -> Part:
    return lambda states, after: states.add(state._replace(others=(after,)))


def _in_turn(parts: Sequence[Part]) -> Part:
    def build(states: _States, after: int) -> int:
        for part in reversed(parts):
            after = states.build(part, after)
        return after

    return build


def _any_of(parts: Sequence[Part]) -> Part:
    return lambda states, after: states.add(State(others=tuple(states.build(part, after) for part in parts)))


def _repeated(part: Part, least: int, most: int | None) -> Part:
    def build(states: _States, after: int) -> int:
        first = after
        if most is None:
            first = states.add(State())
            states.all[first] = State(others=(states.build(part, first), after))
        for _ in range(least, most or 0):
            first = states.add(State(others=(states.build(part, first), after)))
        for _ in range(least):
            first = states.build(part, first)
        return first

    return build


class _Tokens:
    """An expression that Python could read, cut up."""

    def __init__(self, text: str) -> None:
        self._left = [(found.lastgroup or "", found[0]) for found in _TOKEN.finditer(text)][::-1]

    def _next_is(self, kind: str) -> bool:
        return bool(self._left) and self._left[-1][0] == kind

    def end(self) -> None:
        """Make sure that nothing is left."""
        if self._left:
            raise re.error("unbalanced parenthesis")

    def either(self) -> Part:
        """Read one of several."""
        parts = [self._in_turn()]
        while self._next_is("either"):
            self._left.pop()
            parts.append(self._in_turn())
        return parts[0] if len(parts) == 1 else _any_of(parts)

    def _in_turn(self) -> Part:
        parts: list[Part] = []
        while self._left and not (self._next_is("either") or self._next_is("close")):
            part = self._one()
            if self._next_is("repeat"):
                part = _repeated(part, *_bounds(self._left.pop()[1]))
            parts.append(part)
        return parts[0] if len(parts) == 1 else _in_turn(parts)

    def _one(self) -> Part:
        kind, text = self._left.pop()
        if kind == "open":
            part = self.either()
            if not self._next_is("close"):
                raise re.error("missing parenthesis")
            self._left.pop()
            return part
        if kind == "flags":
            return _in_turn(())
        if kind == "repeat":
            raise re.error("nothing to repeat")
        return _one(State(place=text) if kind == "place" else State(taken=_characters(text)))


def _bounds(text: str) -> tuple[int, int | None]:
    """How often a part is there at least, and at most."""
    if text[0] != "{":
        return _REPEATED[text[0]]
    least, comma, most = text.rstrip("?")[1:-1].partition(",")
    bounds = int(least), int(most) if most else None if comma else int(least)
    if max(bounds[0], bounds[1] or 0) > _MOST_COPIES:
        raise re.error("too many repetitions")
    return bounds


def _characters(text: str) -> frozenset[str]:
    """The characters that a class, an escape, a dot or a letter takes."""
    return frozenset(filter(re.compile(text, re.IGNORECASE | re.ASCII).fullmatch, _ALPHABET))
