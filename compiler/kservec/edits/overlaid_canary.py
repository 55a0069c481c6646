"""A canary in an environment with an overlay: a patch of that overlay holds it, and other environments know nothing.

Decides which file each step edits. What a canary changes is decided where one in a spec is: here the same changes
become values of the patch. Taking it back is taking the patch away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.knative.revisions import BEFORE_CANARY
from kservec.core.paths import lookup
from kservec.edits.changes import Put, Remove, changed, with_change
from kservec.edits.knative_canary import ANNOTATIONS, PREDICTOR, SHARE, ended
from kservec.edits.layered import guarded, patched, pins_stem, put, without_patch
from kservec.edits.nodes import values_of
from kservec.edits.patch_files import ONLY, Valued
from kservec.edits.pins import refusal
from kservec.edits.standard_canary import CANARY, leaves
from kservec.overlays.closure import Patch
from kservec.overlays.tracing import OverlaidDocument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import Reject
    from kservec.core.paths import Json, Path
    from kservec.edits.changes import Change
    from kservec.edits.layered import Texts
    from kservec.edits.service import Service

KEPT: Path = (*ANNOTATIONS, BEFORE_CANARY)
"""What only a canary in a spec needs: without its patch the service is what it was before."""


def stem_of(service: Service) -> str:
    """What the file of a service's canary is called, without its ending."""
    return f"canary-{service.ref.namespace}-{service.name}"


def started(texts: Texts, service: Service, changes: Sequence[Change]) -> Texts:
    """The files with a canary: what it changes is in a patch of its own.

    Raises:
        Reject: there are canaries that another file holds, or the overlay cannot be edited.
    """
    for change in changes:
        if isinstance(change, Remove) or change.path == KEPT:
            continue
        if change.path[: len(CANARY)] == CANARY and len(change.path) > len(CANARY):
            file_of(texts, service)
        texts = patched(texts, stem_of(service), Valued(service.document, change.path, change.value))
    return texts


def stepped(texts: Texts, service: Service, changes: Sequence[Change]) -> Texts:
    """The files with another share for a canary, where the overlay says it.

    Raises:
        Reject: the overlay does not say it.
    """
    for change in changes:
        assert isinstance(change, Put)
        made = put(texts, service.document, change.path, change.value)
        if made is None:
            raise elsewhere(texts, service, change.path)
        texts = made
    return texts


def promoted(texts: Texts, service: Service, changes: Sequence[Change]) -> Texts:
    """The files without a canary, and with what it changed where the overlay says that, or in a patch of pins.

    Raises:
        Reject: another file holds the canary, or the overlay cannot be edited.
    """
    name = file_of(texts, service)
    below = without_layer(service.document, f"{texts.overlay.folder}{name}", texts)
    for path, value in settled(texts, service, changes):
        made = put(texts, below, path, value)
        texts = made if made is not None else patched(texts, pins_stem(service.ref), Valued(below, path, value))
    return rolled_back(texts, service, changes)


def settled(texts: Texts, service: Service, changes: Sequence[Change]) -> Iterator[tuple[Path, Json]]:
    """What the service has from its canary once that is promoted."""
    if lookup(service.value, SHARE) is None:
        yield from ((change.path, change.value) for change in changes if not isinstance(change, Remove))
        return
    patch = values_of(texts.present(f"{texts.overlay.folder}{file_of(texts, service)}"))[0]
    for path, value in leaves(lookup(patch, PREDICTOR) or {}, PREDICTOR):
        if path != SHARE:
            yield path, value


def rolled_back(texts: Texts, service: Service, changes: Sequence[Change]) -> Texts:
    """The files without a canary; where it was the only one as they were before it.

    Raises:
        Reject: another file holds the canary, or the overlay cannot be edited.
    """
    name = file_of(texts, service)
    if len(lookup(service.value, CANARY) or ()) <= 1:
        return without_patch(texts, name)
    path = f"{texts.overlay.folder}{name}"
    (removal,) = [change for change in changes if isinstance(change, Remove)]

    def without(texts: Texts) -> Texts:
        return texts.having(path, changed(texts.present(path), ONLY, [removal]))

    return guarded(service.span(*CANARY), without, texts)


def taken_back(texts: Texts, service: Service) -> list[Change]:
    """The changes of a service whose canary in Knative mode is taken back: each value is what it is below the patch.

    Raises:
        Reject: no canary runs, or another file holds it.
    """
    ends = ended(service)
    below = without_layer(service.document, f"{texts.overlay.folder}{file_of(texts, service)}", texts)
    found = [(path, below.written(path)) for path, _ in settled(texts, service, ())]
    return [*ends, *(Remove(p) if written is None else Put(p, written.spot.value) for p, written in found)]


def expected(service: Service, changes: Sequence[Change]) -> Json:
    """What the service is after changes."""
    value = service.value
    for change in changes:
        if change.path != KEPT:
            value = with_change(value, change.path, change)
    return value


def file_of(texts: Texts, service: Service) -> str:
    """The file that holds a service's canary.

    Raises:
        Reject: another one does.
    """
    at = SHARE if lookup(service.value, SHARE) is not None else (*CANARY, 0, "trafficPercent")
    written = service.document.written(at) if isinstance(service.document, OverlaidDocument) else None
    file = texts.overlay.path_of(written.spot.document.file) if written is not None else ""
    name = file.removeprefix(texts.overlay.folder)
    if not (name.startswith(stem_of(service)) and file in texts.overlay.own and "/" not in name):
        raise elsewhere(texts, service, at)
    return name


def elsewhere(texts: Texts, service: Service, at: Path) -> Reject:
    """What to raise where the canary of a service is not in the overlay's patch."""
    place = service.span(*at)
    message = f"the canary of {service.name} is written in {place.file}, not in a patch of {texts.overlay.environment}"
    hint = "leave out --env if all environments share it, else edit it by hand"
    return refusal(message, place, hint)


def without_layer(document: object, file: str, texts: Texts) -> OverlaidDocument:
    """An object as if one file of patches were not there, for asking who writes its values."""
    assert isinstance(document, OverlaidDocument)
    kept = [
        layer
        for layer in document.layers
        if not isinstance(layer, Patch) or texts.overlay.path_of(layer.document.file) != file
    ]
    return OverlaidDocument(document.value, document.base, kept)
