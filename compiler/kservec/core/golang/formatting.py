"""Go's fmt for the values that templates deal in: what `print` and `printf` make of them.

Decides the text of a value under a verb. Must not know templates; a verb or value outside the subset is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

from kservec.core.digits import integer
from kservec.core.patterns import Pattern

MAX_WIDTH: Final = 1_000_000
"""Go's own limit of widths and precisions."""


class Struct(NamedTuple):
    """A Go struct: its type's name, and its fields by Go name.

    A value under a pointer is the value itself; a nil pointer is a `NilPointer`.
    """

    type: str
    fields: Mapping[str, GoValue]


class NilPointer(NamedTuple):
    """A nil pointer to a value of that type."""

    type: str


class Unknown(NamedTuple):
    """A value that exists only in a cluster; asking for it is refused, with this reason."""

    reason: str


GoValue: TypeAlias = (
    "bool | int | float | str | Sequence[GoValue] | Mapping[str, GoValue] | Struct | NilPointer | Unknown | None"
)
"""What a template may meet. None is nil; a mapping is a Go map, in which a key may be missing; a list is a slice."""


class FormatError(Exception):
    """A value or verb outside the subset, or a value that cannot be used that way. `unsupported`: Go could."""

    def __init__(self, message: str, *, unsupported: bool = False) -> None:
        super().__init__(message)
        self.unsupported = unsupported


_DIRECTIVE: Final = Pattern(r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?:(?P<dot>\.)(?P<precision>\d*))?(?P<verb>.|\Z)", re.S)
_PLAIN_VERBS: Final = {"v", "s", "d", "q", "t", "x", "X", "o", "b", "c", "U", "e", "E", "f", "F", "g", "G"}
_NUMBER_VERBS: Final = {"d": "d", "x": "x", "X": "X", "o": "o", "b": "b"}


def sprint(values: Sequence[GoValue]) -> str:
    """`fmt.Sprint`: a space between two operands of which neither is a string."""
    parts: list[str] = []
    for i, value in enumerate(values):
        if i and not isinstance(value, str) and not isinstance(values[i - 1], str):
            parts.append(" ")
        parts.append(text_of(value))
    return "".join(parts)


def sprintln(values: Sequence[GoValue]) -> str:
    """`fmt.Sprintln`: always a space between, and a newline."""
    return " ".join(map(text_of, values)) + "\n"


def sprintf(pattern: str, values: Sequence[GoValue]) -> str:
    """`fmt.Sprintf`, without `*`, argument indices, `%T` and `%p`.

    Raises:
        FormatError: the pattern needs one of those, or a value has no text.
    """
    used = 0
    parts: list[str] = []
    at = 0
    for found in _DIRECTIVE.finditer(pattern):
        parts.append(pattern[at : found.start()])
        at = found.end()
        verb = found["verb"]
        if verb == "%":
            parts.append("%")
        elif not verb:
            parts.append("%!(NOVERB)")
        elif verb in "*[Tp":
            raise FormatError(f"printf verb {found[0]!r} is not supported", unsupported=True)
        elif used >= len(values):
            parts.append(f"%!{verb}(MISSING)")
        else:
            parts.append(_formatted(found, values[used]))
            used += 1
    parts.append(pattern[at:])
    if used < len(values):
        extra = ", ".join(_typed(v) for v in values[used:])
        parts.append(f"%!(EXTRA {extra})")
    return "".join(parts)


def text_of(value: GoValue) -> str:
    """`%v` of a value.

    Raises:
        FormatError: it is a struct, or known only to a cluster.
    """
    match value:
        case None | NilPointer():
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _general(value)
        case str():
            return value
        case Struct() | Unknown():
            raise _no_text(value)
        case Mapping():
            return "map[" + " ".join(f"{k}:{text_of(value[k])}" for k in sorted(value)) + "]"
        case _:
            return "[" + " ".join(map(text_of, value)) + "]"


def type_of(value: GoValue) -> str:
    """The name of a value's Go type."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float64"
        case str():
            return "string"
        case Struct():
            return value.type
        case NilPointer():
            return f"*{value.type}"
        case Mapping():
            return "map[string]string"
        case _:
            return "[]string"


def quoted(text: str) -> str:
    """`strconv.Quote`."""
    simple = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    simple["\v"] = "\\v"
    return '"' + "".join(simple.get(c) or (c if c.isprintable() else _code_escape(c)) for c in text) + '"'


def _code_escape(char: str) -> str:
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _no_text(value: Struct | Unknown) -> FormatError:
    if isinstance(value, Unknown):
        return FormatError(value.reason, unsupported=True)
    return FormatError(f"a {value.type} as a whole has no stable text", unsupported=True)


def _typed(value: GoValue) -> str:
    return "<nil>" if value is None else f"{type_of(value)}={text_of(value)}"


def _general(value: float) -> str:
    """`%v` of a float: shortest digits, an exponent below 1e-4 and from 1e21."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    if value == 0 or 1e-4 <= abs(value) < 1e21:
        digits = f"{Decimal(repr(value)):f}"
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    sign, digits_tuple, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, digits_tuple)).rstrip("0")
    power = len(digits_tuple) - 1 + int(exponent)
    fraction = f".{digits[1:]}" if digits[1:] else ""
    return f"{'-' * sign}{digits[0]}{fraction}e{power:+03d}"


def _formatted(found: re.Match[str], value: GoValue) -> str:
    """One directive applied to one value."""
    width, precision = integer(found["width"] or "0"), integer(found["precision"] or "0") if found["dot"] else None
    if max(width, precision or 0) > MAX_WIDTH:
        raise FormatError(f"printf width in {found[0]!r} is too large")
    flags, verb = found["flags"], found["verb"]
    if verb not in _PLAIN_VERBS or "#" in flags:
        raise FormatError(f"printf verb {found[0]!r} is not supported", unsupported=True)
    text = _verb(verb, flags, precision, value)
    is_plain = text is not None and isinstance(value, str | int | float)
    if not is_plain and (width or precision is not None):
        raise FormatError(f"printf {found[0]!r} of a {type_of(value)} is not supported", unsupported=True)
    if text is None:
        return f"%!{verb}({_typed(value)})"
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags and isinstance(value, int | float) and not isinstance(value, bool):
        return text.zfill(width)
    return text.rjust(width)


def _verb(verb: str, flags: str, precision: int | None, value: GoValue) -> str | None:
    """The text of a value under a verb before padding; None if the verb does not go with its type."""
    if verb == "v" and not (isinstance(value, int | float) and not isinstance(value, bool)):
        return text_of(value)
    match value:
        case bool():
            return text_of(value) if verb == "t" else None
        case int():
            return _integer(verb, flags, precision, value)
        case float():
            return _float(verb, flags, precision, value)
        case str():
            return _string(verb, precision, value)
        case None | NilPointer():
            return None
        case Struct() | Unknown():
            raise _no_text(value)
        case _ if verb == "s":
            return text_of(value)
        case _:
            raise FormatError(f"printf %{verb} of a {type_of(value)} is not supported", unsupported=True)


def _signed(text: str, flags: str) -> str:
    if text.startswith("-"):
        return text
    return "+" + text if "+" in flags else " " + text if " " in flags else text


def _integer(verb: str, flags: str, precision: int | None, value: int) -> str | None:
    if verb == "U":
        return f"U+{value & (2**64 - 1):04X}"
    if verb in "cq":
        char = chr(value) if 0 <= value < 0x110000 else "\ufffd"
        escaped = "\\'" if char == "'" else '"' if char == '"' else quoted(char)[1:-1]
        return char if verb == "c" else f"'{escaped}'"
    form = _NUMBER_VERBS.get("d" if verb == "v" else verb)
    if form is None:
        return None
    digits = f"{abs(value):{form}}".rjust(precision or 0, "0")
    return _signed(("-" if value < 0 else "") + digits, flags)


def _float(verb: str, flags: str, precision: int | None, value: float) -> str | None:
    if verb in "vgG" and precision is None:
        text = _general(value)
        return _signed(text.upper() if verb == "G" else text, flags)
    if verb in "eEfF":
        return _signed(f"{value:.{6 if precision is None else precision}{verb}}", flags)
    if verb in "vgG":
        raise FormatError(f"printf %{verb} with a precision is not supported", unsupported=True)
    return None


def _string(verb: str, precision: int | None, value: str) -> str | None:
    text = value if precision is None else value[:precision]
    match verb:
        case "s":
            return text
        case "q":
            return quoted(text)
        case "x":
            return text.encode().hex()
        case "X":
            return text.encode().hex().upper()
        case _:
            return None
