"""Faults in a single value: its type, its form, its size.

Decides the wording, and what to write instead. Must not decide what is valid: the schema does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonschema_rs import ValidationError, ValidationErrorKind

from kservec.core.diagnostics import NOT_SHOWN
from kservec.core.digits import INT64, integer
from kservec.core.patterns import Pattern
from kservec.core.schemas.faults import (
    ALTERNATIVES,
    DUPLICATE,
    ENUM,
    PATTERN,
    RANGE,
    TYPE,
    Fault,
    Subject,
    field_path,
    value_at,
)
from kservec.core.schemas.structure import QUANTITY, schema_at
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

_PATTERN_HELP = {
    "^[a-z]([-a-z0-9]*[a-z0-9])?$": "lower-case letters, digits and dashes; a letter first, no dash at the end",
    "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$": "lower-case letters, digits and dashes; no dash at either end",
    "^/.*": "an absolute path, which begins with /",
}
_TYPE_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
_LIMITS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "minLength": "needs {} or more characters",
    "maxLength": "takes no more than {} characters",
    "minItems": "needs {} or more items",
    "maxItems": "takes no more than {} items",
    "minProperties": "needs {} or more fields",
    "maxProperties": "takes no more than {} fields",
}
_is_integer = Pattern(r"[-+]?[0-9]+").fullmatch


def value_fault(error: ValidationError, path: Path, subject: Subject) -> Fault:
    """The fault that a validator's error about the value at `path` stands for."""
    value = value_at(subject.value, path, default=None)
    place = field_path(path)
    match error.kind:
        case ValidationErrorKind.Type(types=types):
            return _type_fault(path, value, types, subject)
        case ValidationErrorKind.Enum(options=options):
            return _enum_fault(path, value, [str(option) for option in options if option != ""], subject)
        case ValidationErrorKind.Pattern(pattern=pattern):
            return _pattern_fault(path, value, pattern, subject)
        case ValidationErrorKind.Format(format=form):
            reason = f"is empty, where a {form} is due" if value == "" else f"is no valid {form}"
            shown = "" if value == "" else f": {_shown(value, path, subject)}"
            return Fault(code=PATTERN, path=path, message=f"{place} {reason}{shown}")
        case ValidationErrorKind.UniqueItems():
            return Fault(
                code=DUPLICATE, path=path, message=f"{place} holds an item twice", help="remove one of the two"
            )
        case _ if error.kind.name in _LIMITS:
            bound = _LIMITS[error.kind.name].format(error.kind.value)
            return Fault(code=RANGE, path=path, message=f"{place} {bound}", label=bound)
        case _:
            return _alternatives_fault(path, subject)


def _type_fault(path: Path, value: Json, types: list[str], subject: Subject) -> Fault:
    due = " or ".join(_TYPE_WORDS[name] for name in types if name != "null")
    place = field_path(path)
    if value is None:
        message = f"{place} has no value, where {due} is due"
        return Fault(code=TYPE, path=path, message=message, label="null", help="give it a value or remove the field")
    return Fault(
        code=TYPE,
        path=path,
        message=f"{place} must be {due}, not {_kind_of(value)}{_shown_after(value, path, subject)}",
        label=f"{due} is due",
        help=_type_help(value, types, schema_at(subject.schema, path)) if _is_quotable(path, subject) else "",
    )


def _type_help(value: Json, types: list[str], schema: Json) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, dict):
        return "write it as a list item, with a dash in front" if "array" in types else ""
    if isinstance(value, list):
        return "remove the dash: this is one mapping, not a list" if "object" in types and len(value) == 1 else ""
    if isinstance(value, str):
        return _unquote_help(value, types)
    if "string" not in types:
        return ""
    if isinstance(value, bool):
        return f'put it in quotes: "{text}" (unquoted yes, no, on and off are booleans, too)'
    if QUANTITY in schema.get("pattern", "") and float(value * 1000).is_integer():
        return f'write "{text}" in quotes, or {round(value * 1000)}m'
    return f'put it in quotes: "{text}"'


def _unquote_help(value: str, types: list[str]) -> str:
    if "object" in types and "\n" in value:
        return "this is text, because of the | or > before it: write the mapping itself"
    if "array" in types:
        return f"write it as a list item: - {_shortened(value)}"
    if ("integer" in types or "number" in types) and _is_integer(value):
        number = integer(value)
        return f"write {number}, without quotes" if -INT64 <= number < INT64 else "write a number that fits in 64 bits"
    if "boolean" in types and value.lower() in ("true", "false"):
        return f"write {value.lower()}, without quotes"
    return ""


def _enum_fault(path: Path, value: Json, options: list[str], subject: Subject) -> Fault:
    near = closest(value, options) if isinstance(value, str) and _is_quotable(path, subject) else None
    listed = ", ".join(options)
    wrong = "is empty" if value == "" else f"cannot be {_shown(value, path, subject)}"
    return Fault(
        code=ENUM,
        path=path,
        message=f"{field_path(path)} {wrong}: it takes {listed}",
        label="not one of the allowed values",
        help=f"did you mean {near}?" if near else "",
        once=str(value),
    )


def _pattern_fault(path: Path, value: Json, pattern: str, subject: Subject) -> Fault:
    place, is_empty = field_path(path), value == ""
    if QUANTITY in pattern:
        reason = "is empty, where a quantity is due" if is_empty else f"is no quantity: {_shown(value, path, subject)}"
        hint = "a number and an optional suffix: 500m, 2, 1.5Gi"
        return Fault(code=PATTERN, path=path, message=f"{place} {reason}", help=hint)
    message = f"{place} {'is empty' if is_empty else f'has the wrong form: {_shown(value, path, subject)}'}"
    hint = f"allowed: {_PATTERN_HELP[pattern]}" if pattern in _PATTERN_HELP else f"it must match {pattern}"
    return Fault(code=PATTERN, path=path, message=message, help=hint)


def _alternatives_fault(path: Path, subject: Subject) -> Fault:
    branches = schema_at(subject.schema, path).get("oneOf", [])
    names = sorted({name for branch in branches for name in branch.get("required", ())})
    return Fault(
        code=ALTERNATIVES,
        path=path,
        message=f"{field_path(path)} combines fields in a way that its schema does not allow",
        help=f"use at most one of {', '.join(names)}" if names else "",
    )


def _kind_of(value: Json) -> str:
    match value:
        case bool():
            return "the boolean"
        case int() | float():
            return "the number"
        case str():
            return "the string"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _is_quotable(path: Path, subject: Subject) -> bool:
    """Whether the value may be quoted: not that of a key, or of a variable, that is named like a credential."""
    from kservec.core.text.confidential import names_credential  # noqa: PLC0415 - not needed without a fault

    name = path[-1] if path else ""
    if name == "value":
        name = value_at(subject.value, (*path[:-1], "name"), default="")
    return subject.quotable and not names_credential(str(name))


def _shown_after(value: Json, path: Path, subject: Subject) -> str:
    return "" if isinstance(value, dict | list) else f" {_shown(value, path, subject)}"


def _shown(value: Json, path: Path, subject: Subject) -> str:
    if not _is_quotable(path, subject):
        return NOT_SHOWN
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{_shortened(value)}"' if isinstance(value, str) else _shortened(str(value))


def _shortened(text: str) -> str:
    line = text.splitlines()[0] if text.strip() else text
    return line if line == text and len(line) <= 60 else f"{line[:57]}..."
