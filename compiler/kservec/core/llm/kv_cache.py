"""Offloading of the key-value cache: volumes for the tiers behind a server's memory.

KServe: pkg/controller/v1alpha2/llmisvc/workload_kvcache.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import MAIN
from kservec.core.llm.origins import origin_of
from kservec.core.pods.containers import find
from kservec.core.pods.mounts import mount
from kservec.core.quantity import add

if TYPE_CHECKING:
    from kservec.core.tree import Json, Origin, Path, Tree
    from kservec.core.unit import Unit

BY: Final = "kv_cache"
STORAGE: Final = "ephemeral-storage"
OFFLOADING: Final = "kvCacheOffloading"


def with_cache_tiers(pod: Tree, unit: Unit, path: Path) -> Tree:
    """A pod with a volume for each tier that lies in a file system, mounted in the server."""
    assert unit.resolved is not None
    at: Path = (*path, OFFLOADING, "secondary")
    for i, tier in enumerate(unit.resolved.get(*at) or ()):
        system = tier.get("fileSystem")
        source = volume_source(system) if system is not None else None
        if source is not None:
            pod = with_tier(pod, i, (system, source), origin_of(unit, (*at, i), BY))
    return pod


def volume_source(system: Json) -> Json:
    """The volume of a tier, without its name; None if none is described."""
    if system.get("emptyDir") is not None:
        return {"emptyDir": {"sizeLimit": system["emptyDir"]["size"]}}
    claim = system.get("pvc") or {}
    if claim.get("spec") is not None:
        return {"ephemeral": {"volumeClaimTemplate": {"spec": claim["spec"]}}}
    if claim.get("ref") is not None:
        return {"persistentVolumeClaim": {"claimName": claim["ref"]["name"]}}
    return None


def with_tier(pod: Tree, index: int, tier: tuple[Json, Json], origin: Origin) -> Tree:
    """A pod with one tier. What lies on the node's disk is requested from it, so that nodes are chosen accordingly."""
    system, source = tier
    name = f"kv-cache-secondary-{index}"
    pod = pod.append(("volumes",), {"name": name, **source}, origin)
    server = find(pod.get("containers") or (), MAIN)
    if server is None:
        return pod
    sub_path = ((system.get("pvc") or {}).get("ref") or {}).get("path") or "" if "emptyDir" not in source else ""
    wanted = mount(name, f"/mnt/kv-cache-{index}", sub_path=sub_path)
    pod = pod.append(("containers", MAIN, "volumeMounts"), wanted, origin)
    if "emptyDir" not in source:
        return pod
    at = ("containers", MAIN, "resources", "requests", STORAGE)
    return pod.put(at, add(pod.get(*at) or "0", source["emptyDir"]["sizeLimit"]), origin)
