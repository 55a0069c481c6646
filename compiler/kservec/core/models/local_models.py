"""Local models: caches of models on nodes, and the node groups that say on which nodes and in which volumes.

Decides the names and bodies of volumes and claims, and which caches a service may use. Must not know who downloads.

KServe: pkg/controller/v1alpha1/localmodel/reconcilers; pkg/apis/serving/v1alpha1/local_model_cache_types.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef
from kservec.core.records import record
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.text.document import Document
    from kservec.core.tree import Json
    from kservec.spec.localmodel import LocalModelCacheSpec, LocalModelNodeGroupSpec

API_VERSION = "serving.kserve.io/v1alpha1"
CACHE = "LocalModelCache"
NAMESPACE_CACHE = "LocalModelNamespaceCache"
NODE_GROUP = "LocalModelNodeGroup"
VOLUME_SPEC, CLAIM_SPEC = "persistentVolumeSpec", "persistentVolumeClaimSpec"


@record
class NodeGroup:
    """One LocalModelNodeGroup."""

    name: str
    spec: LocalModelNodeGroupSpec
    document: Document

    @property
    def ref(self) -> ObjectRef:
        """The identity of the object."""
        return ObjectRef(API_VERSION, NODE_GROUP, "", self.name)

    def origin(self, *path: str | int) -> Origin:
        """The origin of a value of the node group."""
        return Origin(Layer.PLATFORM, self.name, self.document, path)


@record
class LocalCache:
    """One LocalModelCache (without a namespace) or LocalModelNamespaceCache (with one)."""

    name: str
    namespace: str
    spec: LocalModelCacheSpec
    document: Document

    @property
    def ref(self) -> ObjectRef:
        """The identity of the object."""
        return ObjectRef(API_VERSION, NAMESPACE_CACHE if self.namespace else CACHE, self.namespace, self.name)

    @property
    def folder(self) -> str:
        """The folder of a volume that holds the model."""
        return model_folder(self.spec.source_model_uri)

    def holds(self, uri: str) -> bool:
        """Whether the cached model is the one at a URI, or the folder that it lies in.

        KServe: storage_uri_utils.go, MatchStorageURI
        """
        cached, asked = self.spec.source_model_uri.removesuffix("/"), uri.removesuffix("/")
        return asked == cached or asked.startswith(f"{cached}/")

    def claim(self, group: str) -> str:
        """The claim through which services of a namespace read the copies of a node group."""
        return f"{self.name}-{group}"

    def download_claim(self, group: str) -> str:
        """The claim, in the namespace of downloads, through which the copies of a node group are written."""
        return self.download_volume(group) if self.namespace else self.claim(group)

    def download_volume(self, group: str) -> str:
        """The volume of that claim."""
        return f"{self.claim(group)}-{self.namespace}-download" if self.namespace else f"{self.claim(group)}-download"

    def origin(self, *path: str | int) -> Origin:
        """The origin of a value of the cache."""
        return Origin(Layer.SPEC, "user", self.document, path)


def model_folder(uri: str) -> str:
    """The folder of a volume that holds the model of a URI; caches of one URI share it.

    KServe: local_model_cache_types.go, GetStorageKey
    """
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, a fiftieth of a short run

    return f"models/{sha256(uri.encode()).hexdigest()[:16]}"


def usable_by(caches: Iterable[LocalCache], namespace: str) -> list[LocalCache]:
    """The caches that services of a namespace may use: the namespace's own, then the cluster's, each by name."""
    usable = [cache for cache in caches if cache.namespace in ("", namespace)]
    return sorted(usable, key=lambda cache: (not cache.namespace, cache.name))


def find_cache(caches: Iterable[LocalCache], namespace: str, name: str) -> LocalCache | None:
    """The cache of a namespace (empty for the cluster's) and name."""
    return next((cache for cache in caches if (cache.namespace, cache.name) == (namespace, name)), None)


def volume(name: str, group: NodeGroup, cache: LocalCache) -> Manifest:
    """A PersistentVolume as a node group describes it."""
    ref = ObjectRef("v1", "PersistentVolume", "", name)
    return _object(ref, group.spec.persistent_volume_spec, group.origin("spec", VOLUME_SPEC), cache)


def claim(ref: tuple[str, str], volume_name: str, group: NodeGroup, cache: LocalCache) -> Manifest:
    """A PersistentVolumeClaim as a node group describes it, for one volume; `ref` is its namespace and name."""
    spec = {**group.spec.persistent_volume_claim_spec, "volumeName": volume_name}
    identity = ObjectRef("v1", "PersistentVolumeClaim", *ref)
    return _object(identity, spec, group.origin("spec", CLAIM_SPEC), cache)


def _object(ref: ObjectRef, spec: Json, origin: Origin, cache: LocalCache) -> Manifest:
    """An object with a name from a cache and a spec from a node group."""
    metadata = {"name": ref.name} | ({"namespace": ref.namespace} if ref.namespace else {})
    body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": dict(spec)}
    return Manifest(ref, Tree.built(body, ((), cache.origin("metadata", "name")), (("spec",), origin)))
