"""Faults in what an object holds: fields that it does not have, fields that it lacks, items that come twice.

Decides which of several complaints of a validator are worth showing, and where a misplaced field belongs. Must not
decide what is valid: the schema does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jsonschema_rs import ValidationError, ValidationErrorKind

from kservec.core.digits import natural
from kservec.core.schemas.faults import (
    ALTERNATIVES,
    DUPLICATE,
    ENUM,
    PATTERN,
    RANGE,
    REQUIRED,
    TYPE,
    UNKNOWN_FIELD,
    Fault,
    Subject,
    field_path,
    value_at,
)
from kservec.core.schemas.structure import Repeat, fields_of
from kservec.core.schemas.value_faults import value_fault
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

_RANKS = (TYPE, ENUM, RANGE, PATTERN, DUPLICATE, ALTERNATIVES)
"""Of two complaints about one value, the one that stands first here is kept."""

_LISTED = 16
"""Fields of an object, up to which all of them are listed."""

_STEPS_UP = 3
"""How far out a misplaced field may belong."""

_EVERYWHERE = frozenset({"apiVersion", "kind", "metadata", "name", "spec", "type"})
"""Fields that so many objects have that the nearest one says nothing."""


def faults_of(errors: Iterable[ValidationError], subject: Subject) -> list[Fault]:
    """Every fault once, in the order of the validator.

    Of several complaints about the same value only the most telling is kept (a type error hides a pattern error), and
    a missing field is not reported where a misspelt one takes its place.
    """
    values: dict[Path, Fault] = {}
    unknown: dict[tuple[Path, str], Fault] = {}
    missing: list[tuple[Path, str]] = []
    meant: set[tuple[Path, str]] = set()
    for error in errors:
        path = _true_path(error.instance_path, subject.value)
        match error.kind:
            case ValidationErrorKind.AdditionalProperties(unexpected=names):
                for name in names:
                    near = _misspelt(subject, path, name)
                    meant.add((path, near or ""))
                    unknown[path, name] = _unknown_field(subject, path, name, near)
            case ValidationErrorKind.Required(property=name):
                missing.append((path, name))
            case _:
                fault = value_fault(error, path, subject)
                known = values.setdefault(path, fault)
                if _RANKS.index(fault.code) < _RANKS.index(known.code):
                    values[path] = fault
    required = [_missing_field(path, name) for path, name in missing if (path, name) not in meant]
    return [*unknown.values(), *required, *values.values()]


def _true_path(steps: Iterable[str | int], value: Json) -> Path:
    """The path as keys and indices. The validator gives a number for a key that reads as one (`"007"`), too."""
    path: Path = ()
    for step in steps:
        place = value_at(value, path)
        is_key = isinstance(place, dict) and isinstance(step, int)
        path += (next(key for key in place if _reads_as(key, step)) if is_key else step,)
    return path


def _reads_as(key: str, number: str | int) -> bool:
    digits = key.removeprefix("+")
    return natural(digits) == number


def repeat_faults(repeated: Iterable[Repeat]) -> list[Fault]:
    """The faults that items with the key of an earlier item are."""
    return [_repeat_fault(repeat) for repeat in repeated]


def _repeat_fault(repeat: Repeat) -> Fault:
    key = ", ".join(f"{name} {value}" for name, value in repeat.key)
    return Fault(
        code=DUPLICATE,
        path=repeat.path,
        message=f"{field_path(repeat.path[:-1])} has two items with {key}",
        label=f"the second with {key}",
        help="keep one of the two",
        related=((repeat.first, "the first is here"),),
    )


def _misspelt(subject: Subject, path: Path, name: str) -> str | None:
    """The field that `name` was meant to be; None if it is at home elsewhere or resembles nothing."""
    near = closest(name, fields_of(subject.schema, path))
    if near is not None and near.casefold() == name.casefold():
        return near
    return None if _homes(subject, path, name) else near


def _unknown_field(subject: Subject, path: Path, name: str, near: str | None) -> Fault:
    place = f" in {field_path(path)}" if path else ""
    rival = _rival(subject, path, name, near) if near else ""
    meant = f"did you mean {near}?"
    if rival:
        what = f"{near} is there as well" if rival == near else f"{near} seems to be meant, and by {rival}, too"
        meant = f"{what}: take one of the two out"
    return Fault(
        code=UNKNOWN_FIELD,
        path=(*path, name),
        message=f"unknown field {name}{place}",
        label="unknown field",
        help=meant if near else _advice(subject, path, name),
        at_key=True,
        meant=near or "",
    )


def _rival(subject: Subject, path: Path, name: str, near: str) -> str:
    """A field beside one that is a misspelling: the one that it was meant to be, or another misspelling of it."""
    beside, known = value_at(subject.value, path), fields_of(subject.schema, path)
    if near in beside:
        return near
    others = (other for other in beside if other != name and other not in known)
    return next((other for other in others if _misspelt(subject, path, other) == near), "")


def _advice(subject: Subject, path: Path, name: str) -> str:
    allowed = fields_of(subject.schema, path)
    held = value_at(subject.value, (*path, name))
    if isinstance(held, dict) and held and held.keys() <= allowed.keys():
        return f"write what it holds directly into {field_path(path)}, without {name}"
    homes = _homes(subject, path, name)
    if homes:
        return f"{name} is a field of {' and of '.join(homes)}"
    return f"{field_path(path)} has: {', '.join(sorted(allowed))}" if len(allowed) <= _LISTED else ""


def _homes(subject: Subject, path: Path, name: str) -> list[str]:
    """Nearby objects that do have a field of this name: the nearest one around, or up to three just below."""
    if name in _EVERYWHERE:
        return []
    for end in range(len(path) - 1, max(-1, len(path) - 1 - _STEPS_UP), -1):
        if name in fields_of(subject.schema, path[:end]):
            return [field_path(path[:end])]
    fields = fields_of(subject.schema, path)
    below = [field for field in sorted(fields) if name in fields[field].get("properties", ())]
    present = value_at(subject.value, path)
    found = [field for field in below if field in present] or below
    return [field_path((*path, field)) for field in found] if len(found) <= 3 else []


_CANARY = ("spec", "canary")
_CANARY_MODEL_DEPTH = 5
_CANARY_NAME = (
    "write `name: kserve-container`: KServe's schema asks for the container's name here, unlike in spec.predictor, and "
    "a model is mounted into a container of that name only"
)


def _missing_field(path: Path, name: str) -> Fault:
    return Fault(
        code=REQUIRED,
        path=path,
        message=f"{field_path((*path, name))} is missing",
        label=f"{name} is required here",
        help=_CANARY_NAME if name == "name" and path[:2] == _CANARY and len(path) == _CANARY_MODEL_DEPTH else "",
        at_key=True,
    )
