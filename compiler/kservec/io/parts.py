"""Parts of rendered trees in the file system: reading one, and what other parts have in a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX
from kservec.gitops.parts import Part, is_of_nobody, namespace_of, objects_in
from kservec.io.tree_writer import content_of

if TYPE_CHECKING:
    from pathlib import Path

    from kservec.core.share import Share
    from kservec.gitops.rendered import Rendered


def read_part(folder: Path) -> Part:
    """A part, with the files that its index lists.

    Raises:
        OSError: it has no index, or a file cannot be read.
    """
    entries = read_index((folder / INDEX).read_text(encoding="utf-8", errors="replace"))
    contents = {path: content_of(folder / path) for path in entries}
    return Part(str(folder), {p: content for p, content in contents.items() if content is not None}, entries)


def other_objects(folder: Path, share: Share) -> list[Rendered]:
    """The objects of a tree that other parts answer for, as they stand; what cannot be read is left out.

    Raises:
        OSError: a file cannot be read.
    """
    index = content_of(folder / INDEX) or b""
    entries = {
        path: several
        for path, several in read_index(index.decode(errors="replace")).items()
        if not share.holds(namespace_of(several[0].owner)) or is_of_nobody(several[0].owner)
    }

    def text(path: str) -> str | None:
        content = content_of(folder / path)
        return content.decode(errors="replace") if content is not None else None

    return list(objects_in(entries, text))
