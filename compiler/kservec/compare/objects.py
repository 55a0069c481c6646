"""The objects that differ between two rendered trees. Pure: files in, pairs of objects out.

Only what differs is parsed: files of the same content are told by their hashes before they come here, and documents of
the same text are dropped here. So it does not matter whether a tree has a file an object or all in one.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.values import Difference, differences
from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity, Span
from kservec.core.text.source import parse
from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX, KUSTOMIZATION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kservec.core.paths import Json

UNREADABLE = Code(
    "change/unreadable",
    Severity.WARNING,
    "a committed object that cannot be read",
    "A file of the committed tree is no YAML any more, so it is compared as if it were not there. It was edited by "
    "hand, or holds the marks of a merge conflict. A build writes it anew.",
)

_split_documents = re.compile(r"^---[ \t]*\r?\n", re.MULTILINE).split


class Action(Enum):
    """What happened to an object."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Text(NamedTuple):
    """The text of one object, the file that holds it, and whose it is."""

    text: str
    path: str
    owner: str


class Changed(NamedTuple):
    """An object that differs: its values before and after, None where it is not there. `owner`: as the index says it.

    `path` is its file below the output folder, the new one where it moved.
    """

    ref: ObjectRef
    owner: str
    path: str
    before: Json = None
    after: Json = None

    @property
    def action(self) -> Action:
        """What happened to it."""
        if self.before is None:
            return Action.ADDED
        return Action.REMOVED if self.after is None else Action.CHANGED

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The fields that differ, of an object that is there before and after."""
        return differences(self.before, self.after) if self.action is Action.CHANGED else ()


class Side(NamedTuple):
    """What differs of one tree: its files by path, and the owners of those by the tree's index."""

    files: Mapping[str, bytes]
    owners: Mapping[str, str]


def holds_objects(path: str) -> bool:
    """Whether a file of a tree holds objects; the index and kustomizations follow from those."""
    return path != INDEX and path.rpartition("/")[2] != KUSTOMIZATION


def owners_in(index: bytes, paths: Collection[str]) -> dict[str, str]:
    """The owners of files by an index; those that it does not list are missing. Of its lines only these are read."""
    keys = frozenset(json.dumps(path)[:-1] for path in paths)
    lines = (line.strip() for line in index.decode(errors="replace").splitlines())
    text = "\n".join(line for line in lines if line.partition('": ')[0] in keys)
    return {path: several[0].owner for path, several in read_index(text).items()}


def changed_objects(before: Side, after: Side, where: str) -> tuple[tuple[Changed, ...], tuple[Diagnostic, ...]]:
    """The objects in which two trees differ, in their total order, and which files could not be read.

    Args:
        before: what differs of the old tree.
        after: what differs of the new one.
        where: what findings call the folder of the old tree.
    """
    old, new = texts_of(before), texts_of(after)
    alike = {text.text for text in old} & {text.text for text in new}
    known, found = objects_of((t for t in old if t.text not in alike), where)
    made, _ = objects_of((t for t in new if t.text not in alike), "")
    paired = [pair(key, known.get(key), made.get(key)) for key in dict.fromkeys((*known, *made))]
    return tuple(sorted(paired, key=lambda changed: changed.ref)), found


def texts_of(side: Side) -> list[Text]:
    """Each object's text in the files of a tree."""
    return [
        Text(text, path, side.owners.get(path, ""))
        for path, content in sorted(side.files.items())
        if holds_objects(path)
        for text in _split_documents(content.decode(errors="replace"))
        if text.strip()
    ]


def objects_of(
    texts: Iterable[Text], where: str
) -> tuple[dict[tuple[str, str, str, str], tuple[ObjectRef, Text, Json]], tuple[Diagnostic, ...]]:
    """The objects of texts by group, kind, namespace and name; and which texts hold none."""
    objects: dict[tuple[str, str, str, str], tuple[ObjectRef, Text, Json]] = {}
    found: list[Diagnostic] = []
    for text in texts:
        documents, _ = parse(text.text.encode(), text.path)
        if not documents:
            file = f"{where}/{text.path}"
            message = f"{file} holds no object that can be read"
            found.append(Diagnostic(code=UNREADABLE, message=message, span=Span(file), help="build the tree anew"))
        for document in documents:
            ref = identity(document.value)
            objects.setdefault((ref.group, *ref[1:]), (ref, text, document.value))
    return objects, tuple(found)


def identity(body: Json) -> ObjectRef:
    """The identity of an object as it says it."""
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    parts = (body.get("apiVersion"), body.get("kind"), metadata.get("namespace"), metadata.get("name"))
    return ObjectRef(*(part if isinstance(part, str) else "" for part in parts))


def pair(
    key: tuple[str, str, str, str],
    before: tuple[ObjectRef, Text, Json] | None,
    after: tuple[ObjectRef, Text, Json] | None,
) -> Changed:
    """An object before and after."""
    ref, text, _ = after or before or (ObjectRef("", *key[1:]), Text("", "", ""), None)
    owner = text.owner or (before[1].owner if before else "")
    return Changed(ref, owner, text.path, before[2] if before else None, after[2] if after else None)
