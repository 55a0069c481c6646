"""The InferenceService that is edited: its object in the text of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import lookup
from kservec.edits.changes import Target
from kservec.edits.nodes import NotEditableError, values_of
from kservec.edits.pins import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.paths import Json
    from kservec.core.text.source import Document

BYTE_ORDER_MARK = "\ufeff"


class Service(NamedTuple):
    """A service: its object as it is written, its document, and where the object stands in the text."""

    ref: ObjectRef
    document: Document
    value: Json
    target: Target

    @property
    def name(self) -> str:
        """The name of the service."""
        return self.ref.name

    def span(self, *path: str | int) -> Span:
        """Where a value of the object was written; of a map or list its key, as its text begins with its first part."""
        whole = isinstance(lookup(self.value, path), dict | list)
        return self.document.key_span(path) if whole and path else self.document.span(path)


def service_in(text: str, document: Document, ref: ObjectRef) -> Service:
    """The service of a document, in the text of its file.

    Raises:
        Reject: the text cannot be edited.
    """
    place = document.span(("metadata", "name"))
    try:
        found = [t for t, value in objects_in(values_of(text.removeprefix(BYTE_ORDER_MARK))) if is_it(value, document)]
    except NotEditableError as error:
        message = f"{document.file} cannot be edited: {error.reason}"
        raise refusal(message, document.span(()), "edit it by hand") from None
    if len(found) != 1:
        raise refusal(f"{ref} cannot be edited in {document.file}", place, "edit it by hand")
    return Service(ref, document, document.value, found[0])


def is_it(value: Json, document: Document) -> bool:
    """Whether a value of the text is the object of a document."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return False
    names = ("name", "namespace")
    same = all(value["metadata"].get(key) == document.value["metadata"].get(key) for key in names)
    return same and value.get("kind") == document.value["kind"]


def objects_in(values: list[Json]) -> Iterator[tuple[Target, Json]]:
    """The objects of a file, those of Lists one by one."""
    for i, value in enumerate(values):
        yield Target(i), value
        items = value.get("items") if isinstance(value, dict) else None
        for j, item in enumerate(items if isinstance(items, list) else ()):
            yield Target(i, ("items", j)), item
