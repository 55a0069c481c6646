"""The documents that differ between two states of an environment's inputs. Pure: files in, pairs of documents out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.compare.updates import Update
from kservec.compare.values import same
from kservec.core.text.source import parse
from kservec.documents.entries import ref_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.schemas.schema import Schemas
    from kservec.core.text.document import Document


Key: TypeAlias = tuple[str, str, str, str]
"""Group, kind, namespace and name."""


class Described(NamedTuple):
    """A document and the object that it describes."""

    ref: ObjectRef
    document: Document


class Altered(NamedTuple):
    """A document that differs; None where it is not there. `files` are those that hold it."""

    ref: ObjectRef
    before: Document | None
    after: Document | None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that hold it, the new one first."""
        return tuple(dict.fromkeys(d.file for d in (self.after, self.before) if d is not None))


def altered(before: Mapping[str, bytes], after: Mapping[str, bytes], schemas: Schemas) -> tuple[Altered, ...]:
    """The documents that are not the same before and after, in their order.

    What only moved to another file, or has other comments, is the same.

    Args:
        before: the contents of files by name.
        after: those that came of them.
        schemas: what tells which kinds have namespaces.
    """
    old = documents_of(unshared(before, after), schemas)
    new = documents_of(unshared(after, before), schemas)
    return tuple(pair for key in sorted({**old, **new}) if not is_same(pair := paired(old.get(key), new.get(key))))


def paired(before: Described | None, after: Described | None) -> Altered:
    """A document before and after, of which there is at least one."""
    described = after or before
    assert described is not None
    return Altered(described.ref, before.document if before else None, after.document if after else None)


def is_same(pair: Altered) -> bool:
    """Whether a document says the same before and after."""
    return pair.before is not None and pair.after is not None and same(pair.before.value, pair.after.value)


def unshared(files: Mapping[str, bytes], others: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """The files that differ from those of the same name."""
    return ((name, content) for name, content in sorted(files.items()) if others.get(name) != content)


def documents_of(files: Iterable[tuple[str, bytes]], schemas: Schemas) -> dict[Key, Described]:
    """The documents of files by what they describe, whichever version of an API they are of. The last one counts."""
    found = (document for name, content in files for document in parse(content, name)[0])
    described = [Described(ref_of(document, schemas), document) for document in found]
    return {(d.ref.group, *d.ref[1:]): d for d in described if d.ref.kind}


def updates_of(pairs: Iterable[Altered]) -> list[Update]:
    """The documents that are there before and after."""
    return [Update(p.ref, p.before.value, p.after) for p in pairs if p.before is not None and p.after is not None]
