"""Which kinds have no namespace, as far as kustomize is told of them or knows them itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kservec.core.schemas.schema import Schemas
    from kservec.overlays.objects import IsNamespaced

OTHERS = frozenset((
    "APIService", "CSIDriver", "CSINode", "ClusterRole", "ClusterRoleBinding", "ComponentStatus",
    "CustomResourceDefinition", "FlowSchema", "IngressClass", "MutatingWebhookConfiguration", "Namespace", "Node",
    "PersistentVolume", "PriorityClass", "PriorityLevelConfiguration", "RuntimeClass", "StorageClass",
    "ValidatingWebhookConfiguration", "VolumeAttachment",
))  # fmt: skip
"""Built-in kinds without namespaces. Kustomize: kyaml/openapi/openapi.go, precomputedIsNamespaceScoped."""


def is_namespaced_by(schemas: Schemas) -> IsNamespaced:
    """What tells whether the objects of an apiVersion and kind are in namespaces. Of unknown kinds all are."""

    def is_namespaced(api_version: str, kind: str) -> bool:
        known = schemas.kinds().get((api_version, kind))
        return known.is_namespaced if known is not None else kind not in OTHERS

    return is_namespaced
