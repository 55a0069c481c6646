"""Added keys: which objects get further keys from controllers, beyond those that are written down.

Decides from metadata alone. Which keys those are nobody can tell beforehand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json

TRUE = "true"
SWITCHES = frozenset({
    "config.openshift.io/inject-trusted-cabundle",
    "sealedsecrets.bitnami.com/patch",
    "service.alpha.openshift.io/inject-cabundle",
    "service.beta.openshift.io/inject-cabundle",
})  # fmt: skip
"""Labels and annotations that say `true` where keys are added: CA bundles, and those of a SealedSecret."""
SOURCES = frozenset({"reflector.v1.k8s.emberstack.com/reflects", "replicator.v1.mittwald.de/replicate-from"})
"""Annotations that name an object whose keys are copied."""


def gains_keys(metadata: Mapping[str, Json]) -> bool:
    """Whether a controller adds keys to an object with such metadata."""
    marks = {}
    for field in ("labels", "annotations"):
        written = metadata.get(field)
        marks.update(written if isinstance(written, dict) else {})
    return any(marks.get(switch) == TRUE for switch in SWITCHES) or any(marks.get(source) for source in SOURCES)
