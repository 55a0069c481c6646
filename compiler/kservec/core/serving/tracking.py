"""What GitOps tools note on the objects that they apply: by which application or for which step.

Decides which of that belongs to an InferenceService alone, and which does not belong on pods. KServe copies all of it
to every object, where tools take it for their own notes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

ARGOCD = "argocd.argoproj.io/"
TRACKING_ID = f"{ARGOCD}tracking-id"
INSTANCE = "app.kubernetes.io/instance"
"""The label that Argo CD may track by; it is a common label, too, and then the user's own."""

OWN_INSTANCE = f"{ARGOCD}instance"
"""The label that Argo CD tracks by where it is told to leave the common one alone."""
NOTES = frozenset({TRACKING_ID, OWN_INSTANCE, f"{ARGOCD}installation-id", f"{ARGOCD}refresh"})
FLUX = ("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "reconcile.fluxcd.io/")
"""What Flux knows its objects by, and what it is told about a single one of them."""


def without_tracking(
    labels: Mapping[str, str], annotations: Mapping[str, str]
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Labels and annotations of an object without what a tool has noted about that very object."""
    noted = noted_keys((*labels, *annotations))
    tracking = annotations.get(TRACKING_ID)
    if tracking is not None and labels.get(INSTANCE) == tracking.partition(":")[0]:
        noted |= {INSTANCE}
    if not noted:
        return labels, annotations
    return (
        {key: value for key, value in labels.items() if key not in noted},
        {key: value for key, value in annotations.items() if key not in noted},
    )


# Most objects of a fleet have the same keys.
@lru_cache(maxsize=256)
def noted_keys(keys: tuple[str, ...]) -> frozenset[str]:
    """Those of an object's keys that are notes about that very object."""
    return frozenset(key for key in keys if key in NOTES or key.startswith(FLUX))


def is_for_objects(key: str) -> bool:
    """Whether an annotation speaks of an applied object, such as the wave in which it is, and so not of pods."""
    return key.startswith(ARGOCD)


def of_pods(annotations: Tree) -> Tree:
    """The annotations that pods get of those of their workload.

    On pods others would do nothing, but a change of them would restart all pods.
    """
    kept = {key: text for key, text in annotations.value.items() if not is_for_objects(key)}
    return annotations if len(kept) == len(annotations.value) else Tree.of(kept, annotations)
