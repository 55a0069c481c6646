"""Local models: the caches and node groups of a run, from its documents.

Decides which of several documents of one name counts. What follows from a cache is the passes' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.models.local_models import CACHE, NAMESPACE_CACHE, NODE_GROUP, LocalCache, NodeGroup
from kservec.documents.entries import winners
from kservec.spec.localmodel import LocalModelCacheSpec, LocalModelNodeGroupSpec

if TYPE_CHECKING:
    from kservec.documents.entries import Entry

KINDS = frozenset({CACHE, NAMESPACE_CACHE, NODE_GROUP})


class LocalModels(NamedTuple):
    """The caches and node groups that were read."""

    caches: tuple[LocalCache, ...]
    groups: dict[str, NodeGroup]


def read_local_models(entries: Sequence[Entry]) -> LocalModels:
    """The caches and node groups of a run; `entries` are all usable ones, weakest first."""
    caches: list[LocalCache] = []
    groups: dict[str, NodeGroup] = {}
    for entry in winners(entries, is_local_model):
        if entry.ref.kind == NODE_GROUP:
            groups[entry.ref.name] = read_node_group(entry)
        else:
            caches.append(read_cache(entry))
    return LocalModels(tuple(caches), groups)


def is_local_model(entry: Entry) -> bool:
    """Whether a document describes a cache or a node group."""
    return entry.ref.kind in KINDS and entry.is_kserve


def read_cache(entry: Entry) -> LocalCache:
    """A cache of either kind."""
    spec = LocalModelCacheSpec.read(entry.document.value.get("spec") or {})
    return LocalCache(name=entry.ref.name, namespace=entry.ref.namespace, spec=spec, document=entry.document)


def read_node_group(entry: Entry) -> NodeGroup:
    """A node group."""
    spec = LocalModelNodeGroupSpec.read(entry.document.value.get("spec") or {})
    return NodeGroup(name=entry.ref.name, spec=spec, document=entry.document)
