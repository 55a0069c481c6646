"""The lines of a rendered object, and where the value on each of them comes from.

Decides which line shows which value: it walks an object as `emit` writes it. Must not know HTML.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.masking import shown
from kservec.core.diagnostics import NOT_SHOWN
from kservec.core.paths import is_keyed, item_key
from kservec.core.text.confidential import confidential_lines
from kservec.core.text.source import parse
from kservec.emit import dump, in_order, key_lines, line_count
from kservec.explain.values import UNKNOWN, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json, Path
    from kservec.core.tree import Origin, Tree


class Provenance(NamedTuple):
    """Where a line comes from: the layer, what put it there, and the file and line that it was written on, if any."""

    layer: str
    by: str = ""
    file: str = ""
    line: int = 0


NOWHERE = Provenance(UNKNOWN)


class Lines(NamedTuple):
    """The lines of an object as they may be shown, where each of them comes from, and whether nothing is hidden."""

    texts: tuple[str, ...]
    sources: tuple[Provenance, ...]
    whole: bool = True


class Leaf(NamedTuple):
    """A value that is neither map nor list, and the lines that it takes, with those above it that only lead to it."""

    path: Path
    value: Json
    lines: int


def leaves_of(body: Json) -> list[Leaf]:
    """The values of an object in the order in which they are written."""
    found: list[Leaf] = []
    if isinstance(body, dict) and body:
        gather_map(in_order(body), (), 0, found)
    else:
        gather(body, (), 0, found)
    return found


def gather(value: Json, path: Path, lead: int, found: list[Leaf]) -> None:
    """Add the values below a path. `lead`: lines that were written before the first of them and hold no value."""
    if value.__class__ is dict and value:
        gather_map(sorted(value.items()), path, lead, found)
    elif value.__class__ is list and value:
        gather_list(value, path, lead, found)
    else:
        found.append(Leaf(path, value, lead + line_count(value)))


def gather_map(items: Sequence[tuple[str, Json]], path: Path, lead: int, found: list[Leaf]) -> None:
    """Add the values of a map: a map or list in it has a line of its own for its key."""
    for key, value in items:
        holds = value.__class__ in (dict, list) and value
        gather(value, (*path, key), lead + key_lines(key) - (0 if holds else 1), found)
        lead = 0


def gather_list(items: list[Json], path: Path, lead: int, found: list[Leaf]) -> None:
    """Add the values of a list; an item begins on the line of its dash."""
    field = path[-1] if path and isinstance(path[-1], str) else ""
    keyed = is_keyed(items, field)
    for i, item in enumerate(items):
        key = item_key(item, field) if keyed else None
        gather(item, (*path, i if key is None else key), lead, found)
        lead = 0


def lines_of(body: Tree, known: dict[tuple[Origin, Path], Provenance], text: str = "") -> Lines:
    """The lines of an object as it was compiled.

    Args:
        body: the object.
        known: what was told of origins already; what is new is added. Objects share most of them.
        text: the object as it was written, if nothing changed that afterwards; empty to have it written here.
    """
    value = shown(body.value)
    sources: list[Provenance] = []
    for leaf in leaves_of(value):
        found = body.origin(leaf.path)
        source = NOWHERE if found is None else known.get(found)
        if source is None and found is not None:
            source = known[found] = provenance(*told(*found))
        sources += [source or NOWHERE] * leaf.lines
    is_whole = value == body.value
    written = text if text and is_whole else dump(value)
    return Lines(tuple(written.split("\n")[:-1]), tuple(sources), is_whole)


def provenance(layer: str, by: str, span: Span | None) -> Provenance:
    """Where a value comes from, as far as a line tells it."""
    return Provenance(layer, by, span.file, span.line) if span else Provenance(layer, by)


def lines_later(compiled: Lines, text: str, later: Provenance) -> Lines:
    """The lines of an object that may have been changed after it was compiled.

    Args:
        compiled: its lines as it was compiled.
        text: what is rendered of it.
        later: what other lines come from.
    """
    new = text.split("\n")[:-1] if compiled.whole else shown_lines(text)
    if tuple(new) == compiled.texts:
        return compiled
    texts = [NOT_SHOWN if look else line for line, look in zip(new, confidential_lines(new), strict=True)]
    sources = [later] * len(new)
    for start, at, size in equal_blocks(compiled.texts, new):
        texts[at : at + size] = compiled.texts[start : start + size]
        sources[at : at + size] = compiled.sources[start : start + size]
    return Lines(tuple(texts), tuple(sources))


def lines_elsewhere(text: str, source: Provenance) -> Lines:
    """The lines of an object that was not compiled."""
    texts = shown_lines(text)
    return Lines(tuple(texts), (source,) * len(texts))


def shown_lines(text: str) -> list[str]:
    """The lines of a rendered object without what may be secret."""
    return dump(shown(value_of(text))).split("\n")[:-1]


def value_of(text: str) -> Json:
    """The value of a rendered object."""
    return parse(text.encode(), "")[0][0].value


def equal_blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Stretches of lines that are the same: where in the old text, where in the new one, how many.

    Most changes are in one place, so that what is before and after it need not be searched.
    """
    most = min(len(old), len(new))
    first = next((i for i in range(most) if old[i] != new[i]), most)
    last = next((i for i in range(most - first) if old[-1 - i] != new[-1 - i]), most - first)
    yield 0, 0, first
    middle = SequenceMatcher(None, old[first : len(old) - last], new[first : len(new) - last], autojunk=False)
    for block in middle.get_matching_blocks():
        yield first + block.a, first + block.b, block.size
    yield len(old) - last, len(new) - last, last


def stretches(sources: Sequence[Provenance]) -> Iterator[tuple[int, int]]:
    """Where lines that come from the same place begin, and how many they are."""
    starts = [i for i, (before, own) in enumerate(zip((None, *sources), sources, strict=False)) if own != before]
    yield from ((start, end - start) for start, end in pairwise((*starts, len(sources))))
