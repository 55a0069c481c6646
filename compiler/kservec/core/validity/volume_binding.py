"""Whether a claim that a node group describes can ever be bound to the volume that it describes.

Decides what is certain from the two templates; a storage class that only one of them leaves to the cluster is not.

Kubernetes: pkg/controller/volume/persistentvolume/pv_controller.go, checkVolumeSatisfyClaim
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.models.local_models import CLAIM_SPEC, VOLUME_SPEC
from kservec.core.quantity import compare
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.models.local_models import NodeGroup
    from kservec.core.tree import Json

CANNOT_BIND = Code(
    "localmodel/cannot-bind",
    Severity.ERROR,
    "a node group whose claims never get its volumes",
    "A claim is bound to a volume of its own storage class, volume mode and access modes that is as large as it asks. "
    "KServe makes both from the LocalModelNodeGroup without comparing them; pods that mount such a claim never start.",
)

Misfit = tuple[tuple[str, ...], tuple[str, ...], str]
"""Where the claim says what it wants, where the volume says what it has, and why they do not fit."""
CLASS, MODE, MODES = ("storageClassName",), ("volumeMode",), ("accessModes",)
REQUEST, CAPACITY = ("resources", "requests", "storage"), ("capacity", "storage")


def binding_faults(group: NodeGroup) -> Iterator[Diagnostic]:
    """What keeps a claim of a node group from its volume, at the field of the claim's template."""
    volume, claim = group.spec.persistent_volume_spec, group.spec.persistent_volume_claim_spec
    for wanted, offered, message in (*_class(volume, claim), *_size(volume, claim), *_modes(volume, claim)):
        yield Diagnostic(
            code=CANNOT_BIND,
            message=message,
            span=group.document.span(("spec", CLAIM_SPEC, *wanted)),
            related=((group.document.span(("spec", VOLUME_SPEC, *offered)), "the volume says this"),),
            help=f"make {CLAIM_SPEC} and {VOLUME_SPEC} agree",
            subject=group.ref,
        )


def _class(volume: Json, claim: Json) -> Iterator[Misfit]:
    """Two storage classes. A claim without one gets the cluster's default, so nothing can be said of it."""
    wanted, offered = claim.get("storageClassName"), volume.get("storageClassName") or ""
    if wanted is not None and wanted != offered:
        yield CLASS, CLASS, f'the claim asks for storage class "{wanted}", the volume has "{offered}"'


def _size(volume: Json, claim: Json) -> Iterator[Misfit]:
    wanted, offered = lookup(claim, REQUEST), lookup(volume, CAPACITY)
    if wanted is not None and offered is not None and compare(wanted, offered) > 0:
        yield REQUEST, CAPACITY, f"the claim asks for {wanted}, the volume has {offered}"


def _modes(volume: Json, claim: Json) -> Iterator[Misfit]:
    wanted, offered = (side.get("volumeMode") or "Filesystem" for side in (claim, volume))
    if wanted != offered:
        yield MODE, MODE, f"the claim asks for volume mode {wanted}, the volume has {offered}"
    modes = volume.get("accessModes") or ()
    missing = [mode for mode in claim.get("accessModes") or () if mode not in modes]
    if modes and missing:
        yield MODES, MODES, f"the claim asks for {', '.join(missing)}, which the volume does not offer"
