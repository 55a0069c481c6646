"""Pictures as SVG, made here: no other program is needed, and the same graph gives the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from kservec.drawing.layout import LINE, MARGIN, PADDING, arrange, rows_of, text_width
from kservec.drawing.picture import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.drawing.layout import Arranged, Place, Point
    from kservec.drawing.picture import Box, Section

TITLE = 36
"""Pixels that a title takes in height."""

BASELINE = 0.75
"""Where in a line of text its letters stand."""

FILLS = {Shape.NODE: "#e8f0fe", Shape.SERVICE: "#e6f4ea", Shape.ADDRESS: "#f1f3f4"}
ROUNDING = {Shape.NODE: 4, Shape.SERVICE: 16, Shape.ADDRESS: 0}
STYLE = "font-family:sans-serif;font-size:13px"
ARROWHEAD = (
    '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
    'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#5f6368"/></marker></defs>'
)


def svg(sections: Sequence[Section]) -> str:
    """A picture with its sections below one another."""
    arranged = [arrange(section) for section in sections]
    titles = (2 * MARGIN + text_width(section.title) for section in sections)
    width = max((*(a.width for a in arranged), *titles), default=0.0)
    height = sum(a.height + TITLE for a in arranged)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" style="{STYLE}">',
        ARROWHEAD,
        f'<rect width="{number(width)}" height="{number(height)}" fill="#fff"/>',
    ]
    top = 0.0
    for section, places in zip(sections, arranged, strict=True):
        lines += [f'<g transform="translate(0 {number(top)})">', *drawn(section, places), "</g>"]
        top += places.height + TITLE
    return "\n".join((*lines, "</svg>", ""))


def drawn(section: Section, arranged: Arranged) -> Iterator[str]:
    """A section: its title, its arrows, and the boxes above them."""
    yield f'<text x="{MARGIN}" y="{MARGIN}" font-weight="bold">{text(section.title)}</text>'
    yield f'<g transform="translate(0 {TITLE - MARGIN // 2})">'
    for points in arranged.ways:
        yield curve(points)
    for box in section.boxes:
        rows = [section.arrows[i].text for i in rows_of(section, box.key)]
        yield from drawn_box(box, rows, arranged.places[box.key])
    yield "</g>"


def curve(points: Sequence[Point]) -> str:
    """An arrow through points: it leaves and reaches each of them level."""
    (x, y), *others = points
    parts = [f"M{number(x)} {number(y)}"]
    for x2, y2 in others:
        middle = number((x + x2) / 2)
        parts.append(f"C{middle} {number(y)} {middle} {number(y2)} {number(x2)} {number(y2)}")
        x, y = x2, y2
    return f'<path d="{"".join(parts)}" fill="none" stroke="#5f6368" marker-end="url(#head)"/>'


def drawn_box(box: Box, rows: Sequence[str], place: Place) -> Iterator[str]:
    """A box with its text, the first line of which is its name, and a row for each arrow that leaves it."""
    x, y, width, height = map(number, place)
    look = f'rx="{ROUNDING[box.shape]}" fill="{FILLS[box.shape]}" stroke="#5f6368"'
    yield f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {look}/>'
    centre = number(place.x + place.width / 2)
    for i, line in enumerate(box.lines):
        weight = "" if i else ' font-weight="bold"'
        at = number(place.y + PADDING + LINE * (i + BASELINE))
        yield f'<text x="{centre}" y="{at}" text-anchor="middle"{weight}>{text(line)}</text>'
    top = place.y + place.height - PADDING - LINE * len(rows)
    if rows:
        at, right = number(top - PADDING / 2), number(place.x + place.width)
        yield f'<path d="M{x} {at}H{right}" stroke="#5f6368"/>'
    for i, row in enumerate(rows):
        left, at = number(place.x + PADDING), number(top + LINE * (i + BASELINE))
        yield f'<text x="{left}" y="{at}">{text(row)}</text>'


def number(value: float) -> str:
    """A number of pixels, with one digit after the point at most."""
    return f"{value:.1f}".removesuffix(".0")


def text(plain: str) -> str:
    """A text in which nothing means anything to XML."""
    return escape(plain, {'"': "&quot;"})
