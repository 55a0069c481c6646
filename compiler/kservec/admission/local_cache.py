"""Local model caches: what KServe's webhooks, its controller and the CRDs say to one.

Decides whether a cache fits into the cluster it is for. What is made of it is `render_localmodelcache`'s business.
KServe: pkg/webhook/admission/localmodelcache/localmodelcache_validator.go;
pkg/webhook/admission/localmodelnamespacecache/local_model_namespace_cache_validation.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Needed, Severity
from kservec.core.listing import listed_near
from kservec.core.quantity import compare, parse_quantity
from kservec.core.records import evolve
from kservec.core.spelling import meant_name
from kservec.core.tree import lookup
from kservec.core.validity.odd_amounts import KILO, MEGA, odd_size
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.cluster import Cluster
    from kservec.core.models.local_models import LocalCache, NodeGroup
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Path

NO_GROUP = Code(
    "localmodel/no-such-group",
    Severity.ERROR,
    "a cache on the nodes of a group that does not exist",
    "spec.nodeGroups names LocalModelNodeGroups, which say on which nodes and in which volumes the copies lie. Declare "
    "the group among the platform files or beside the cache, or correct its name.",
)
SAME_URI = Code(
    "localmodel/same-uri",
    Severity.ERROR,
    "two caches of one model",
    "A sourceModelUri may stand in one LocalModelCache only. List all node groups in one cache.",
)
NOT_ENABLED = Code(
    "localmodel/not-enabled",
    Severity.WARNING,
    "a cache on a platform where services use none",
    "Services look for their models in caches only where `enabled` in the section localModel of "
    "inferenceservice-config is true. Until then the copies are downloaded and nobody reads them.",
)
TOO_LARGE = Code(
    "localmodel/too-large",
    Severity.WARNING,
    "more models than a node has room for",
    "The sizes of the models of a node group add up to more than its storageLimit, or one is larger than its volume. "
    "KServe does not look at the sizes; downloads fail when the disk is full.",
)


def admit_cache(cache: LocalCache, cluster: Cluster, platform: PlatformConfig) -> Iterator[Diagnostic]:
    """What is wrong with a cache, given the other caches and the node groups of the cluster."""
    yield from _check_uri(cache, cluster)
    for i, name in enumerate(cache.spec.node_groups):
        group = cluster.node_groups.get(name)
        if group is None:
            yield _no_group(cache, i, cluster)
        else:
            yield from _check_size(cache, group, cluster)
            yield from _check_limit(group)
    for wrong in odd_size(cache.spec.model_size, KILO, "Gi"):
        yield _finding(cache, wrong.code, f"modelSize {wrong.message}", ("spec", "modelSize"), wrong.remedy)
    if not platform.local_model.enabled:
        message = "no service will use this cache, for localModel.enabled is false"
        help_text = "set enabled: true in data.localModel of the ConfigMap inferenceservice-config"
        yield _finding(cache, NOT_ENABLED, message, ("metadata", "name"), help_text)


def _finding(cache: LocalCache, code: Code, message: str, path: Path, help_text: str = "") -> Diagnostic:
    return Diagnostic(code=code, message=message, span=cache.document.span(path), help=help_text, subject=cache.ref)


def _check_uri(cache: LocalCache, cluster: Cluster) -> Iterator[Diagnostic]:
    """Caches of the whole cluster share no URI. KServe refuses the one that comes second; files have no such order."""
    others = (c for c in cluster.local_caches if not c.namespace and c.name != cache.name)
    other = next((c for c in others if c.spec.source_model_uri == cache.spec.source_model_uri), None)
    if other is None or cache.namespace:
        return
    path: Path = ("spec", "sourceModelUri")
    yield Diagnostic(
        code=SAME_URI,
        message=f"{other.ref} caches {cache.spec.source_model_uri}, too",
        span=cache.document.span(path),
        related=((other.document.span(path), "the same URI"),),
        help="list the node groups of both in one of them",
        subject=cache.ref,
    )


def _check_limit(group: NodeGroup) -> Iterator[Diagnostic]:
    """What there is to say of the room that a group has on each node."""
    path: Path = ("spec", "storageLimit")
    for wrong in odd_size(group.spec.storage_limit, MEGA, "Gi"):
        place, message = group.document.span(path), f"storageLimit {wrong.message}"
        yield Diagnostic(code=wrong.code, message=message, span=place, help=wrong.remedy, subject=group.ref)


def _no_group(cache: LocalCache, index: int, cluster: Cluster) -> Diagnostic:
    name = cache.spec.node_groups[index]
    meant = meant_name(name, cluster.node_groups)
    known = f"name one of {listed_near(name, sorted(cluster.node_groups))}, or " if cluster.node_groups else ""
    declared = f"declare a LocalModelNodeGroup {visible(name)} among the platform files or beside the cache"
    help_text = f"did you mean {meant}?" if meant else known + declared
    path: Path = ("spec", "nodeGroups", index)
    message = f"there is no LocalModelNodeGroup {visible(name)}, on whose nodes the model is to be kept"
    found = _finding(cache, NO_GROUP, message, path, help_text)
    return evolve(found, rests_on=(Needed("LocalModelNodeGroup", "", name),))


def _check_size(cache: LocalCache, group: NodeGroup, cluster: Cluster) -> Iterator[Diagnostic]:
    """Whether the model fits onto a node, together with those that come before it by namespace and name."""
    size, path = cache.spec.model_size, ("spec", "modelSize")
    capacity = lookup(group.spec.persistent_volume_spec, ("capacity", "storage"))
    if capacity is not None and compare(size, capacity) > 0:
        message = f"the model has {size}, a volume of LocalModelNodeGroup {group.name} has {capacity}"
        yield _finding(cache, TOO_LARGE, message, path, "raise capacity.storage of the node group")
        return
    sharing = (c for c in cluster.local_caches if group.name in c.spec.node_groups)
    until = (c for c in sharing if (c.namespace, c.name) <= (cache.namespace, cache.name))
    sizes = {c.spec.source_model_uri: parse_quantity(c.spec.model_size) for c in until}
    if sum(sizes.values()) > parse_quantity(group.spec.storage_limit):
        limit = group.spec.storage_limit
        message = f"the models of LocalModelNodeGroup {group.name} up to this one exceed its storageLimit of {limit}"
        yield _finding(cache, TOO_LARGE, message, path, "raise storageLimit, or move models to other nodes")
