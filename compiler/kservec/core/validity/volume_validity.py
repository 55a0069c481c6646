"""What an API server checks of volumes and claims in code, and no schema states.

Kubernetes: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeSpec and ValidatePersistentVolumeClaimSpec
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.quantity import is_cut, parse_quantity
from kservec.core.schemas.faults import Fault
from kservec.core.tree import lookup
from kservec.core.validity.field_rules import CUT, LESS, TOO_MUCH, fault_of
from kservec.core.validity.odd_amounts import MEGA, odd_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Json, Path

INCOMPLETE = Code(
    "volume/incomplete",
    Severity.ERROR,
    "a volume or claim that lacks what it must say",
    "A volume names its capacity, its access modes and exactly one source; a claim its access modes and the storage it "
    "asks for. A local volume also names its nodes in nodeAffinity, and no path may climb with `..`.",
)

NO_SOURCE = frozenset({
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
})  # fmt: skip
"""The fields of a volume that are no source; every other field is one."""


def volume_faults(body: Json) -> Iterator[Fault]:
    """Everything an API server would refuse in a PersistentVolume."""
    spec = body["spec"]
    yield from _required_modes(spec)
    yield from _required_storage(spec, ("capacity",), "capacity.storage")
    sources = [field for field in spec if field not in NO_SOURCE]
    if len(sources) != 1:
        found = ", ".join(sorted(sources)) or "none"
        yield Fault(INCOMPLETE, ("spec",), f"a volume has exactly one source; this one has {found}")
    for kind in ("hostPath", "local"):
        path = lookup(spec, (kind, "path"))
        if path is not None and (not path or ".." in path.split("/")):
            yield Fault(INCOMPLETE, ("spec", kind, "path"), f'"{path}" is no path for a volume')
    affinity = lookup(spec, ("nodeAffinity", "required", "nodeSelectorTerms"))
    if "local" in spec and not affinity:
        message = "a local volume is on certain nodes, and nodeAffinity does not say on which"
        yield Fault(INCOMPLETE, ("spec", "local"), message, help="add nodeAffinity.required.nodeSelectorTerms")


def claim_faults(body: Json) -> Iterator[Fault]:
    """Everything an API server would refuse in a PersistentVolumeClaim."""
    spec = body["spec"]
    yield from _required_modes(spec)
    yield from _required_storage(spec, ("resources", "requests"), "resources.requests.storage")


def _required_modes(spec: Json) -> Iterator[Fault]:
    modes = spec.get("accessModes") or ()
    if not modes:
        yield Fault(INCOMPLETE, ("spec",), "accessModes is missing", help="add accessModes: [ReadWriteOnce]")
    elif len(modes) > 1 and "ReadWriteOncePod" in modes:
        yield Fault(INCOMPLETE, ("spec", "accessModes"), "ReadWriteOncePod stands alone or not at all")


def _required_storage(spec: Json, path: Path, name: str) -> Iterator[Fault]:
    """The amount of storage, which is there, above zero, and not more than there can be."""
    amount = lookup(spec, (*path, "storage"))
    if amount is None:
        yield Fault(INCOMPLETE, ("spec",), f"{name} is missing", help=f"add {name}")
    elif parse_quantity(amount) <= 0:
        yield Fault(INCOMPLETE, ("spec", *path, "storage"), f"{name} is {amount}", help="write an amount above zero")
    elif is_cut(amount):
        yield Fault(CUT, ("spec", *path, "storage"), f"{name} {TOO_MUCH}", help=LESS)
    else:
        for wrong in odd_size(amount, MEGA, "Gi"):
            yield fault_of(wrong, ("spec", *path, "storage"), name)
