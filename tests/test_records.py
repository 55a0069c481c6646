"""Records: made by name, frozen, equal by their fields, copied with changes."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import pytest

from kservec.core.records import entity, evolve, fresh, record


@record
class Place:
    """A record with a class variable and a cached property."""

    at: int
    kind: ClassVar[str] = "place"

    @cached_property
    def twice(self) -> int:
        """Twice the place."""
        return self.at * 2


@record
class Named(Place):
    """A record with inherited fields, a default and a fresh default."""

    name: str = ""
    labels: dict[str, str] = fresh(factory=dict)


@entity
class Thing:
    """A record that is equal to itself alone."""

    at: int


def test_fields_come_from_the_class_and_its_bases() -> None:
    """Fields are given by name, and have their defaults otherwise."""
    made = Named(at=1)
    assert (made.at, made.name, made.labels, made.kind) == (1, "", {}, "place")
    assert Named(at=2, name="a").name == "a"


def test_fresh_defaults_are_not_shared() -> None:
    """Each record gets a default of its own."""
    assert Named(at=1).labels is not Named(at=1).labels


@pytest.mark.parametrize("values", [{}, {"at": 1, "nmae": "a"}, {"name": "a", "nmae": "b"}])
def test_fields_must_fit(values: dict[str, object]) -> None:
    """A field that is missing, and one that is not there, are both refused."""
    with pytest.raises(TypeError, match="missing or unknown"):
        Named(**values)


def test_records_are_frozen() -> None:
    """No field can be set or deleted, in a copy neither."""
    for made in (Place(at=1), evolve(Place(at=1), at=2)):
        with pytest.raises(AttributeError):
            made.at = 3  # type: ignore[misc]
        with pytest.raises(AttributeError):
            del made.at


def test_records_are_equal_by_class_and_fields() -> None:
    """Equal fields of one class are equal and hash alike; another class never is."""
    assert Place(at=1) == Place(at=1)
    assert hash(Place(at=1)) == hash(Place(at=1))
    assert Place(at=1) != Place(at=2)
    assert Place(at=1) != Named(at=1)


def test_entities_are_equal_to_themselves() -> None:
    """Two entities with the same fields are two."""
    one, other = Thing(at=1), Thing(at=1)
    assert one != other
    assert len({one, one, other}) == 2


def test_a_changed_copy() -> None:
    """Only what is named changes; values that stay are shared, and the record stays as it was."""
    made = Named(at=1, name="a", labels={"b": "c"})
    copy = evolve(made, at=2)
    assert (copy.at, copy.name) == (2, "a")
    assert copy.labels is made.labels
    assert made.at == 1
    assert type(copy) is Named


def test_cached_properties_do_not_outlive_a_change() -> None:
    """A copy computes anew what follows from its fields."""
    made = Place(at=1)
    assert made.twice == 2
    assert evolve(made, at=5).twice == 10
    assert made == Place(at=1)


def test_unknown_fields_are_refused_in_copies() -> None:
    """A change of a field that is not there is a mistake."""
    with pytest.raises(TypeError, match="no field tat"):
        evolve(Place(at=1), tat=2)


def test_a_record_shows_its_fields() -> None:
    """The text of a record is how it would be made."""
    assert repr(Named(at=1, name="a")) == "Named(at=1, name='a', labels={})"
