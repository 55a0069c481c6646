"""Edits of an environment with an overlay: each value where that overlay wrote it, else in a patch that is added to it.

Decides which file is edited. Files that other environments reach, too, never are: theirs would change with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import lookup
from kservec.core.records import record
from kservec.core.text.document import SourceText
from kservec.core.text.encodings import decoded
from kservec.edits.changes import Put, Target, changed
from kservec.edits.inline import changed_inline
from kservec.edits.nodes import NotEditableError, values_of
from kservec.edits.patch_files import Valued, is_patch_of, listed, unlisted, with_value
from kservec.edits.pins import refusal
from kservec.edits.service import BYTE_ORDER_MARK, is_it, objects_in
from kservec.overlays.closure import Patch
from kservec.overlays.kustomization import Kustomization
from kservec.overlays.objects import id_of
from kservec.overlays.tracing import OverlaidDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef, Reject, Span
    from kservec.core.paths import Json, Path
    from kservec.core.text.source import Document
    from kservec.overlays.closure import Closure
    from kservec.overlays.objects import Gathered, Id
    from kservec.overlays.tracing import Spot, Written


@record
class Overlay:
    """The overlay of an environment. `lead` stands before paths of the project where they are shown.

    `own` are the files, by their paths in the project, that no other environment reaches. `objects` are what the
    overlay is made of.
    """

    environment: str
    closure: Closure
    objects: tuple[Gathered, ...]
    own: frozenset[str]
    lead: str = ""

    @property
    def folder(self) -> str:
        """The folder of the overlay, with a slash."""
        return f"{self.closure.start}/" if self.closure.start else ""

    def path_of(self, file: str) -> str:
        """The path in the project of a file as it is shown."""
        return file.removeprefix(self.lead)

    def is_own(self, document: Document) -> bool:
        """Whether a document's file belongs to this environment alone."""
        return self.path_of(document.file) in self.own


class Texts(NamedTuple):
    """The files of an overlay while they are edited. `edited` are those that changed; None for one that is gone."""

    overlay: Overlay
    edited: Mapping[str, str | None] = {}

    def text(self, path: str) -> str | None:
        """The text of a file, without a byte order mark; None if there is none.

        Raises:
            NotEditableError: it is no UTF-8.
        """
        if path in self.edited:
            return self.edited[path]
        content = self.overlay.closure.contents.get(path)
        if content is None:
            return None
        text = decoded(content, path)
        if not isinstance(text, SourceText):
            raise NotEditableError("it is no UTF-8")
        return text.text.removeprefix(BYTE_ORDER_MARK)

    def present(self, path: str) -> str:
        """The text of a file that is there."""
        return self.text(path) or ""

    def having(self, path: str, text: str | None) -> Texts:
        """The files with another text for one of them."""
        return self._replace(edited={**self.edited, path: text})

    def contents(self) -> dict[str, bytes | None]:
        """The contents of the files that changed, byte order marks included."""
        before = self.overlay.closure.contents
        mark = BYTE_ORDER_MARK.encode()
        made = {path: None if text is None else text.encode() for path, text in self.edited.items()}
        return {
            path: mark + content if content is not None and before.get(path, b"").startswith(mark) else content
            for path, content in made.items()
            if content != before.get(path, b"").removeprefix(mark) or path not in before
        }


def put(texts: Texts, document: Document, path: Path, value: Json) -> Texts | None:
    """The files with another value for a path of an object, set where the overlay wrote it; None if it did not.

    Args:
        texts: the files.
        document: the object as it is compiled.
        path: where the value stands in it, by the names of containers.
        value: the value.

    Raises:
        Reject: it cannot be edited there.
    """
    written = document.written(path) if isinstance(document, OverlaidDocument) else None
    if written is None or not texts.overlay.is_own(written.spot.document):
        return None
    spot, layer = written
    place = spot.document.span(spot.path)
    if isinstance(layer, Kustomization):
        return guarded(place, put_setting, texts, written, value)
    if layer is None:
        return guarded(place, put_object, texts, spot, value)
    return guarded(place, put_patch, texts, written, value)


def refuse_changed(document: Document, path: Path) -> None:
    """Refuse a value that is not what the overlay wrote: what changes it afterwards would do so again.

    Raises:
        Reject: it is one.
    """
    written = document.written(path) if isinstance(document, OverlaidDocument) else None
    if written is not None and written.spot.value != lookup(document.value, path):
        place, field = document.span(path), ".".join(map(str, path))
        message = f"{field} is changed after {place.file} has set it, by a replacement or the like"
        raise refusal(message, place, "edit what changes it by hand")


def put_patch(texts: Texts, written: Written, value: Json) -> Texts:
    """The files with another value in a patch."""
    spot, layer = written
    assert isinstance(layer, Patch)
    file = texts.overlay.path_of(spot.document.file)
    closure, kustomization = texts.overlay.closure, layer.kustomization
    change = Put(spot.path, value)
    if file != kustomization.path:
        target = Target(position(closure.texts[file], spot.document))
        return texts.having(file, changed(texts.present(file), target, [change]))
    beside = [p.document for p in closure.patches[kustomization.folder] if p.at == layer.at]
    target = Target(position(beside, spot.document))
    return texts.having(file, changed_inline(texts.present(file), layer.at, target, change))


def position(documents: Sequence[Document], wanted: Document) -> int:
    """Which of several documents of a text one is, though it was read another time."""
    return next(i for i, document in enumerate(documents) if document.start == wanted.start)


def put_object(texts: Texts, spot: Spot, value: Json) -> Texts:
    """The files with another value in the file of an object that only this environment has."""
    file = texts.overlay.path_of(spot.document.file)
    text = texts.present(file)
    there = [target for target, item in objects_in(values_of(text)) if is_it(item, spot.document)]
    if len(there) != 1:
        raise NotEditableError("the object stands in it more than once")
    return texts.having(file, changed(text, there[0], [Put(spot.path, value)]))


def put_setting(texts: Texts, written: Written, value: Json) -> Texts:
    """The files with another tag or digest of an image that a kustomization sets."""
    spot = written.spot
    field, file = spot.path[-1], texts.overlay.path_of(spot.document.file)
    mark = {"newTag": ":", "digest": "@"}.get(str(field))
    name = str(spot.value).rpartition(mark)[0] if mark else ""
    rest = str(value).removeprefix(f"{name}{mark}")
    if not mark or not str(value).startswith(f"{name}{mark}") or "/" in rest or (mark == ":" and "@" in rest):
        raise NotEditableError(f"{spot.path[0]} of a kustomization sets it, and cannot make {value} of it")
    return texts.having(file, changed(texts.present(file), Target(0), [Put(spot.path, rest)]))


def called_below(overlay: Overlay, document: Document) -> Id:
    """What an object is called where the patches of the overlay are laid over it.

    Raises:
        Reject: the overlay has no such object.
    """
    called = id_of(document.value)
    found = [known for known in overlay.objects if called is not None and is_called(known, called)]
    if len(found) != 1:
        raise stuck(document.span(), "it is not one object of the overlay")
    ids, first = found[0].ids, overlay.closure.first
    moved = any(first.text(field) for field in ("namespace", "namePrefix", "nameSuffix"))
    return ids[-2] if moved and len(ids) > 1 else ids[-1]


def is_called(known: Gathered, called: Id) -> bool:
    """Whether an object of the overlay ends up as one that was made."""
    last = known.last
    return (last.kind, last.group, last.place, last.name) == (called.kind, called.group, called.place, called.name)


def patched(texts: Texts, stem: str, valued: Valued) -> Texts:
    """The files with a value in a patch of our own, which is made and named by the kustomization if it is not there.

    Args:
        texts: the files.
        stem: what the file is called, without its ending.
        valued: the value.

    Raises:
        Reject: it cannot be done.
    """
    overlay = texts.overlay
    first = overlay.closure.first
    if first.path not in overlay.own:
        reason = f"other environments build on {first.path}, and would change, too"
        raise stuck(first.span(), reason)
    return guarded(first.span("patches"), with_patch, texts, stem, valued)


def with_patch(texts: Texts, stem: str, valued: Valued) -> Texts:
    """The same, without its guards."""
    overlay = texts.overlay
    first, called = overlay.closure.first, called_below(overlay, valued.document)
    name = file_for(texts, stem, called)
    file = f"{overlay.folder}{name}"
    made = with_value(texts.text(file), called, valued)
    return texts.having(file, made).having(first.path, listed(texts.present(first.path), name))


def pins_stem(ref: ObjectRef) -> str:
    """What the file of an object's pins is called, without its ending."""
    return f"pins-{ref.namespace}-{ref.name}"


def file_for(texts: Texts, stem: str, called: Id) -> str:
    """The file of a patch of our own: another object whose file would be called the same has its kind in the name.

    Raises:
        NotEditableError: both names are taken.
    """
    for name in (f"{stem}.yaml", f"{stem}-{called.kind.lower()}.yaml"):
        text = texts.text(f"{texts.overlay.folder}{name}")
        if text is None or is_patch_of(text, called):
            return name
    raise NotEditableError(f"{texts.overlay.folder}{stem}.yaml holds something else")


def without_patch(texts: Texts, name: str) -> Texts:
    """The files without a patch of our own, and without what names it.

    Raises:
        Reject: the kustomization cannot be edited.
    """
    return guarded(texts.overlay.closure.first.span("patches"), with_none, texts, name)


def with_none(texts: Texts, name: str) -> Texts:
    """The same, without its guard."""
    path = texts.overlay.closure.first.path
    return texts.having(f"{texts.overlay.folder}{name}", None).having(path, unlisted(texts.present(path), name))


def guarded(place: Span, make: Callable[..., Texts], *arguments: object) -> Texts:
    """What is made, or the refusal that it cannot be.

    Raises:
        Reject: it cannot.
    """
    try:
        return make(*arguments)
    except NotEditableError as error:
        raise stuck(place, error.reason) from None


def stuck(place: Span, reason: str) -> Reject:
    """What to raise where a file cannot be edited."""
    return refusal(f"{place.file} cannot be edited: {reason}", place, "edit it by hand")
