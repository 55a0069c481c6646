"""Models that are kept on nodes, v1alpha1 (serving.kserve.io), KServe 0.21.

LocalModelCache serves all namespaces, LocalModelNamespaceCache its own; a LocalModelNodeGroup says where copies lie.
KServe: pkg/apis/serving/v1alpha1/local_model_{cache,namespace_cache,node_group}_types.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kservec.spec.base import EMPTY, Json, Model, Resource


class LocalModelStorage(Model):
    """Credentials by a key of the storage Secret, and parameters that override its entry."""

    key: str | None = None
    parameters: Mapping[str, str] | None = None


class LocalModelCacheSpec(Model):
    """`spec` of both kinds of caches."""

    source_model_uri: str
    model_size: str | int
    node_groups: Sequence[str] = ()
    service_account_name: str = ""
    storage: LocalModelStorage | None = None


class LocalModelCache(Resource):
    """A LocalModelCache, or a LocalModelNamespaceCache (whose metadata has a namespace)."""

    spec: LocalModelCacheSpec


class LocalModelNodeGroupSpec(Model):
    """`spec` of a LocalModelNodeGroup; the two templates are core Kubernetes structures."""

    storage_limit: str | int
    persistent_volume_spec: Mapping[str, Json] = EMPTY
    persistent_volume_claim_spec: Mapping[str, Json] = EMPTY
