"""Places as CI systems want them: files by their paths from the top of the repository, wherever kservec ran."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from kservec.core.records import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic, Span


def from_top(diagnostics: Sequence[Diagnostic], top: str, folder: str) -> list[Diagnostic]:
    """Findings whose files are named from the top of a repository.

    Args:
        diagnostics: their files are relative to `folder`, or absolute.
        top: the absolute path of the top; what is not below it keeps its name.
        folder: the absolute path of the folder that kservec ran in.
    """
    return [evolve(d, span=d.span and renamed(d.span, top, folder), related=tuple(
        (renamed(span, top, folder), text) for span, text in d.related)) for d in diagnostics]  # fmt: skip


def renamed(span: Span, top: str, folder: str) -> Span:
    """A span in a file that is named from the top."""
    path = posixpath.normpath(posixpath.join(folder, span.file))
    below = path.startswith(f"{top.rstrip('/')}/") and not span.file.startswith("<")
    return span._replace(file=posixpath.relpath(path, top)) if below else span
