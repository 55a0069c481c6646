"""GPUs of a container: of which type they are, how many it asks for, and how they are written down.

Which resources are GPUs at all is `gpu_types`; how many a container gets is decided elsewhere.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from kservec.core.quantity import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.tree import Json, Origin, Tree

DEFAULT_TYPE = "nvidia.com/gpu"
FIELDS = ("limits", "requests")


def requested(container: Json, types: Sequence[str]) -> int:
    """How many GPUs of the first of the types that it requests a container requests; limits do not count.

    KServe: pkg/utils/utils.go, GetGPUResourceQtyByType, which takes any of several types at random
    """
    requests = quantities(container, "requests")
    asked = next((requests[name] for name in types if name in requests), 0)
    return ceil(parse_quantity(asked))


def type_of(container: Json, types: Sequence[str]) -> str:
    """The type of GPU that a container gets: the first of which it has some in its limits or requests.

    KServe: reconcilers/deployment/deployment_reconciler.go, addGPUResourceToDeployment
    """
    used = (t for t in types if any(parse_quantity(quantities(container, f).get(t, 0)) for f in FIELDS))
    return next(used, DEFAULT_TYPE)


def quantities(container: Json, field: str) -> dict[str, Json]:
    """The limits or requests of a container."""
    found: dict[str, Json] = (container.get("resources") or {}).get(field) or {}
    return found


def with_gpus(pod: Tree, name: str, gpus: tuple[str, int], origin: Origin) -> Tree:
    """A pod whose container of a name has so many GPUs of a type, as limit and as request."""
    kind, count = gpus
    for field in FIELDS:
        pod = pod.put(("containers", name, "resources", field, kind), str(count), origin)
    return pod
