"""Rows of a table of lines, as HTML: what a template would take most of the time of a site for.

All text is escaped here. Ids are made of a key, which is letters and digits, and numbers.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from markupsafe import Markup

from kservec.report.words import printable
from kservec.site.lines import stretches
from kservec.site.names import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.site.atlas import Atlas
    from kservec.site.lines import Lines, Provenance


def line_rows(key: str, texts: Sequence[str], first: int, cells: Sequence[str] = ()) -> list[str]:
    """A row for each line, which can be linked to by its number.

    Args:
        key: what the ids of the rows begin with.
        texts: the lines.
        first: the number of the first.
        cells: what is added to each row; nothing to any without them.
    """
    escaped = escape("\n".join(texts)).split("\n")
    begun = [
        f'<tr id="{key}{n}"><td><a href="#{key}{n}" tabindex="-1">{n}</a></td><td>{text}</td>'
        for n, text in enumerate(escaped, first)
    ]
    return [f"{row}{cell}</tr>\n" for row, cell in zip(begun, cells, strict=True)] if cells else begun


def source_rows(texts: Sequence[str], first: int) -> Markup:
    """The lines of a source file."""
    return Markup("</tr>\n".join(line_rows("L", [printable(text) for text in texts], first)))  # noqa: S704 - escaped


def object_rows(key: str, lines: Lines, start: int, end: int, origins: Origins) -> Markup:
    """The lines of an object from one to another, each with where it comes from; what is the same stands once.

    Args:
        key: what the ids of the rows begin with.
        lines: the lines of the object.
        start: the first of them, counting from 0.
        end: the one after the last.
        origins: writes where lines come from.
    """
    cells = [""] * (end - start)
    sources = lines.sources[start:end]
    for at, count in stretches(sources):
        cells[at] = f'<td rowspan="{count}">{origins.cell(sources[at])}</td>'
    return Markup("".join(line_rows(f"{key}-", lines.texts[start:end], start + 1, cells)))  # noqa: S704 - escaped


class Origins:
    """Writes where lines come from, with links for pages at one depth below the site's folder."""

    def __init__(self, atlas: Atlas, root: str) -> None:
        self._atlas = atlas
        self._root = root
        self._cells: dict[Provenance, str] = {}

    def cell(self, source: Provenance) -> str:
        """What is told of one place."""
        known = self._cells.get(source)
        if known is None:
            known = self._cells[source] = self._written(source)
        return known

    def _written(self, source: Provenance) -> str:
        style = slug(source.layer).partition(".")[0]
        parts = [f'<span class="layer l-{style}">{escape(source.layer)}</span>']
        if source.file:
            place = escape(printable(f"{source.file}:{source.line}" if source.line else source.file))
            page = self._atlas.place(source.file, source.line)
            link = f'<a class="place" href="{escape(self._root + page)}">{place}</a>'
            parts.append(link if page else f'<span class="place">{place}</span>')
        if source.by and source.by not in source.file:
            parts.append(f'<span class="by">{escape(printable(source.by))}</span>')
        return " ".join(parts)
