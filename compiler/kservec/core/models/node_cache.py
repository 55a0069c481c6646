"""Copies of models on the nodes: where a component finds one, if it has one.

Decides whether the model of a component lies in the cache that its labels name, on which nodes, and at which URI. Must
not know how caches are matched to services, nor how a copy is mounted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.models.local_models import find_cache, model_folder
from kservec.core.models.node_placement import may_meet
from kservec.core.models.storage_scheme import SchemeTrait
from kservec.core.names import INTERNAL, NODE_GROUP
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.models.local_models import LocalCache
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit

LABEL = f"{INTERNAL}localmodel"
NAMESPACE_LABEL = f"{INTERNAL}localmodel-namespace"
SOURCE_URI, CLAIM_NAME = f"{INTERNAL}localmodel-sourceuri", f"{INTERNAL}localmodel-pvc-name"

NO_CLAIM = Code(
    "storage/cache-without-claim",
    Severity.ERROR,
    "a local model cache is named by hand",
    "KServe writes the labels and annotations under internal.serving.kserve.io/ that tie a service to a local model "
    "cache. Remove them: a service whose storageUri lies in a cache uses the cache without them.",
)


class NodeCopy(NamedTuple):
    """The copy that a component reads: its cache and node group. Without a group none is where the pods may run."""

    cache: LocalCache
    group: str | None

    @property
    def claim(self) -> str | None:
        """The claim that leads to the copy."""
        return self.cache.claim(self.group) if self.group is not None else None


def cache_of(labels: Mapping[str, str], env: Env) -> LocalCache | None:
    """The cache that labels name."""
    name = labels.get(LABEL)
    return None if name is None else find_cache(env.cluster.local_caches, labels.get(NAMESPACE_LABEL, ""), name)


def copy_for(component: Component, unit: Unit, env: Env) -> NodeCopy | None:
    """The copy that a component reads; None if no declared cache is named.

    The node group is the one that the service asks for in an annotation, else the first of the cache's that is not at
    odds with what the pod asks of its nodes. KServe takes the cache's first, even if the pods can never run there.
    """
    cache = cache_of(component.labels.value, env)
    if cache is None:
        return None
    groups = cache.spec.node_groups
    asked = unit.annotations.get(NODE_GROUP)
    if asked is not None:
        return NodeCopy(cache, asked if asked in groups else None)
    return NodeCopy(cache, next((g for g in groups if is_within_reach(component, g, env)), None))


def is_within_reach(component: Component, group: str, env: Env) -> bool:
    """Whether the pods of a component may run on nodes of a group. A group that nothing declares counts as well."""
    declared = env.cluster.node_groups.get(group)
    return declared is None or may_meet(component.pod.value, declared.spec.persistent_volume_spec)


def cached_uri(uri: str, component: Component, unit: Unit, env: Env) -> str | None:
    """Where the copy of a model lies: the claim of its cache, a directory per cache, and the rest of the URI.

    None where no copy can be read. KServe makes a path of any URI once its service has a cache.

    Raises:
        Reject: the labels name a cache, and no annotation names its claim.

    KServe: storage_initializer_injector.go, InjectStorageInitializer; local_model_cache_types.go, GetStorageKey
    """
    if LABEL not in component.labels.value:
        return None
    claim, source = component.annotation(CLAIM_NAME), component.annotation(SOURCE_URI) or ""
    if claim is None:
        raise Reject(no_claim(component, unit))
    folder = source.removesuffix("/")
    if uri.removesuffix("/") != folder and not uri.startswith(f"{folder}/"):
        return None
    copy = copy_for(component, unit, env)
    claim = claim if copy is None else copy.claim
    if claim is None:
        return None
    scheme = env.plugs.scheme_with(SchemeTrait.NODE_CACHE)
    prefix = scheme.prefixes[0] if scheme is not None else ""
    return f"{prefix}{claim}/{model_folder(source)}/{uri[len(folder) + 1 :]}"


def no_claim(component: Component, unit: Unit) -> Diagnostic:
    """The diagnostic for a label that someone wrote by hand."""
    message = f"the label {LABEL} names a local model cache, and the annotation {CLAIM_NAME} is missing"
    return finding(unit, NO_CLAIM, message, component.labels.span((LABEL,)), "remove the label")
