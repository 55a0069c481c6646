"""Texts of patches: documents of any shape, in files of their own or inside of a kustomization.

Decides where a value of an inline patch stands in the file around it. Must not know what patches do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from kservec.core.text.document import Document, SourceText
from kservec.core.text.embedded import block_at
from kservec.core.text.encodings import decoded
from kservec.core.text.reading import Limits, StopReadingError
from kservec.core.text.yaml_reader import YamlReader
from kservec.core.text.yaml_syntax import explain_syntax_error

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.paths import Path


class InlineText(SourceText):
    """A text that stands as a block inside of a file: it begins below `line`, and each of its lines after `indent`.

    Where the lines of the text are not those of the file, everything stands at one `place`.
    """

    __slots__ = ("_fixed", "_indent", "_line")

    def __init__(self, file: str, text: str, line: int, indent: int, fixed: tuple[int, int] | None = None) -> None:
        super().__init__(file, text)
        self._line, self._indent, self._fixed = line, indent, fixed

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column in the file, both from 1, of the character at `offset` of the text."""
        if self._fixed is not None:
            return self._fixed
        line, column = super().place(offset)
        return line + self._line, column + self._indent


def inline_text(document: Document, at: Path, text: str) -> InlineText:
    """The text that is a scalar of a document."""
    span = document.span(at)
    block = block_at(document, at, text)
    if block is None:
        return InlineText(document.file, text, 0, 0, (span.line, span.column))
    return InlineText(document.file, text, *block)


def read_content(content: bytes, file: str, limits: Limits) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """The documents of a file, be they maps or lists, and what is wrong with its text."""
    text = decoded(content, file)
    return read_text(text, limits) if isinstance(text, SourceText) else ((), (text,))


def read_text(text: SourceText, limits: Limits) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """The documents of a text, be they maps or lists, and what is wrong with it."""
    reader = YamlReader(text, limits)
    documents: list[Document] = []
    found: list[Diagnostic] = []
    try:
        for value, position in reader.documents():
            documents.append(Document(text.file, value, position, text, reader.start))
    except StopReadingError as error:
        found.append(error.diagnostic)
    except (yaml.YAMLError, ValueError) as error:
        found.append(explain_syntax_error(error, text))
    return tuple(d for d in documents if d.value is not None), (*reader.findings, *found)
