"""Labels and annotations of components: which of the user's are passed on, and in which order they win.

KServe: pkg/controller/v1beta1/inferenceservice/components/{predictor,transformer,explainer}.go, buildObjectMeta;
pkg/apis/serving/v1beta1/configmap.go, NewInferenceServicesConfig
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.names import (
    COMPONENT_LABEL,
    DISALLOWED_ANNOTATIONS,
    DISALLOWED_LABELS,
    INFERENCESERVICE_LABEL,
    INTERNAL,
)
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Source
    from kservec.core.unit import Role

OWN_PREFIX = "kservec.dev/"
"""Annotations that speak to the compiler; they never reach an object."""


@lru_cache(maxsize=8)
def disallowed_annotations(platform: PlatformConfig) -> frozenset[str]:
    """Annotations that KServe keeps to itself; none where its configuration has no `inferenceService` section."""
    section = platform.inference_service
    return frozenset((*DISALLOWED_ANNOTATIONS, *section.service_annotation_disallowed_list) if section else ())


@lru_cache(maxsize=8)
def disallowed_labels(platform: PlatformConfig) -> frozenset[str]:
    """Labels that KServe keeps from routes and revisions; none without an `inferenceService` section."""
    section = platform.inference_service
    return frozenset((*DISALLOWED_LABELS, *section.service_label_disallowed_list) if section else ())


def passed_on(annotations: Mapping[str, str], platform: PlatformConfig) -> dict[str, str]:
    """Annotations that objects inherit, KServe's internal ones included."""
    kept_back = disallowed_annotations(platform)
    return {k: v for k, v in annotations.items() if k not in kept_back and not k.startswith(OWN_PREFIX)}


def without_internal(annotations: Mapping[str, str]) -> dict[str, str]:
    """Annotations as they are written out: what only spoke to KServe's webhooks is left out."""
    return {k: v for k, v in annotations.items() if not k.startswith(INTERNAL)}


def component_labels(
    service: str, role: Role, own: tuple[Mapping[str, str], Source], component: tuple[Mapping[str, str], Source]
) -> Tree:
    """The labels of a component: the service's, then the component's, then the two that KServe always sets."""
    fixed = {INFERENCESERVICE_LABEL: service, COMPONENT_LABEL: role.value}
    return Tree.union(own, component, (fixed, Origin(Layer.KSERVE_DEFAULT, "split_inferenceservice")))
