"""Typed views of KServe's kinds: an object's JSON with attributes, each read when it is first asked for.

The JSON has passed the schema of its kind before a view is made, so views check nothing and copy nothing. Most fields
of most objects are never asked for, and a command line should start at once: building validating models for every kind
took longer than a whole build.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

Json = Any
M = TypeVar("M", bound="Model")

EMPTY: Mapping[str, Json] = MappingProxyType({})
"""The default of a field that is a map."""


def camel_case(name: str) -> str:
    """`min_replicas` as it is written in YAML: `minReplicas`."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


class Field:
    """One field: its key in JSON, its default, the type as it is written, and what makes the value out of JSON.

    It gives a view its value when that is first asked for. The view keeps it, and then no longer asks the field.
    """

    __slots__ = ("default", "key", "kind", "name", "read")

    def __init__(self, name: str, key: str, default: Json, kind: str, read: Callable[[Json], Json] | None) -> None:
        self.name = name
        self.key = key
        self.default = default
        self.kind = kind
        self.read = read

    def __get__(self, view: Model, owner: type[Model]) -> Json:
        """The value of the field in a view."""
        state = view.__dict__
        value = state["json"].get(self.key)
        kept = self.default if value is None else self.read(value) if self.read is not None else value
        state[self.name] = kept
        return kept


CLASSES: dict[tuple[str, str], type[Model]] = {}
"""All views by module and name, as they are defined: the types of later ones name them."""


class Model:  # noqa: PLW1641 - nothing needs a hash of what holds maps
    """A view of one JSON map. A class's annotated names are its fields, and their values the defaults.

    A field that is missing or null has its default. Keys that are no field live in `rest`: core Kubernetes fields stand
    among KServe's own. Views are equal when their JSON is.
    """

    json: Mapping[str, Json]
    fields: ClassVar[Mapping[str, Field]] = {}
    """The fields by attribute, inherited ones included."""
    keys: ClassVar[frozenset[str]] = frozenset()
    """The keys of all fields."""
    json_names: ClassVar[Mapping[str, str]] = {}
    """Attributes whose key does not follow from their name."""

    def __init_subclass__(cls) -> None:
        """Turn the class's annotated names into fields."""
        CLASSES[cls.__module__, cls.__name__] = cls
        own: dict[str, Field] = {}
        for name, kind in cls.__annotations__.items():
            if not kind.startswith("ClassVar"):
                key = cls.json_names.get(name) or cls.json_name(name)
                own[name] = Field(name, key, vars(cls).get(name), kind, reader(kind, cls.__module__))
        for name, field in own.items():
            setattr(cls, name, field)
        cls.fields = {**cls.fields, **own}
        cls.keys = frozenset(field.key for field in cls.fields.values())

    def __init__(self, **values: Json) -> None:
        """A view of attributes given one by one, rather than of JSON that was read."""
        given = {type(self).fields[name].key: plain(value) for name, value in values.items()}
        self.__dict__["json"] = {key: value for key, value in given.items() if value is not None}

    @classmethod
    def json_name(cls, name: str) -> str:
        """The key of an attribute in JSON."""
        return camel_case(name)

    @classmethod
    def read(cls: type[M], json: Mapping[str, Json]) -> M:
        """The view of a JSON map."""
        view = cls.__new__(cls)
        view.__dict__["json"] = json
        return view

    def changed(self: M, **values: Json) -> M:
        """The view with other values; None leaves a field out."""
        given = {type(self).fields[name].key: plain(value) for name, value in values.items()}
        merged = {**self.json, **given}
        return type(self).read({key: value for key, value in merged.items() if value is not None})

    @property
    def rest(self) -> dict[str, Json]:
        """The keys that are no field of the class: a PodSpec, a Container."""
        kept: dict[str, Json] | None = self.__dict__.get("_rest")
        if kept is None:
            known = type(self).keys
            kept = self.__dict__["_rest"] = {key: value for key, value in self.json.items() if key not in known}
        return kept

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a view does not change."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.json == other.json

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.json!r})"


def plain(value: Json) -> Json:
    """A value as JSON: views become what they are views of."""
    if isinstance(value, Model):
        return value.json
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def reader(kind: str, module: str) -> Callable[[Json], Json] | None:
    """What makes a field's value out of JSON: a view or a tuple of views; None where the value stays as it is.

    Args:
        kind: the annotation, as it is written: `Logger | None`, `Sequence[StorageUri]`.
        module: where it is written; the classes that it names are of the same module.
    """
    item = kind.partition(" | ")[0].removeprefix("Sequence[").removesuffix("]")
    view = CLASSES.get((module, item)) or CLASSES.get((__name__, item))
    if view is None:
        return None
    if kind.startswith("Sequence["):
        return lambda items: tuple(map(view.read, items))
    return view.read


class Metadata(Model):
    """Object metadata, as far as the compiler reads it."""

    name: str = ""
    namespace: str = ""
    generation: int | None = None
    labels: Mapping[str, str] = EMPTY
    annotations: Mapping[str, str] = EMPTY


class Resource(Model):
    """A whole object of one of KServe's kinds: what a unit is made from. Each kind adds its `spec`."""

    metadata: Metadata = Metadata()
