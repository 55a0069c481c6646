"""Recall: what became of units in an earlier run is found again in a later one. Pure.

Decides what a result depends on, and that only what is not known is done. Must not know where results are kept. The key
of a unit is a digest of all that it depends on: of kservec itself and of every document and option of the run but for
the services (the base), and of the service's own file. LLM services know the others of their namespace, so their keys
hold the files of all of these. Units of other kinds are few and refer to others; they are compiled each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from kservec.core.diagnostics import has_errors
from kservec.core.records import evolve, fields_of
from kservec.core.text.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.compilation import Inputs
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.registry import Env
    from kservec.core.text.document import SourceText
    from kservec.core.unit import Unit
    from kservec.workshop import Crew, Made, Workshop

SERVICE, LLM = "InferenceService", "LLMInferenceService"


class UnknownValueError(Exception):
    """A value of which no digest can be made: nothing is recalled then."""


class Keys(NamedTuple):
    """The key of all that the units of a run share, and those of the units by their places; none for some."""

    base: str
    units: Mapping[int, str]


class Kept(NamedTuple):
    """What became of a unit, and the unit with its trees; None where only text is kept."""

    made: Made
    unit: Unit | None = None


class Shelf(Protocol):
    """What is kept of runs over one base, by the keys of units."""

    def get(self, key: str) -> Kept | None:
        """What became of a unit, if it is known."""

    def keep(self, added: Mapping[str, Kept], live: Collection[str]) -> None:
        """Keep what is new. `live` are the keys of all units of the run."""


Shelves: TypeAlias = "Callable[[str], Shelf]"
"""Where results are kept: the shelf of each base."""


class Memory:
    """The shelf of a process that runs again and again: what the last run led to, with its trees."""

    def __init__(self) -> None:
        self.base = ""
        self.kept: dict[str, Kept] = {}

    def __call__(self, base: str) -> Memory:
        """The shelf of a base: this one, which is emptied if the last run was over another."""
        if base != self.base:
            self.base, self.kept = base, {}
        return self

    def get(self, key: str) -> Kept | None:
        """What became of a unit, if it is known."""
        return self.kept.get(key)

    def keep(self, added: Mapping[str, Kept], live: Collection[str]) -> None:
        """Keep what is new, and of what was kept what is of use still."""
        self.kept = {key: kept for key in live if (kept := added.get(key) or self.kept.get(key)) is not None}


def recalling(shelves: Shelves, stamp: str, crew: Crew) -> Crew:
    """A crew that looks up what is known already and has another one do the rest.

    Args:
        shelves: where results are kept.
        stamp: what stands for kservec itself, its code and its data.
        crew: does what is not known.
    """

    def working(workshop: Workshop) -> Iterator[list[Made]]:
        keys = keys_of(workshop, stamp)
        if keys is None:
            yield from crew(workshop)
            return
        shelf = shelves(keys.base)
        known, added = known_of(workshop, keys, shelf), {}
        fresh = done([unit for i, unit in enumerate(workshop.units) if i not in known], workshop, crew)
        for i in range(len(workshop.units)):
            kept = known.get(i) or next(fresh)
            if i not in known and i in keys.units and not has_errors(kept.made.diagnostics):
                added[keys.units[i]] = kept
            if workshop.witness is not None and kept.unit is not None:
                workshop.witness(kept.unit, workshop.env)
            yield [kept.made]
        shelf.keep(added, keys.units.values())

    return working


def done(units: Sequence[Unit], workshop: Workshop, crew: Crew) -> Iterator[Kept]:
    """What becomes of units that are not known, with their trees if there is a witness."""
    if not units:
        return
    trees: dict[ObjectRef, Unit] = {}

    def witness(unit: Unit, env: Env) -> None:
        del env
        trees[unit.ref] = unit

    # Without some of its units a workshop cannot be made of the documents again, which lead to all of them.
    shop = workshop if len(units) == len(workshop.units) else evolve(workshop, units=units, inputs=None)
    for several in crew(shop if shop.witness is None else evolve(shop, witness=witness)):
        for made in several:
            yield Kept(made, trees.pop(made.ref, None))


def known_of(workshop: Workshop, keys: Keys, shelf: Shelf) -> dict[int, Kept]:
    """What is known of units, by their places: what speaks of its unit, and has a tree if that is to be shown."""
    known: dict[int, Kept] = {}
    for place, key in keys.units.items():
        kept = shelf.get(key)
        if kept is None or kept.made.ref != workshop.units[place].ref:
            continue
        if workshop.witness is None or kept.unit is not None:
            known[place] = kept
    return known


def keys_of(workshop: Workshop, stamp: str) -> Keys | None:
    """The keys of a run; None if it cannot be told what results depend on.

    Args:
        workshop: the run.
        stamp: what stands for kservec itself, its code and its data.
    """
    texts = Texts()
    try:
        places = {i: unit for i, unit in enumerate(workshop.units) if unit.ref.kind in (SERVICE, LLM)}
        files = {i: texts.document(unit.source.document) for i, unit in places.items()}
        base = base_of(workshop, stamp, texts, {id(unit.source.document) for unit in places.values()})
    except UnknownValueError:
        return None
    namespaces: dict[str, list[str]] = {}
    for i, unit in places.items():
        if unit.ref.kind == LLM:
            namespaces.setdefault(unit.namespace, []).append(files[i])
    near = {namespace: digest(sorted(members)) for namespace, members in namespaces.items()}
    return Keys(base, {i: unit_key(unit, files[i], near) for i, unit in places.items()})


def unit_key(unit: Unit, file: str, near: Mapping[str, str]) -> str:
    """The key of a unit, in a run of some base."""
    return digest((file, *unit.ref, near[unit.namespace] if unit.ref.kind == LLM else ""))


def base_of(workshop: Workshop, stamp: str, texts: Texts, services: Set[int]) -> str:
    """The key of all that the units of a run share.

    Raises:
        UnknownValueError: it cannot be told.
    """
    inputs: Inputs | None = workshop.inputs
    if inputs is None:
        raise UnknownValueError
    options = inputs.options
    others = [texts.document(d) for d in inputs.specs if id(d) not in services]
    described = [texts.document(d) for group in (inputs.platform, options.previous) for d in (*group, *MARK)]
    builtin = sorted({document.file for document in inputs.builtin})
    said = canonical((options.absent, options.names_revisions, options.additions, options.profile.version))
    return digest((stamp, *sorted(others), "", *described, *builtin, said))


MARK = (Document("", None),)
"""Stands between groups of documents."""


class Texts:
    """Digests of texts that documents are parts of, each worked out once."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}

    def document(self, document: Document) -> str:
        """A digest of a document: its file by name and content, and which of the file's documents it is.

        Raises:
            UnknownValueError: it is not a part of a text, as what an overlay makes.
        """
        if document.__class__ is not Document or (document.text is None and document.value is not None):
            raise UnknownValueError
        return f"{document.file}\0{document.start}\0{self.text(document.text) if document.text is not None else ''}"

    def text(self, text: SourceText) -> str:
        """A digest of a text."""
        if id(text) not in self.known:
            self.known[id(text)] = hashlib.sha256(text.text.encode(errors="surrogatepass")).hexdigest()
        return self.known[id(text)]


def canonical(value: object) -> str:
    """A text that stands for a value, and for no other one.

    Raises:
        UnknownValueError: it is of a kind that has none.
    """
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return f"{value.__class__.__name__}:{value!r}"
    if isinstance(value, Enum):
        return f"{value.__class__.__name__}:{value.name}"
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{canonical(k)}={canonical(v)}' for k, v in value.items()))}}}"
    if isinstance(value, Set):
        return f"{{{','.join(sorted(map(canonical, value)))}}}"
    if isinstance(value, tuple | list):
        return f"{value.__class__.__name__}({','.join(map(canonical, value))})"
    if hasattr(value, "__fields__"):
        return f"{value.__class__.__name__}({','.join(map(canonical, fields_of(value)))})"
    raise UnknownValueError


def digest(parts: Iterable[str]) -> str:
    """A digest of texts in their order."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        found.update(f"{len(data)}\n".encode())
        found.update(data)
    return found.hexdigest()
