"""Whether a claim that a node group describes can ever be bound to the volume that it describes.

Decides what is certain from the two templates; a storage class that only one of them leaves to the cluster is not.

Kubernetes: pkg/controller/volume/persistentvolume/pv_controller.go, checkVolumeSatisfyClaim
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.local_models import CLAIM_SPEC, VOLUME_SPEC
from kservec.core.quantity import compare
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.local_models import NodeGroup
    from kservec.core.tree import Json, Path

CANNOT_BIND = Code(
    "localmodel/cannot-bind",
    Severity.ERROR,
    "a node group whose claims never get its volumes",
    "A claim is bound to a volume of its own storage class, volume mode and access modes that is as large as it asks. "
    "KServe makes both from the LocalModelNodeGroup without comparing them; pods that mount such a claim never start.",
)


def binding_faults(group: NodeGroup) -> Iterator[Diagnostic]:
    """What keeps a claim of a node group from its volume, at the field of the claim's template."""
    volume, claim = group.spec.persistent_volume_spec, group.spec.persistent_volume_claim_spec
    for path, message in (*_class_fault(volume, claim), *_size_fault(volume, claim), *_mode_faults(volume, claim)):
        yield Diagnostic(
            code=CANNOT_BIND,
            message=message,
            span=group.document.span(("spec", CLAIM_SPEC, *path)),
            related=((group.document.span(("spec", VOLUME_SPEC, path[-1])), "the volume says this"),),
            help=f"make {CLAIM_SPEC} and {VOLUME_SPEC} agree",
            subject=group.ref,
        )


def _class_fault(volume: Json, claim: Json) -> Iterator[tuple[Path, str]]:
    """Two storage classes. A claim without one gets the cluster's default, so nothing can be said of it."""
    wanted, offered = claim.get("storageClassName"), volume.get("storageClassName") or ""
    if wanted is not None and wanted != offered:
        yield ("storageClassName",), f'the claim asks for storage class "{wanted}", the volume has "{offered}"'


def _size_fault(volume: Json, claim: Json) -> Iterator[tuple[Path, str]]:
    wanted, offered = lookup(claim, ("resources", "requests", "storage")), lookup(volume, ("capacity", "storage"))
    if wanted is not None and offered is not None and compare(wanted, offered) > 0:
        yield ("resources", "requests"), f"the claim asks for {wanted}, the volume has {offered}"


def _mode_faults(volume: Json, claim: Json) -> Iterator[tuple[Path, str]]:
    wanted, offered = (side.get("volumeMode") or "Filesystem" for side in (claim, volume))
    if wanted != offered:
        yield ("volumeMode",), f"the claim asks for volume mode {wanted}, the volume has {offered}"
    modes = volume.get("accessModes") or ()
    missing = [mode for mode in claim.get("accessModes") or () if mode not in modes]
    if modes and missing:
        yield ("accessModes",), f"the claim asks for {', '.join(missing)}, which the volume does not offer"
