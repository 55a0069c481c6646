"""Broken documents: what they would have declared, so that nobody is told that it is not there.

Decides which findings only follow from a document that cannot be used. Such a document has a finding of its own, and
what rests on its object is judged when it is mended.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from kservec.core.records import record
from kservec.documents.entries import CLUSTER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kservec.core.diagnostics import Diagnostic, Needed, ObjectRef
    from kservec.documents.entries import Entry

MAKERS = {"Certificate": "Secret", "ExternalSecret": "Secret", "SealedSecret": "Secret"}
"""Kinds whose objects become others, most often of the same name."""

# Not compiled here, for few runs need them.
MARKER = r"(?m)^---(?=\s|\Z)"
KIND = r"""\bkind["']?\s*:\s*["']?(\w+)"""


@record
class Broken:
    """What was declared and cannot be used: objects by kind, namespace and name, and texts that cannot be read."""

    names: Collection[tuple[str, str, str]] = ()
    texts: Collection[str] = ()

    def explains(self, found: Diagnostic) -> bool:
        """Whether a finding only follows from what is broken."""
        return any(map(self.may_declare, found.rests_on))

    def may_declare(self, needed: Needed) -> bool:
        """Whether something broken may declare an object."""
        return any(fits(name, needed) for name in self.names) or any(mentions(text, needed) for text in self.texts)


def broken_documents(entries: Iterable[Entry], found: Iterable[Diagnostic]) -> Broken:
    """What documents declare and cannot be used, given what is wrong with them.

    Cluster documents with errors count as texts, for they declare objects of many kinds.
    """
    subjects = {d.subject for d in found if d.is_error and d.subject is not None}
    names = sorted((MAKERS.get(ref.kind, ref.kind), ref.namespace, ref.name) for ref in subjects)
    declarations = [json.dumps(e.document.value) for e in entries if is_declaration(e.ref) and e.ref in subjects]
    return Broken(names=names, texts=declarations)


def is_declaration(ref: ObjectRef) -> bool:
    """Whether a document is one of kservec's own that declares objects of a cluster."""
    return ref.kind == CLUSTER


def fits(name: tuple[str, str, str], needed: Needed) -> bool:
    """Whether an object is the one that is needed; one whose kind could not be told to have a namespace counts, too."""
    kind, namespace, own_name = name
    return kind == needed.kind and namespace in ("", needed.namespace) and needed.name in ("", own_name)


@lru_cache(maxsize=1024)
def mentions(text: str, needed: Needed) -> bool:
    """Whether a text that cannot be read looks as if it declared an object; of an empty one nothing is known."""
    if not text:
        return True
    kinds = re.findall(KIND, text)
    if kinds and not any(kind in (CLUSTER, "List") or needed.kind in kind for kind in kinds):
        return False
    return re.search(rf"(?<![\w.-]){re.escape(needed.name or needed.kind)}(?![\w.-])", text) is not None


def documents_at(text: str, lines: Collection[int]) -> Iterator[str]:
    """The documents of a file that certain lines belong to. A line 0 stands for the whole file."""
    starts = [0, *(found.start() for found in re.finditer(MARKER, text) if found.start()), len(text)]
    line = 1
    for start, end in pairwise(starts):
        after = line + text.count("\n", start, end)
        if any(line <= wanted <= after or not wanted for wanted in lines):
            yield text[start:end]
        line = after
