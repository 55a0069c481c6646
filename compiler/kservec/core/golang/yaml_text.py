"""YAML as `sigs.k8s.io/yaml` writes it, for texts that KServe puts into objects after it has edited them.

Decides the spelling of a JSON value, byte for byte: the order of keys, quotes, folded lines. Must not know what the
value is for. PyYAML's emitter and go-yaml's are both translations of libyaml's, so that only styles are chosen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cmp_to_key
from typing import TYPE_CHECKING, Final

import yaml

from kservec.core.digits import integer
from kservec.core.text.scalars import NUMBER_STARTS, WORDS, BadNumberError, resolve

if TYPE_CHECKING:
    from kservec.core.tree import Json

WIDTH: Final = 80
MOST_PLAIN_DIGITS: Final = 21
"""From how many digits on sigs.k8s.io/yaml's JSON writes a whole number with an exponent."""

_match_digits = re.compile(r"[0-9]*").match
_find_digits_before = re.compile(r"[0-9]+\Z").search
_match_base_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z").match
_match_date = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}\S*)?\Z").match
_PLAIN: Final = (True, True)


def yaml_text(value: Json) -> str:
    """The text that `yaml.Marshal` makes of a value read from JSON."""
    written: str = yaml.emit(_stream(value), allow_unicode=True, width=WIDTH)
    # PyYAML ends a document whose last line is a blank one of a block with dots; go-yaml does not.
    return written.removesuffix("...\n") if written.endswith("\n...\n") else written


def _stream(value: Json) -> Iterator[yaml.Event]:
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    yield from _events(value)
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _events(value: Json) -> Iterator[yaml.Event]:
    if isinstance(value, dict):
        yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=False)
        for key in sorted(value, key=NATURALLY):
            yield _scalar(key)
            yield from _events(value[key])
        yield yaml.MappingEndEvent()
    elif isinstance(value, list):
        yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False)
        for item in value:
            yield from _events(item)
        yield yaml.SequenceEndEvent()
    else:
        yield _scalar(value)


def _scalar(value: Json) -> yaml.ScalarEvent:
    text, style = (value, _style(value)) if isinstance(value, str) else (_word(value), None)
    return yaml.ScalarEvent(None, None, _PLAIN, text, style=style)


def _style(text: str) -> str | None:
    """A block for lines, quotes for what would be read as another type or is a number to other readers of YAML."""
    if "\n" in text:
        return "|"
    return None if reads_as_text(text) else '"'


def reads_as_text(text: str) -> bool:
    """Whether a plain scalar is text to go-yaml, and no number of base 60 to anybody."""
    if text in WORDS:
        return False
    if text[0] not in NUMBER_STARTS:
        return True
    try:
        return isinstance(resolve(text), str) and not _match_base_60(text) and not _match_date(text)
    except BadNumberError:
        return False


def _word(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return shortest(value) if isinstance(value, float) else str(value)


def shortest(number: float) -> str:
    """A float in Go's format `g` with the fewest digits that tell it from all others; whole ones without a point.

    Go strconv/ftoa.go, formatDigits: an exponent from 1e21 on in integers, and below 1e-4 and from 1e6 on in others.
    """
    if number.is_integer() and abs(number) < 10**MOST_PLAIN_DIGITS and abs(number) < 1 << 63:
        return str(int(number))
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = exponent + len(digits) - 1
    if -4 <= power < MOST_PLAIN_DIGITS:
        return f"{Decimal(repr(number)).normalize():f}" if power < 6 else _with_exponent(sign, digits, power)
    return _with_exponent(sign, digits, power)


def _with_exponent(sign: int, digits: tuple[int, ...], power: int) -> str:
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{'-' * sign}{first}{'.' if rest else ''}{rest}e{power:+03d}"


def natural_order(left: str, right: str) -> int:
    """How two keys compare: letters by code point and after all else, runs of digits as numbers.

    go-yaml v2, keyList
    """
    i = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), -1)
    if i < 0:
        return len(left) - len(right)
    ours, theirs = left[i], right[i]
    if ours.isalpha() or theirs.isalpha():
        return (ours.isalpha(), ours) > (theirs.isalpha(), theirs) or -1
    before = _find_digits_before(left[:i])
    lead = "1" if "0" in (ours, theirs) and before and before[0].strip("0") else ""
    return _number_at(left, i, lead) > _number_at(right, i, lead) or -1


def _number_at(text: str, i: int, lead: str) -> tuple[int, int, str]:
    found = _match_digits(text, i)
    digits = found[0] if found else ""
    return integer(lead + digits or "0"), len(digits), text[i]


NATURALLY: Final = cmp_to_key(natural_order)
