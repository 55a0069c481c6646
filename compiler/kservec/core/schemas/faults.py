"""Faults: what is wrong at one place of a value, before it is known where in which file that is.

Decides how a place is written and which kinds of structural fault there are. Must not know spans, files or validators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Severity
from kservec.core.patterns import Pattern

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

UNKNOWN_FIELD = Code(
    "schema/unknown-field",
    Severity.ERROR,
    "a field that the kind does not have",
    "The API server drops such a field, or refuses it where it is asked to be strict; either way it has no effect. "
    "Correct its spelling, move it to where it belongs, or remove it.",
)
TYPE = Code(
    "schema/type",
    Severity.ERROR,
    "a value of the wrong type",
    'YAML decides the type by the way a value is written: 3 is a number, "3" a string, and yes, no, on and off are '
    "booleans unless quoted. A field without a value is null, which is no value of any type.",
)
REQUIRED = Code(
    "schema/required",
    Severity.ERROR,
    "a field that must be there is missing",
    "The kind demands the field wherever the object that holds it is written.",
)
ENUM = Code(
    "schema/enum",
    Severity.ERROR,
    "a value that is not among those allowed",
    "The field takes a fixed set of values, which the message lists. Letter case counts.",
)
RANGE = Code(
    "schema/range",
    Severity.ERROR,
    "a number, text or list that is too small or too large",
    "The field has a lower or an upper bound: of its value if it is a number, else of its length.",
)
PATTERN = Code(
    "schema/pattern",
    Severity.ERROR,
    "text in a form that the field does not take",
    "The API server, or whoever else reads the text in the end, takes one of a certain form. Quantities are a number "
    "and an optional suffix: 500m, 2, 1.5Gi.",
)
DUPLICATE = Code(
    "schema/duplicate",
    Severity.ERROR,
    "two items of a list with the same key",
    "The items of such a list are told apart by a key (the name of an environment variable, the number and protocol "
    "of a port), so each key may occur once.",
)
ALTERNATIVES = Code(
    "schema/alternatives",
    Severity.ERROR,
    "fields that exclude each other, or none of several of which one is due",
    "The schema of the kind allows certain combinations of fields only.",
)

_plain_step = Pattern(r"[A-Za-z_][-A-Za-z0-9_]*").fullmatch


class Fault(NamedTuple):
    """One thing that is wrong at one place of a value. `at_key`: it is the field's name that is at fault.

    `once` is the text that is at fault, where several places may have it from one field: that field is told of once.
    `over` is by how many characters a text is too long that may be made of the name of what is compiled.
    `meant` is the field that an unknown one is a misspelling of.
    """

    code: Code
    path: Path
    message: str
    label: str = ""
    help: str = ""
    at_key: bool = False
    related: tuple[tuple[Path, str], ...] = ()
    once: str = ""
    over: int = 0
    meant: str = ""

    def below(self, *steps: str | int) -> Fault:
        """The same fault of a larger value, in which this one stands at a path."""
        related = tuple(((*steps, *path), text) for path, text in self.related)
        return self._replace(path=(*steps, *self.path), related=related)


class Subject(NamedTuple):
    """What is being checked: the self-contained schema, the whole value, and whether values may be quoted."""

    schema: Json
    value: Json
    quotable: bool = True


def field_path(path: Path) -> str:
    """The path as Kubernetes writes it: `spec.containers[0].image`, `metadata.labels["a.b/c"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _plain_step(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text or "the document"


def value_at(value: Json, path: Path, default: Json = ()) -> Json:
    """What stands at `path`, or `default` where the path leads nowhere."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step, default)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return default
    return value
