"""Objects of a component, and of a service as a whole: the metadata that all of them carry.

Decides labels, annotations and where they come from; the spec is handed in by the pass or plug that makes the object.
KServe's internal annotations are still among them here; `seal` takes those away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import Manifest
from kservec.core.names import APP_LABEL, LAST_APPLIED, app_label
from kservec.core.serving.metadata import OWN_PREFIX, disallowed_labels, passed_on
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.platform import PlatformConfig
    from kservec.core.unit import Component, Unit

MADE = Origin(Layer.KSERVE_DEFAULT, "objects")


class Metadata(NamedTuple):
    """Labels and annotations of an object, each with its origins."""

    labels: Tree
    annotations: Tree


def component_object(ref: ObjectRef, component: Component, spec: Tree) -> Manifest:
    """An object of a component, with the component's labels and annotations and the `app` label.

    All objects of a component carry that label, for KServe lets them share one map of labels.
    KServe: reconcilers/deployment/deployment_reconciler.go, createRawDefaultDeployment
    """
    labels = {**component.labels.value, APP_LABEL: app_label(component.name)}
    return service_object(ref, Metadata(Tree.of(labels, component.labels), component.annotations), spec)


def service_object(ref: ObjectRef, metadata: Metadata, spec: Tree) -> Manifest:
    """An object with the given metadata and spec; empty maps of metadata are left out."""
    labels, annotations = metadata
    fields = {"name": ref.name, "namespace": ref.namespace}
    if labels.value:
        fields["labels"] = labels.value
    if annotations.value:
        fields["annotations"] = annotations.value
    body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": fields, "spec": spec.value}
    notes = (("metadata", "annotations"), annotations)
    return Manifest(ref, Tree.built(body, ((), MADE), (("spec",), spec), (("metadata", "labels"), labels), notes))


def route_metadata(unit: Unit, platform: PlatformConfig) -> Metadata:
    """Metadata of a service's routes: its own labels and annotations, less what KServe keeps back.

    KServe: reconcilers/ingress/httproute_reconciler.go, createRawTopLevelHTTPRoute
    """
    kept_back = disallowed_labels(platform)
    labels = {**unit.labels}
    if not kept_back.isdisjoint(labels):
        labels = {k: v for k, v in labels.items() if k not in kept_back}
    return unit_metadata(unit, labels, passed_on(unit.annotations, platform))


def ingress_metadata(unit: Unit) -> Metadata:
    """Metadata of a service's Ingress: all its annotations and no labels.

    What `kubectl apply` noted about the InferenceService would make it misjudge the Ingress, so that is left out.
    KServe: reconcilers/ingress/kube_ingress_reconciler.go, createRawIngress
    """
    kept = {k: v for k, v in unit.annotations.items() if k != LAST_APPLIED and not k.startswith(OWN_PREFIX)}
    return unit_metadata(unit, {}, kept)


def unit_metadata(unit: Unit, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Metadata:
    """Labels and annotations that come from the user's own metadata."""
    at = unit.source.origin
    return Metadata(Tree.of(labels, at("metadata", "labels")), Tree.of(annotations, at("metadata", "annotations")))
