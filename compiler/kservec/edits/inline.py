"""Patches that stand as text inside of a kustomization: changes of that text, in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yaml.nodes import ScalarNode

from kservec.core.paths import lookup
from kservec.core.paths import with_value as value_with
from kservec.edits.changes import Put, Target, changed, found
from kservec.edits.nodes import NotEditableError, documents_of, refuse_shared, values_of

if TYPE_CHECKING:
    from kservec.core.paths import Path
    from kservec.edits.changes import Change

LITERAL = "|"


def changed_inline(text: str, at: Path, target: Target, change: Change) -> str:
    """The text of a file after a change of what stands as text at a path of its only document.

    Raises:
        NotEditableError: the change cannot be made in the lines that are there.
    """
    before = values_of(text)
    old = lookup(before[0], at) if len(before) == 1 else None
    if not isinstance(old, str):
        raise NotEditableError("it is no text in the only document of a file")
    new = changed(old, target, [change])
    root = documents_of(text)[0]
    place = found(root, at)
    refuse_shared(root, place, text)
    if not isinstance(place.node, ScalarNode) or place.node.style != LITERAL:
        return changed(text, Target(0), [Put(at, new)])
    made = with_lines(text, place.node.start_mark.line, old, new)
    if values_of(made) != [value_with(before[0], at, new)]:
        raise NotEditableError("the edit would change more than one value")
    return made


def with_lines(text: str, line: int, old: str, new: str) -> str:
    """A text with other lines in the block that begins below a line; each of them has a counterpart.

    Raises:
        NotEditableError: there are more or fewer lines than before.
    """
    lines = text.splitlines(keepends=True)
    olds, news = old.split("\n"), new.split("\n")
    if len(olds) != len(news):
        raise NotEditableError("the edit would add lines to a text in a kustomization")
    for i, (before, after) in enumerate(zip(olds, news, strict=True), line + 1):
        if before != after:
            body = lines[i].rstrip("\r\n")
            if not body.endswith(before):
                raise NotEditableError("the lines of a text in a kustomization cannot be told apart")
            lines[i] = f"{body.removesuffix(before)}{after}{lines[i][len(body) :]}"
    return "".join(lines)
