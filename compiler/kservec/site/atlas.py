"""The source files of a site: which of them are referred to, where a line of one is shown, and their pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.text.confidential import showable
from kservec.site.names import page_of, source_stem
from kservec.site.paging import MOST_LINES, sheets
from kservec.site.rows import source_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.site.writer import Page, Writer

_split_lines = re.compile(r"\r\n|\r|\n").split


class SourceRow(NamedTuple):
    """A source file in the list of all: its name, its page, and how many lines it has."""

    file: str
    page: str
    lines: int


class Atlas:
    """The source files of a site. It remembers which of them a page referred to."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._stems: dict[str, str] = {}

    def place(self, file: str, line: int) -> str:
        """Where a line is shown, below the site's folder; empty for a file that was not read."""
        stem = self._stems.get(file)
        if stem is None:
            if file not in self._files:
                return ""
            stem = self._stems[file] = source_stem(file)
        if line < 1:
            return page_of(stem)
        return f"{page_of(stem, 1 + (line - 1) // MOST_LINES)}#L{line}"

    def pages(self, writer: Writer) -> Iterator[Page]:
        """The pages of all files that were referred to, and the list of them."""
        rows: list[SourceRow] = []
        for file, stem in sorted(self._stems.items()):
            lines = _split_lines(showable(self._files[file]).removesuffix("\n"))
            rows.append(SourceRow(file, page_of(stem), len(lines)))
            for sheet, part in sheets(stem, lines, MOST_LINES):
                first = (sheet.number - 1) * MOST_LINES + 1
                yield writer.page("source", sheet.path, sheet=sheet, file=file, rows=source_rows(part, first))
        for sheet, part in sheets("sources", rows):
            yield writer.page("sources", sheet.path, sheet=sheet, rows=part, total=len(rows))
