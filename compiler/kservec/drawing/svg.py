"""Pictures as SVG, made here: no other program is needed, and the same topology gives the same bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from kservec.drawing.layout import MARGIN, arrange
from kservec.drawing.metrics import FONT_SIZE, LINE, PADDING, text_width
from kservec.drawing.style import EDGE, FONT, GROUND, LOOKS, MUTED, PICTURE, STYLE, TEXT
from kservec.topology.labels import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kservec.drawing.layout import Arranged, Place, Point
    from kservec.drawing.metrics import Box
    from kservec.topology.values import Edge, Node, Topology

__all__ = ["STYLE", "is_link", "svg"]

TITLE = 40
"""Pixels that a title takes in height; a note takes a line more."""
BASELINE = 0.75
"""Where in a line of text its letters stand."""
TITLE_SIZE = 15
DASHES = "5 4"
MOST_TOLD = 200
"""How many edges the description of a picture tells; of more it tells the number."""

_match_link = re.compile(r"(?:https?://|\.{0,2}/|[\w-]+(?:[./?#]|$)|#)[^\s]*").fullmatch


def is_link(address: str) -> bool:
    """Whether a picture takes an address for a link: one of http, or a relative one. Others might run something."""
    return _match_link(address) is not None


def no_link(node: Node) -> str:
    """Where a node leads: nowhere."""
    del node
    return ""


class Sheet(NamedTuple):
    """How a picture is put into a page: what stands before its ids, where its nodes lead, and if it lies in HTML."""

    prefix: str = ""
    link: Callable[[Node], str] = no_link
    inline: bool = False


def svg(
    topologies: Sequence[Topology],
    *,
    prefix: str = "",
    link: Callable[[Node], str] = no_link,
    inline: bool = False,
) -> str:
    """A picture with its topologies below one another.

    Args:
        topologies: what is drawn.
        prefix: what the ids in the picture begin with, for several pictures in one page.
        link: the address that a node leads to, relative or of http; empty for none. Anything else leads nowhere.
        inline: leave out the style sheet, which an HTML page with a strict Content-Security-Policy forbids: its own has
            to hold `STYLE`. Without it the picture can be read on light ground.
    """
    sheet = Sheet(prefix, link, inline)
    arranged = [arrange(topology) for topology in topologies]
    heads = [TITLE + (LINE if topology.note else 0) for topology in topologies]
    width = max((*(a.width for a in arranged), *map(head_width, topologies)), default=0.0)
    height = sum(a.height for a in arranged) + sum(heads)
    lines = [*opening(topologies, sheet, number(width), number(height))]
    top = 0.0
    for topology, places, head in zip(topologies, arranged, heads, strict=True):
        lines += [f'<g transform="translate(0 {number(top)})">', *drawn(topology, places, head, sheet), "</g>"]
        top += places.height + head
    return "\n".join((*lines, "</svg>", ""))


def opening(topologies: Sequence[Topology], sheet: Sheet, width: str, height: str) -> Iterator[str]:
    """The beginning of a picture: its size, what it is called and says to who does not see it, its arrowhead."""
    linked = any(sheet.link(node) for topology in topologies for node in topology.nodes)
    ids = (f"{attribute(sheet.prefix)}title", f"{attribute(sheet.prefix)}desc")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{PICTURE}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="{"group" if linked else "img"}" '
        f'aria-labelledby="{ids[0]} {ids[1]}" font-family="{attribute(FONT)}" font-size="{FONT_SIZE}">'
    )
    yield f'<title id="{ids[0]}">{text(", ".join(topology.title for topology in topologies))}</title>'
    yield f'<desc id="{ids[1]}">{text(" ".join(told for t in topologies for told in described(t)))}</desc>'
    if not sheet.inline:
        yield f"<style>{STYLE}</style>"
    yield (
        f'<defs><marker id="{attribute(sheet.prefix)}head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        f'markerHeight="8" orient="auto-start-reverse"><path class="kp-head" d="M0 0L10 5L0 10z" fill="{EDGE.light}"/>'
        "</marker></defs>"
    )
    yield f'<rect class="kp-ground" width="{width}" height="{height}" fill="{GROUND.light}"/>'


def described(topology: Topology) -> Iterator[str]:
    """A topology in words: what leads where."""
    names = {node.key: f"{node.lines[0]} ({', '.join(node.lines[1:])})" for node in topology.nodes}
    names = {node.key: names[node.key] if node.lines[1:] else node.lines[0] for node in topology.nodes}
    yield f"{topology.title}{': ' + topology.note if topology.note else ''}."
    for edge in topology.edges[:MOST_TOLD]:
        yield f"{names[edge.source]} leads to {names[edge.target]}{': ' + edge.text if edge.text else ''}."
    if len(topology.edges) > MOST_TOLD:
        yield f"And {len(topology.edges) - MOST_TOLD} more."


def head_width(topology: Topology) -> float:
    """How wide the title and the note of a topology are."""
    title = text_width(topology.title, is_bold=True) * TITLE_SIZE / FONT_SIZE
    return 2 * MARGIN + max(title, text_width(topology.note))


def drawn(topology: Topology, arranged: Arranged, head: int, sheet: Sheet) -> Iterator[str]:
    """A topology: its title and note, its edges, and the boxes above them."""
    yield label(topology.title, MARGIN, MARGIN + 4, f'font-size="{TITLE_SIZE}" font-weight="bold"')
    if topology.note:
        yield label(topology.note, MARGIN, MARGIN + 4 + LINE, muted=True)
    yield f'<g transform="translate(0 {head - MARGIN // 2})">'
    for edge, points in zip(topology.edges, arranged.ways, strict=True):
        yield curve(edge, points, sheet)
    for key, box in arranged.boxes.items():
        yield from linked(box.node, boxed(box, arranged.places[key]), sheet)
    yield "</g>"


def curve(edge: Edge, points: Sequence[Point], sheet: Sheet) -> str:
    """An edge through points: it leaves and reaches each of them level."""
    (x, y), *others = points
    parts = [f"M{number(x)} {number(y)}"]
    for x2, y2 in others:
        middle = number((x + x2) / 2)
        parts.append(f"C{middle} {number(y)} {middle} {number(y2)} {number(x2)} {number(y2)}")
        x, y = x2, y2
    dashes = f' stroke-dasharray="{DASHES}"' if edge.is_aside else ""
    return (
        f'<path class="kp-edge" d="{"".join(parts)}" fill="none" stroke="{EDGE.light}" stroke-width="1.2"{dashes} '
        f'marker-end="url(#{attribute(sheet.prefix)}head)"/>'
    )


def linked(node: Node, box: Iterator[str], sheet: Sheet) -> Iterator[str]:
    """A box as a part of the picture, with the link that it is, if it leads anywhere."""
    address = sheet.link(node)
    leads = bool(address) and is_link(address)
    if leads:
        yield f'<a href="{attribute(address)}">'
    yield f'<g class="kp-{node.kind}">'
    yield from box
    yield "</g>"
    if leads:
        yield "</a>"


def boxed(box: Box, place: Place) -> Iterator[str]:
    """A box with its text, the first line of which is its name, and a row for each edge that has a text."""
    look = LOOKS[box.node.kind]
    x, y, width, height = map(number, place)
    yield (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{look.rounding}" fill="{look.fill}" '
        f'stroke="{look.frame}"/>'
    )
    for i, line in enumerate(box.node.lines):
        at = place.y + PADDING + LINE * (i + BASELINE)
        yield label(line, place.x + place.width / 2, at, ANCHORED if i else NAMED, muted=i > 0)
    for row in box.rows[:1]:
        at = place.y + row.top - PADDING / 2
        yield f'<path d="M{x} {number(at)}H{number(place.x + place.width)}" stroke="{look.frame}"/>'
    for row in box.rows:
        for i, line in enumerate(row.lines):
            yield label(line, place.x + place.width - PADDING, place.y + row.top + LINE * (i + BASELINE), ROW)


ANCHORED = 'text-anchor="middle"'
NAMED = f'{ANCHORED} font-weight="bold"'
ROW = 'text-anchor="end"'


def label(plain: str, x: float, y: float, look: str = "", *, muted: bool = False) -> str:
    """A line of text."""
    ink, name = (MUTED, "kp-muted") if muted else (TEXT, "kp-text")
    looks = f" {look}" if look else ""
    return f'<text class="{name}" x="{number(x)}" y="{number(y)}" fill="{ink.light}"{looks}>{text(plain)}</text>'


def number(value: float) -> str:
    """A number of pixels, with one digit after the point at most."""
    return f"{value:.1f}".removesuffix(".0")


def text(plain: str) -> str:
    """A text in which nothing means anything to XML."""
    return escape(clean(plain))


def attribute(plain: str) -> str:
    """A text as the value of an attribute."""
    return escape(clean(plain), {'"': "&quot;", "'": "&#39;"})
