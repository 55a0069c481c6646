"""Local model caches: which cache, if any, holds the model of a predictor.

Decides the labels and annotations that tie a service to a cache; what follows for its pods is not known here.
KServe: pkg/apis/serving/v1beta1/inference_service_defaults.go, setLocalModelLabel
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.admission.subject import parts_of, storage_uri
from kservec.core.models.local_models import usable_by
from kservec.core.models.node_cache import CLAIM_NAME, LABEL, NAMESPACE_LABEL, SOURCE_URI
from kservec.core.names import DISABLE_LOCAL_MODEL, NODE_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.models.local_models import LocalCache
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json

KEYS = frozenset({LABEL, NAMESPACE_LABEL, SOURCE_URI, CLAIM_NAME})


class Hit(NamedTuple):
    """A cache that holds a model, and the volume claim through which a node group reads it."""

    cache: LocalCache
    claim: str


def with_local_model(value: Json, platform: PlatformConfig, caches: Sequence[LocalCache]) -> Json:
    """An InferenceService with the labels and annotations of the cache that holds its model.

    One without a storage URI is left alone.

    Args:
        value: the defaulted InferenceService.
        platform: says whether local models are enabled.
        caches: the local model caches of the cluster.

    Raises:
        Reject: the section `localModel` of the configuration cannot be read; KServe then refuses every service.
    """
    metadata = value["metadata"]
    labels, annotations = metadata.get("labels") or (), metadata.get("annotations") or ()
    if not (platform.local_model.enabled and caches) and KEYS.isdisjoint(labels) and KEYS.isdisjoint(annotations):
        return value
    uri = storage_uri(parts_of(value.get("spec") or {})[0])
    return value if uri is None else {**value, "metadata": with_cache(metadata, uri.uri, platform, caches)}


def with_cache(metadata: Json, uri: str, platform: PlatformConfig, caches: Sequence[LocalCache]) -> Json:
    """The metadata of a service with the labels and annotations of the cache that holds the model at a URI.

    A service whose model is in no cache loses such keys where it has them.
    """
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    hit = None
    if platform.local_model.enabled and DISABLE_LOCAL_MODEL not in annotations:
        hit = _hit(uri, annotations.get(NODE_GROUP), usable_by(caches, metadata.get("namespace") or "default"))
    added_labels, added_annotations = _keys(hit) if hit is not None else ({}, {})
    return {
        **metadata,
        "labels": {**_without_keys(labels), **added_labels},
        "annotations": {**_without_keys(annotations), **added_annotations},
    }


def _hit(uri: str, node_group: str | None, candidates: Iterable[LocalCache]) -> Hit | None:
    """The first cache that holds a model, for the node group that the service asks for if it does."""
    for cache in candidates:
        groups = cache.spec.node_groups
        if not cache.holds(uri) or not groups:
            continue
        group = groups[0] if node_group is None else node_group
        if group in groups:
            return Hit(cache, cache.claim(group))
    return None


def _keys(hit: Hit) -> tuple[dict[str, str], dict[str, str]]:
    labels = {LABEL: hit.cache.name}
    if hit.cache.namespace:
        labels[NAMESPACE_LABEL] = hit.cache.namespace
    return labels, {SOURCE_URI: hit.cache.spec.source_model_uri, CLAIM_NAME: hit.claim}


def _without_keys(entries: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in entries.items() if key not in KEYS}
