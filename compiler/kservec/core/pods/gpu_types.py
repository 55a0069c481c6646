"""Which extended resources count as GPUs: KServe's own list, the administrator's, and the user's.

Decides nothing about how many there are or who gets them.
KServe: pkg/utils/utils.go, UpdateGPUResourceTypeListByAnnotation; pkg/constants/constants.go
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.decoding import decode
from kservec.core.spelling import edits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json

GPU_ANNOTATION = Code(
    "multi-node/gpu-annotation",
    Severity.ERROR,
    "a malformed list of GPU types",
    "The annotation serving.kserve.io/gpu-resource-types is a JSON array of resource names, such as "
    '["example.com/gpu"].',
)
MISSPELT = Code(
    "pod/misspelt-accelerator",
    Severity.WARNING,
    "a resource that is nearly the name of a GPU",
    "No node offers a resource of this name, so the pods wait for ever, and the container is taken for one without a "
    "GPU.",
)
BUILTIN = ("nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "habana.ai/gaudi")
SLIPS = 2
BASIC = frozenset({"cpu", "memory", "storage", "ephemeral-storage"})
"""Resources that are taken for anything but a GPU."""


@lru_cache(maxsize=64)
def gpu_types(platform: PlatformConfig, annotation: str | None) -> tuple[str, ...]:
    """The names that count as GPUs, in the order KServe tries them: built in, configured, annotated.

    `annotation` is the value of `serving.kserve.io/gpu-resource-types`; a malformed one adds nothing.
    """
    configured = platform.multi_node.custom_gpu_resource_type_list or ()
    return tuple(dict.fromkeys((*BUILTIN, *configured, *(annotated_types(annotation or "") or ()))))


def annotated_types(text: str) -> list[str] | None:
    """The names that an annotation lists: a JSON array of at least one string, none empty. None if it is malformed."""
    try:
        names = decode(text)
    except ValueError:
        return None
    well_formed = isinstance(names, list) and bool(names) and all(isinstance(n, str) and n for n in names)
    return names if well_formed else None


def is_basic(resources: Json) -> bool:
    """Whether a container has no other resources than those that are taken for anything but a GPU."""
    return BASIC.issuperset(resources.get("limits") or ()) and BASIC.issuperset(resources.get("requests") or ())


def misspelt_types(resources: Json, known: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(`limits` or `requests`, name, what was meant) of each resource that differs from a GPU by a slip or two."""
    for field, name in unknown_types(resources, known):
        meant = next((k for k in known if edits(name.casefold(), k.casefold(), SLIPS) <= SLIPS), None)
        if meant is not None:
            yield field, name, meant


def unknown_types(resources: Json, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(`limits` or `requests`, name) of each resource of a container that is neither basic nor a known GPU.

    A name that stands in both is given once, from the limits.
    """
    seen: set[str] = set()
    for field in ("limits", "requests"):
        for name in resources.get(field) or ():
            if name not in BASIC and name not in known and name not in seen:
                seen.add(name)
                yield field, name
