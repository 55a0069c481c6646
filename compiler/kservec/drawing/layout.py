"""Layout: where boxes go. In columns from the left to the right, each box right of all that lead to it.

A box has a row for each arrow that leaves it. An arrow that goes on over several columns has a place in each, so that
it does not run behind boxes. Made for small pictures: the order in a column follows that of the one before, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.drawing.picture import Box, Section

CHARACTER, LINE = 7.8, 18
"""Pixels that a character takes in width, and a line in height."""

PADDING, MARGIN = 10, 24
ROW_GAP, COLUMN_GAP = 22, 70
LANE = 12
"""Pixels in height for an arrow that passes a column."""

Slot: TypeAlias = "str | tuple[int, int]"
"""What has a place in a column: a box by its key, or an arrow on its way by its number and the column."""

Point: TypeAlias = tuple[float, float]


class Place(NamedTuple):
    """Where a box stands, and how large it is."""

    x: float
    y: float
    width: float
    height: float


class Arranged(NamedTuple):
    """The places of the boxes by their keys, the way of each arrow from point to point, and the size of it all."""

    places: Mapping[str, Place]
    ways: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def text_width(text: str) -> float:
    """About how wide a text is."""
    return CHARACTER * sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def rows_of(section: Section, key: str) -> list[int]:
    """The arrows that leave a box, by their numbers."""
    return [i for i, arrow in enumerate(section.arrows) if arrow.source == key]


def arrange(section: Section) -> Arranged:
    """Places for the boxes and arrows of a section."""
    column = columns(section)
    stacks = stacked(section, column)
    boxes = {box.key: box for box in section.boxes}
    widths = [max((box_width(section, boxes[s]) for s in stack if isinstance(s, str)), default=0) for stack in stacks]
    places: dict[Slot, Place] = {}
    x, bottom = float(MARGIN), float(MARGIN)
    for stack, width in zip(stacks, widths, strict=True):
        y = float(MARGIN)
        for slot in stack:
            height = box_height(section, boxes[slot]) if isinstance(slot, str) else LANE
            places[slot] = Place(x, y, width, height)
            y += height + ROW_GAP
        x += width + COLUMN_GAP
        bottom = max(bottom, y - ROW_GAP)
    ways = tuple(tuple(way(section, number, column, places)) for number in range(len(section.arrows)))
    own = {slot: place for slot, place in places.items() if isinstance(slot, str)}
    return Arranged(own, ways, x - COLUMN_GAP + MARGIN, bottom + MARGIN)


def columns(section: Section) -> dict[str, int]:
    """The column of each box: as many steps from the left as the longest way to it has; ways back do not count."""
    following: dict[str, list[str]] = {box.key: [] for box in section.boxes}
    for arrow in section.arrows:
        following[arrow.source].append(arrow.target)
    order = forward_order(following)
    rank = {key: i for i, key in enumerate(order)}
    column = dict.fromkeys(order, 0)
    for key in order:
        for target in following[key]:
            if rank[target] > rank[key]:
                column[target] = max(column[target], column[key] + 1)
    return column


def forward_order(following: dict[str, list[str]]) -> list[str]:
    """The boxes in an order in which arrows lead onward, but for those that close a circle."""
    done: dict[str, None] = {}
    for start in reversed(following):
        way = {start: iter(reversed(following[start]))} if start not in done else {}
        while way:
            key = next(reversed(way))
            target = next((t for t in way[key] if t not in done and t not in way), None)
            if target is None:
                del way[key]
                done[key] = None
            else:
                way[target] = iter(reversed(following[target]))
    return list(reversed(done))


def stacked(section: Section, column: Mapping[str, int]) -> list[list[Slot]]:
    """What stands in each column, from the top."""
    stacks: list[list[Slot]] = [[] for _ in range(1 + max(column.values(), default=0))]
    for box in section.boxes:
        stacks[column[box.key]].append(box.key)
    before: dict[Slot, list[tuple[Slot, float]]] = {}
    for number, arrow in enumerate(section.arrows):
        rows = rows_of(section, arrow.source)
        last: tuple[Slot, float] = (arrow.source, (rows.index(number) + 0.5) / len(rows))
        for i in range(column[arrow.source] + 1, column[arrow.target]):
            stacks[i].append((number, i))
            before.setdefault((number, i), []).append(last)
            last = ((number, i), 0.5)
        before.setdefault(arrow.target, []).append(last)
    return list(ordered(stacks, before))


def ordered(stacks: Sequence[list[Slot]], before: Mapping[Slot, list[tuple[Slot, float]]]) -> Iterator[list[Slot]]:
    """Each column in the order of what leads to it; of equals the first met stays first.

    `before` holds for each slot the slots that lead to it, and how far down in them the arrow begins (0 to 1).
    """
    at: dict[Slot, int] = {}
    for stack in stacks:
        sources = {slot: [at[b] + part for b, part in before.get(slot, ()) if b in at] for slot in stack}
        placed = sorted(stack, key=lambda slot: sum(sources[slot]) / max(1, len(sources[slot])))
        at.update((slot, i) for i, slot in enumerate(placed))
        yield placed


def box_width(section: Section, box: Box) -> float:
    """How wide a box is, with its rows."""
    rows = (section.arrows[i].text for i in rows_of(section, box.key))
    return 2 * PADDING + max(map(text_width, (*box.lines, *rows)))


def box_height(section: Section, box: Box) -> float:
    """How high a box is, with its rows."""
    rows = len(rows_of(section, box.key))
    return 2 * PADDING + LINE * len(box.lines) + (LINE * rows + PADDING if rows else 0)


def way(section: Section, number: int, column: Mapping[str, int], places: Mapping[Slot, Place]) -> Iterator[Point]:
    """The points that an arrow runs through: from its row, along its lanes, to the box that it leads to."""
    arrow = section.arrows[number]
    source, target = places[arrow.source], places[arrow.target]
    row = rows_of(section, arrow.source)
    above = source.height - PADDING - LINE * len(row)
    yield source.x + source.width, source.y + above + LINE * (row.index(number) + 0.5)
    for i in range(column[arrow.source] + 1, column[arrow.target]):
        lane = places[number, i]
        yield lane.x, lane.y + lane.height / 2
        yield lane.x + lane.width, lane.y + lane.height / 2
    yield target.x, target.y + target.height / 2
