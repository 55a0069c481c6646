"""Claims that models lie on, for Knative: read-only ones need one feature less.

Knative: serving/pkg/apis/serving/k8s_validation.go, validateVolume
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.knative.demands import FEATURES, WRITABLE_CLAIM, Demand, is_granted
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Tree

CLAIM = "persistentVolumeClaim"
MADE = Origin(Layer.KSERVE_DEFAULT, "knative_service")


def with_read_only_claims(pod: Tree, features: Mapping[str, str] | None) -> Tree:
    """A pod whose claims are read-only where all their mounts are, if Knative is known to take no others.

    KServe mounts models read-only from claims that are not, and Knative refuses those unless its feature for writing
    is on.
    """
    demand = Demand(FEATURES, WRITABLE_CLAIM, ())
    if features is None or is_granted(demand, features):
        return pod
    containers = [c for field in ("containers", "initContainers") for c in pod.value.get(field) or ()]
    mounts = [m for c in containers for m in c.get("volumeMounts") or ()]
    written = {m["name"] for m in mounts if not m.get("readOnly")}
    for volume in pod.value.get("volumes") or ():
        if volume.get(CLAIM) is not None and not volume[CLAIM].get("readOnly") and volume["name"] not in written:
            pod = pod.put(("volumes", volume["name"], CLAIM, "readOnly"), True, MADE)
    return pod
