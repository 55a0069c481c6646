"""Metrics: how much room texts and boxes take. Pixels everywhere; the figures are those of a wide sans-serif font."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.topology.values import Edge, Node, Topology

FONT_SIZE, LINE = 13, 18
"""The size of letters, and what a line takes in height."""
BOLD = 1.12
"""How much wider letters are in bold."""
PADDING, ROW_SPACE = 10, 3
LEAST_WIDTH = 64
ROW_CHARACTERS = 52
"""How long a line of a row is before it is broken."""

MOST = 0.64
"""The width of most characters, in ems; those of East Asian scripts take twice that."""
NARROW_AND_WIDE: Mapping[str, float] = {
    **dict.fromkeys("ijl'|.,:;! I", 0.34),
    **dict.fromkeys('frt()[]{}/\\-"`', 0.43),
    **dict.fromkeys("mwMW@%", 0.97),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&+=<>~^#_", 0.76),
}


class Widths(dict[str, float]):
    """The widths of characters in ems, of those that were asked for: nothing in a picture is asked as often."""

    def __missing__(self, character: str) -> float:
        """Find a width out."""
        width = NARROW_AND_WIDE.get(character, 2 * MOST if east_asian_width(character) in "WF" else MOST)
        self[character] = width
        return width


width_of = Widths().__getitem__


class Row(NamedTuple):
    """What is told of an edge in the box that it leaves, as lines, and how far below the top of the box that begins."""

    edge: int
    lines: tuple[str, ...]
    top: float

    @property
    def middle(self) -> float:
        """How far below the top of the box the edge leaves it."""
        return self.top + LINE * len(self.lines) / 2


class Box(NamedTuple):
    """A node with all that is told in its box: a row for each edge with a text; other edges leave it beside its lines.

    `middle` is how far below its top those leave it and others reach it.
    """

    node: Node
    rows: tuple[Row, ...]
    bare: tuple[int, ...]
    middle: float
    width: float
    height: float


def text_width(text: str, *, is_bold: bool = False) -> float:
    """About how wide a text is, rather more than less."""
    return sum(map(width_of, text)) * FONT_SIZE * (BOLD if is_bold else 1)


def boxes_of(topology: Topology) -> dict[str, Box]:
    """The box of each node, by its key."""
    leaving: dict[str, list[int]] = {node.key: [] for node in topology.nodes}
    for i, edge in enumerate(topology.edges):
        leaving[edge.source].append(i)
    return {node.key: box_of(node, leaving[node.key], topology.edges) for node in topology.nodes}


def box_of(node: Node, leaving: Sequence[int], edges: Sequence[Edge]) -> Box:
    """The box of one node, which some edges leave."""
    head = 2 * PADDING + LINE * len(node.lines)
    rows: list[Row] = []
    bottom = float(head)
    for number in leaving:
        if edges[number].text:
            rows.append(Row(number, row_lines(edges[number].text), bottom))
            bottom += LINE * len(rows[-1].lines) + ROW_SPACE
    name, *others = node.lines
    texts = (*others, *(line for row in rows for line in row.lines))
    width = 2 * PADDING + max((text_width(name, is_bold=True), *map(text_width, texts)))
    bare = tuple(number for number in leaving if not edges[number].text)
    height = bottom + (PADDING - ROW_SPACE if rows else 0)
    return Box(node, tuple(rows), bare, head / 2, max(LEAST_WIDTH, width), height)


def row_lines(text: str) -> tuple[str, ...]:
    """A text as lines of a row, broken between words and, where one is too long, within it."""
    return tuple(wrap(text, ROW_CHARACTERS, break_on_hyphens=False)) or (text,)
