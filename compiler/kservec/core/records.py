"""Records: the frozen values with named fields that everything inside is made of, and changed copies of them.

They are what frozen, keyword-only dataclasses are, without the code that `dataclasses` writes and compiles for each
class: with some fifty classes that took a fifth of a short run. Must not know any record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, dataclass_transform

R = TypeVar("R")

_new = object.__new__
_set = object.__setattr__


class Fresh:
    """The default of a field that is made anew for each record."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def fresh(*, factory: Callable[[], Any]) -> Any:
    """A field whose default is made by a function."""
    return Fresh(factory)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(fresh,))
def record(cls: type[R]) -> type[R]:
    """Make a class a record: its annotated names are fields, their values the defaults. Fields are given by name.

    Records are equal, and hash alike, when their class and fields are. A record may have methods and cached properties.
    """
    for name, member in {"__eq__": equal, "__hash__": hash_of}.items():
        setattr(cls, name, member)
    return entity(cls)


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False, field_specifiers=(fresh,))
def entity(cls: type[R]) -> type[R]:
    """Make a class a record that is equal to itself alone: for values that there is one of, and for caches' keys."""
    annotations: dict[str, str] = vars(cls).get("__annotations__", {})
    own = [name for name, kind in annotations.items() if not kind.startswith("ClassVar")]
    names = tuple(dict.fromkeys((*getattr(cls, "__fields__", ()), *own)))
    given = {name: vars(cls)[name] for name in own if name in vars(cls)}
    defaults = {**getattr(cls, "__defaults__", {}), **given}
    members = {
        "__fields__": names,
        "__names__": frozenset(names),
        "__defaults__": defaults,
        "__init__": initialiser(names, defaults),
        "__repr__": representation,
        "__setattr__": refuse,
        "__delattr__": refuse,
    }
    for name, member in members.items():
        setattr(cls, name, member)
    for name in given:  # a default that stays in the class makes each look at the field slower
        delattr(cls, name)
    return cls


def initialiser(names: Sequence[str], defaults: Mapping[str, Any]) -> Callable[..., None]:
    """What sets the fields of a new record, all at once, for nothing in a run is done as often.

    Which fields may be given together, and what is then made anew, is found out once for each place that makes records.
    """
    fields = {name: defaults.get(name) for name in names}
    required = fields.keys() - defaults.keys()
    made = {name: value.make for name, value in defaults.items() if isinstance(value, Fresh)}
    lacking: dict[tuple[str, ...], tuple[tuple[str, Callable[[], Any]], ...]] = {}

    def initialise(self: Any, **values: Any) -> None:
        given = tuple(values)
        makers = lacking.get(given)
        if makers is None:
            wrong = sorted((required - values.keys()) | (values.keys() - fields.keys()))
            if wrong:
                raise TypeError(f"{self.__class__.__name__}: missing or unknown: {', '.join(wrong)}")
            makers = lacking[given] = tuple((name, make) for name, make in made.items() if name not in values)
        state = {**fields, **values}
        for name, make in makers:
            state[name] = make()
        _set(self, "__dict__", state)

    return initialise


def evolve(record: R, /, **changes: Any) -> R:
    """A copy of a record in which some fields have other values.

    Raises:
        TypeError: there is no field of a name.
    """
    cls: Any = record.__class__
    changed = {**record.__dict__, **changes}
    if len(changed) != len(cls.__fields__):
        if not cls.__names__.issuperset(changes):
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(changes.keys() - cls.__names__))}")
        changed = {name: changed[name] for name in cls.__fields__}  # cached properties belong to the old values
    copy = _new(cls)
    _set(copy, "__dict__", changed)
    return copy  # type: ignore[no-any-return]


def fields_of(record: Any) -> tuple[Any, ...]:
    """The values of a record's fields."""
    state = record.__dict__
    return tuple(state[name] for name in record.__fields__)


def equal(self: Any, other: object) -> bool:
    """Whether another record has the same class and fields."""
    return self is other or (self.__class__ is other.__class__ and fields_of(self) == fields_of(other))


def hash_of(self: Any) -> int:
    """The hash of a record's fields."""
    return hash(fields_of(self))


def representation(self: Any) -> str:
    """A record as it would be made."""
    shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__fields__)
    return f"{self.__class__.__name__}({shown})"


def refuse(self: Any, name: str, *_: object) -> None:
    """Refuse a change.

    Raises:
        AttributeError: always.
    """
    raise AttributeError(f"{self.__class__.__name__}.{name} cannot be changed")
