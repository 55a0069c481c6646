"""Models: a JSON value becomes a pydantic model, or located diagnostics.

Words pydantic's complaints in the terms of the schema checks, so that users meet one set of codes. Never quotes values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from kservec.core.diagnostics import Diagnostic, ObjectRef, Reject, Span
from kservec.core.schemas.faults import ENUM, PATTERN, RANGE, REQUIRED, TYPE, UNKNOWN_FIELD, field_path, value_at
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Source

M = TypeVar("M", bound=BaseModel)

CODES = {
    "extra_forbidden": UNKNOWN_FIELD,
    "literal_error": ENUM,
    "missing": REQUIRED,
    "kservec_text": PATTERN,
    "string_pattern_mismatch": PATTERN,
    "string_too_short": RANGE,
}
"""pydantic's kind of error -> ours; all others are about types."""

QUOTED = re.compile(r"'([^']*)'").findall
"""The words that pydantic lists for a value of a fixed set."""
LIST = "a list"
DUE = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "int_type": "a whole number",
    "is_instance_of": LIST,
    "list_type": LIST,
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "sequence_str": LIST,
    "string_type": "a string",
}
"""pydantic's kind of error -> what is due; lists are the only types of ours that it tells by their class."""

KEY = "[key]"
"""What pydantic puts behind the key of a mapping where the key is wrong, and not its value."""


class Spot(NamedTuple):
    """Where a value stands: its object, the document, and the path inside it."""

    subject: ObjectRef
    source: Source
    at: Path = ()

    def span(self, path: Path, *, at_key: bool = False) -> Span:
        """The text of the value, or of the key, at a path below this spot."""
        written = self.source.written(self.at + path)
        return self.source.document.key_span(written) if at_key else self.source.document.span(written)


def read_model(model: type[M], value: Json, spot: Spot) -> M:
    """The model of a value.

    Raises:
        Reject: the value does not fit the model; each misfit is located.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Reject(*misfits(error, model, spot, value)) from None


def misfits(error: ValidationError, model: type[BaseModel], spot: Spot, value: Json = None) -> Iterator[Diagnostic]:
    """The errors of pydantic as diagnostics.

    A `loc` may end in names that are no steps; the span is then that of the last one that is.
    """
    for problem in error.errors(include_url=False, include_input=False):
        loc = tuple(problem["loc"])
        is_key = loc[-1:] == (KEY,)
        path = loc[:-1] if is_key else loc
        name, shown = str(path[-1]) if path else "", field_path(spot.at + path)
        code = CODES.get(problem["type"], TYPE)
        if code is UNKNOWN_FIELD:
            near = near_name(name, field_names(model))
            message, hint = f"unknown field {shown}", f"did you mean {near}?" if near else ""
        elif code is REQUIRED:
            message, hint = f"{shown} is missing", f"add {name}"
        elif problem["type"] == "literal_error":
            said, hint = problem["msg"], near_literal(problem, path, value)
            message = f"{shown}: {said[:1].lower()}{said[1:]}"
        elif (due := DUE.get(problem["type"])) is not None:
            message, hint = f"{shown} must be {due}", "write a list item, with a dash in front" if due == LIST else ""
        else:
            said = problem["msg"].removeprefix("Value error, ")
            message, hint = f"{shown}: {said[:1].lower()}{said[1:]}", problem.get("ctx", {}).get("remedy", "")
        span = spot.span(path, at_key=is_key or code is UNKNOWN_FIELD)
        yield Diagnostic(code=code, message=message, span=span, help=hint, subject=spot.subject)


def near_name(word: str, names: Iterable[str]) -> str | None:
    """The name that a word may have been meant as; of names such as policy/image-tag the end is enough."""
    ends = {name.rpartition("/")[2]: name for name in sorted(names)}
    near = closest(word, ends.values()) or (word if word in ends else closest(word, ends))
    return ends.get(near, near) if near is not None else None


def near_literal(problem: Any, path: Path, value: Json) -> str:
    """What an unknown word of a fixed set may have been meant as. Quotes the set alone."""
    written = value_at(value, path, default=None)
    options = QUOTED(problem["msg"])
    near = near_name(written, options) if isinstance(written, str) else None
    return f"did you mean {near}?" if near else ""


def field_names(model: type[BaseModel]) -> set[str]:
    """The names of the fields of a model and of the models in it, as they are written in YAML."""
    names: set[str] = set()
    for name, field in model.model_fields.items():
        names.add(field.alias or name)
        for inner in models_in(field.annotation):
            names |= field_names(inner)
    return names


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)
