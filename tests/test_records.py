"""Records: changed copies of frozen dataclasses, with and without slots."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest

from kservec.core import bundle, diagnostics, intents, unit
from kservec.core.records import evolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A record with slots."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Place):
    """A record with slots of its own and inherited ones."""

    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Loose:
    """A record without slots, one of whose fields is not compared."""

    at: int
    labels: dict[str, str] = field(default_factory=dict)
    seen: int = field(default=0, compare=False)


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        (Place(at=1), {"at": 2}),
        (Named(at=1, name="a"), {"at": 2}),
        (Loose(at=1), {}),
        (Loose(at=1, labels={"b": "c"}, seen=7), {"at": 2, "labels": {}}),
    ],
)
def test_evolve_is_replace(record: Any, changes: dict[str, Any]) -> None:
    """A changed copy is what `dataclasses.replace` makes, and the record stays as it was."""
    before = replace(record)
    made, expected = evolve(record, **changes), replace(record, **changes)
    assert type(made) is type(record)
    assert [getattr(made, f.name) for f in fields(made)] == [getattr(expected, f.name) for f in fields(expected)]
    assert record == before


def test_unchanged_values_are_shared() -> None:
    """Values that stay are not copied."""
    record = Loose(at=1, labels={"a": "b"})
    assert evolve(record, at=2).labels is record.labels


@pytest.mark.parametrize("record", [Place(at=1), Loose(at=1)])
def test_copies_are_frozen(record: Any) -> None:
    """A copy cannot be changed in place either."""
    with pytest.raises(FrozenInstanceError):
        evolve(record, at=2).at = 3


@pytest.mark.parametrize("module", [bundle, diagnostics, intents, unit], ids=lambda module: module.__name__)
def test_records_have_all_slots_or_none(module: Any) -> None:
    """A record keeps its values in one place, from where they can be copied, and does nothing when it is made."""
    records = [v for v in vars(module).values() if isinstance(v, type) and is_dataclass(v)]
    assert records
    for record in records:
        slots = {name for base in record.__mro__ for name in vars(base).get("__slots__", ())}
        assert slots in (set(), {f.name for f in fields(record)}), record
        assert not hasattr(record, "__post_init__"), record
