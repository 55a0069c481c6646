"""Layout: where boxes stand and edges run. Pixels, from the upper left corner."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.drawing.layers import layers_of
from kservec.drawing.metrics import boxes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.drawing.layers import Layers, Link, Slot
    from kservec.drawing.metrics import Box
    from kservec.topology.values import Topology

MARGIN = 24
ROW_GAP, COLUMN_GAP = 22, 72
LANE = 12
"""The height of an edge that passes a column."""
ROUNDS = 4
"""How often slots move to where their links are straighter: towards what leads to them, then towards what follows."""

Point: TypeAlias = tuple[float, float]


class Place(NamedTuple):
    """Where a box stands, and how large it is."""

    x: float
    y: float
    width: float
    height: float


class Arranged(NamedTuple):
    """The boxes and their places by their keys, the way of each edge from point to point, and the size of it all."""

    boxes: Mapping[str, Box]
    places: Mapping[str, Place]
    ways: tuple[tuple[Point, ...], ...]
    width: float
    height: float


class Room(NamedTuple):
    """How high each slot is, and how far below its top each edge leaves it and all edges reach it."""

    heights: Mapping[Slot, float]
    leaving: Mapping[int, float]
    entering: Mapping[Slot, float]


def arrange(topology: Topology) -> Arranged:
    """Places for the boxes and edges of a topology."""
    layers = layers_of(topology)
    boxes = boxes_of(topology)
    room = room_of(layers, boxes)
    tops = settled(layers, room)
    places: dict[Slot, Place] = {}
    x = float(MARGIN)
    for stack in layers.stacks:
        width = max((boxes[slot].width for slot in stack if isinstance(slot, str)), default=0.0)
        places.update((slot, Place(x, tops[slot] + MARGIN, width, room.heights[slot])) for slot in stack)
        x += width + COLUMN_GAP
    bottom = max((place.y + place.height for place in places.values()), default=float(MARGIN))
    ways = tuple(ways_of(topology, layers, places, room))
    own = {slot: place for slot, place in places.items() if isinstance(slot, str)}
    return Arranged(boxes, own, ways, x - COLUMN_GAP + MARGIN, bottom + MARGIN)


def room_of(layers: Layers, boxes: Mapping[str, Box]) -> Room:
    """What each slot takes in height, and where edges leave and reach it."""
    heights: dict[Slot, float] = {slot: float(LANE) for stack in layers.stacks for slot in stack}
    entering: dict[Slot, float] = dict.fromkeys(heights, LANE / 2)
    leaving: dict[int, float] = {}
    for key, box in boxes.items():
        heights[key], entering[key] = box.height, box.middle
        leaving |= dict.fromkeys(box.bare, box.middle)
        leaving |= {row.edge: row.middle for row in box.rows}
    return Room(heights, leaving, entering)


def settled(layers: Layers, room: Room) -> dict[Slot, float]:
    """The top of each slot: links are as straight as can be where nothing overlaps."""
    before: dict[Slot, list[Link]] = {}
    after: dict[Slot, list[Link]] = {}
    for link in layers.links:
        before.setdefault(link.right, []).append(link)
        after.setdefault(link.left, []).append(link)
    tops: dict[Slot, float] = {}
    for stack in layers.stacks:
        tops |= zip(stack, packed([0.0] * len(stack), stack, room.heights), strict=True)
    for _ in range(ROUNDS):
        earlier = dict(tops)
        for linked, stacks in ((before, layers.stacks), (after, layers.stacks[::-1])):
            for stack in stacks:
                wishes = [wish(slot, linked, tops, room) for slot in stack]
                tops |= zip(stack, packed(wishes, stack, room.heights), strict=True)
        if tops == earlier:
            break
    highest = min(tops.values(), default=0.0)
    return {slot: top - highest for slot, top in tops.items()}


def wish(slot: Slot, linked: Mapping[Slot, Sequence[Link]], tops: Mapping[Slot, float], room: Room) -> float:
    """The top at which some links of a slot would be straight, on average."""
    found = [
        tops[link.left] + leaves_at(link.left, link.edge, room) - room.entering[slot]
        if link.right == slot
        else tops[link.right] + room.entering[link.right] - leaves_at(slot, link.edge, room)
        for link in linked.get(slot, ())
    ]
    return sum(found) / len(found) if found else tops[slot]


def leaves_at(slot: Slot, edge: int, room: Room) -> float:
    """How far below the top of a slot an edge leaves it."""
    return room.leaving[edge] if isinstance(slot, str) else LANE / 2


def packed(wishes: Sequence[float], stack: Sequence[Slot], heights: Mapping[Slot, float]) -> list[float]:
    """Tops as near to those wished for as can be, where each slot is below the one before.

    The least sum of squares: slots that would overlap become a block, which stands where its members want it on
    average (isotonic regression by pooling neighbours).
    """
    offsets: list[float] = []
    offset = 0.0
    blocks: list[tuple[float, int]] = []
    for slot, wanted in zip(stack, wishes, strict=True):
        offsets.append(offset)
        mean, size = wanted - offset, 1
        while blocks and blocks[-1][0] >= mean:
            other, count = blocks.pop()
            mean, size = (other * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
        offset += heights[slot] + ROW_GAP
    starts = [mean for mean, size in blocks for _ in range(size)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]


def ways_of(
    topology: Topology, layers: Layers, places: Mapping[Slot, Place], room: Room
) -> Iterator[tuple[Point, ...]]:
    """The points that each edge runs through: from its row, along its lanes, to the box that it leads to."""
    lanes: dict[int, list[Slot]] = {}
    for stack in layers.stacks:
        for slot in stack:
            if not isinstance(slot, str):
                lanes.setdefault(slot[0], []).append(slot)
    for number, edge in enumerate(topology.edges):
        source, target = places[edge.source], places[edge.target]
        points: list[Point] = [(source.x + source.width, source.y + room.leaving[number])]
        for slot in lanes.get(number, ()):
            lane = places[slot]
            points += [(lane.x, lane.y + LANE / 2), (lane.x + lane.width, lane.y + LANE / 2)]
        yield (*points, (target.x, target.y + room.entering[edge.target]))
