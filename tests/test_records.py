"""Records: changed copies of frozen dataclasses with slots."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest

from kservec.core import diagnostics, intents, unit
from kservec.core.records import evolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A record with one field."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Place):
    """A record with a field of its own, one that is not compared and one that it inherits."""

    name: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    seen: int = field(default=0, compare=False)


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        (Place(at=1), {}),
        (Place(at=1), {"at": 2}),
        (Named(at=1, name="a"), {"at": 2}),
        (Named(at=1, name="a", labels={"b": "c"}, seen=7), {"name": "", "labels": {}}),
    ],
)
def test_evolve_is_replace(record: Any, changes: dict[str, Any]) -> None:
    """A changed copy is what `dataclasses.replace` makes, and the record stays as it was."""
    before = replace(record)
    made, expected = evolve(record, **changes), replace(record, **changes)
    assert type(made) is type(record)
    assert [getattr(made, f.name) for f in fields(made)] == [getattr(expected, f.name) for f in fields(expected)]
    assert made == expected
    assert hash(made) == hash(expected) if isinstance(record, Place) and not isinstance(record, Named) else True
    assert record == before


def test_unchanged_values_are_shared() -> None:
    """Values that stay are not copied."""
    record = Named(at=1, labels={"a": "b"})
    assert evolve(record, at=2).labels is record.labels


def test_copies_are_frozen() -> None:
    """A copy cannot be changed in place either."""
    with pytest.raises(FrozenInstanceError):
        evolve(Place(at=1)).at = 2  # type: ignore[misc]


def test_unknown_fields_are_refused() -> None:
    """A field that the record does not have is an error."""
    with pytest.raises(KeyError):
        evolve(Place(at=1), on=2)  # type: ignore[call-arg]


@pytest.mark.parametrize("module", [diagnostics, intents, unit], ids=lambda module: module.__name__)
def test_no_record_needs_its_initialiser(module: Any) -> None:
    """Records have slots and do nothing when they are made, so copying their slots is enough."""
    records = [v for v in vars(module).values() if isinstance(v, type) and is_dataclass(v)]
    assert records
    for record in records:
        assert not hasattr(record, "__dict__") or "__slots__" in vars(record), record
        assert not hasattr(record, "__post_init__"), record
