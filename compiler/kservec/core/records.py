"""Changed copies of records, the frozen dataclasses with slots that everything inside is made of.

Decides how such a copy is made. Must not know any record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

__all__ = ["evolve"]

if TYPE_CHECKING:
    # Type checkers know the fields that `dataclasses.replace` may be given, and `evolve` takes the same.
    from dataclasses import replace as evolve
else:

    def evolve(record: Any, /, **changes: Any) -> Any:
        """A copy of a record in which some fields have other values.

        It is `dataclasses.replace` in a third of the time, for passes make some twenty copies a unit: values are
        copied from slot to slot, and neither `__init__` nor `__post_init__` runs.

        Raises:
            KeyError: the record has no such field.
        """
        layout = _layout(record.__class__)
        copy = object.__new__(record.__class__)
        for fill, value in zip(layout.fillers, layout.values(record)):  # noqa: B905 - they are as many, and it is faster
            fill(copy, value)
        for name, value in changes.items():
            layout.by_name[name](copy, value)
        return copy


class _Layout(NamedTuple):
    """How the records of a class are read and filled: all their values at once, and each slot, in order and by name."""

    values: Callable[[Any], tuple[Any, ...]]
    fillers: tuple[Callable[[Any, Any], None], ...]
    by_name: Mapping[str, Callable[[Any, Any], None]]


@cache
def _layout(record: type) -> _Layout:
    names = [field.name for field in fields(record)]
    by_name = {name: getattr(record, name).__set__ for name in names}
    return _Layout(_values(names), tuple(by_name.values()), by_name)


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads all values of a record: `attrgetter` gives no tuple for a single name."""
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda record: (read(record),)
