"""Defaulting: what KServe's mutating webhook writes into an LLMInferenceService.

Decides which values are filled in. Reports nothing; configs have no such webhook. Values are copied only along the
paths that change.
KServe: pkg/apis/serving/v1alpha2/llm_inference_service_defaults.go;
pkg/webhook/admission/llminferenceservice/defaulter.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.admission.local_model import KEYS, with_cache
from kservec.core.llm.merging import PODS, with_containers
from kservec.core.llm.names import ROUTING_GROUP_LABEL
from kservec.core.names import DISABLE_LOCAL_MODEL
from kservec.core.paths import with_value
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.models.local_models import LocalCache
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json

NAME: Final = ("spec", "model", "name")
GROUP: Final = ("spec", "router", "route", "group")


def default_llminferenceservice(value: Json, platform: PlatformConfig, caches: Sequence[LocalCache]) -> Json:
    """A service with what KServe's webhook would fill in; parts that do not change are shared.

    Args:
        value: the document in v1alpha2, after the CRD's own defaults.
        platform: says whether local models are enabled.
        caches: the local model caches of the cluster.

    Raises:
        Reject: the section `localModel` of the configuration cannot be read.
    """
    if not lookup(value, NAME):
        value = with_value(value, NAME, value["metadata"]["name"])
    for path in PODS:
        pod = lookup(value["spec"], path)
        if pod is not None and pod.get("containers") is None:
            value = {**value, "spec": with_containers(value["spec"], path)}
    return with_local_model(with_group(value), platform, caches)


def with_group(value: Json) -> Json:
    """A service whose label says of which routing group it is; without that label if it is of none."""
    group = lookup(value, GROUP)
    labels = value["metadata"].get("labels") or {}
    if labels.get(ROUTING_GROUP_LABEL) == group:
        return value
    kept = {key: text for key, text in labels.items() if key != ROUTING_GROUP_LABEL}
    if group is not None:
        kept[ROUTING_GROUP_LABEL] = group
    return {**value, "metadata": {**value["metadata"], "labels": kept}}


def with_local_model(value: Json, platform: PlatformConfig, caches: Sequence[LocalCache]) -> Json:
    """A service with the labels and annotations of the cache that holds its model.

    A model whose URI a base config gives is looked for in no cache; what the user wrote by hand then stays.

    Raises:
        Reject: the section `localModel` of the configuration cannot be read; KServe then refuses every service.
    """
    metadata = value["metadata"]
    annotations = metadata.get("annotations") or {}
    keys = (metadata.get("labels") or {}).keys() | annotations.keys()
    are_looked_for = platform.local_model.enabled and DISABLE_LOCAL_MODEL not in annotations
    if not (are_looked_for and caches) and KEYS.isdisjoint(keys):
        return value
    uri = lookup(value, ("spec", "model", "uri")) or ""
    if not uri and are_looked_for:
        return value
    return {**value, "metadata": with_cache(metadata, uri, platform, caches)}
