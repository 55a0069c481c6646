"""Names in a pod's volumes that no object can have, so that its containers can never be started.

An API server does not look at them, and KServe hands them over: the pod is there, and waits for ever. Paths are below
the PodSpec. Names in variables are `container_rules`: those an API server refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.schemas.faults import Fault
from kservec.core.schemas.object_meta import is_subdomain
from kservec.core.validity.image_validity import filled
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Json, Path

IMPOSSIBLE = Code(
    "pod/impossible-name",
    Severity.ERROR,
    "a volume of an object that cannot exist",
    "Claims, Secrets and ConfigMaps are named with lower-case letters, digits, dashes and dots. The API server takes a "
    "pod that mounts one of another name, and since no such object can be made, the pod never starts. Of a model on a "
    "claim, the name is what stands behind pvc:// in its URI.",
)
NAMES = {
    "persistentVolumeClaim": ("claimName",),
    "secret": ("secretName",),
    "configMap": ("name",),
    "csi": ("nodePublishSecretRef", "name"),
}
"""The sources of a volume that name an object, and where."""
NOUNS = {"persistentVolumeClaim": "PersistentVolumeClaim", "configMap": "ConfigMap"}
PROJECTED_VOLUME = "projected"
PROJECTED = {"secret": ("name",), "configMap": ("name",)}
NAMING = frozenset({*NAMES, PROJECTED_VOLUME})
ALLOWED = "use lower-case letters, digits, dashes and dots, a letter or digit at both ends, 253 at most"


def reference_faults(pod: Json) -> list[Fault]:
    """The objects that volumes of a pod are made of, and that cannot be; those it can do without do not count."""
    found: list[Fault] = []
    for volume in pod.get("volumes") or ():
        if not NAMING.isdisjoint(volume):
            found += volume_faults(volume)
    return found


def volume_faults(volume: Json) -> Iterator[Fault]:
    """The same for one volume."""
    for kind, source in volume.items():
        if kind in NAMES:
            yield from source_faults(volume["name"], kind, source, NAMES[kind], ("volumes", volume["name"], kind))
        elif kind == PROJECTED_VOLUME:
            yield from projected_faults(volume["name"], source)


def projected_faults(volume: str, source: Json) -> Iterator[Fault]:
    """The same for the sources of a volume of several."""
    for i, part in enumerate((source or {}).get("sources") or ()):
        for kind in PROJECTED.keys() & (part or {}).keys():
            path: Path = ("volumes", volume, PROJECTED_VOLUME, "sources", i, kind)
            yield from source_faults(volume, kind, part[kind], PROJECTED[kind], path)


def source_faults(volume: str, kind: str, source: Json, at: Path, path: Path) -> Iterator[Fault]:
    """The same for one source; `at` leads from it to the name."""
    named = source
    for step in at:
        named = (named or {}).get(step)
    if not named or is_subdomain(named) or (source.get("optional") and kind in PROJECTED):
        return
    if "${" not in named or not is_subdomain(filled(named)):
        noun = NOUNS.get(kind, "Secret")
        message = f"volume {visible(volume)} is made of {noun} {named!r}, and none can have that name"
        yield Fault(IMPOSSIBLE, (*path, *at), message, help=ALLOWED, once=named)
