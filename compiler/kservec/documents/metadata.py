"""Metadata: annotations and labels of the user's documents that do nothing, reported where they stand.

Knows where each kind has such maps. Which keys do something is `kservec.core.serving.annotations`' knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Diagnostic
from kservec.core.serving.annotation_values import odd_values
from kservec.core.serving.annotations import Kind, Place, odd_keys
from kservec.core.unit import Mode
from kservec.documents.secrets import mapping, metadata_of
from kservec.spec.graph import InferenceGraph
from kservec.spec.inferenceservice import InferenceService

if TYPE_CHECKING:
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit
    from kservec.documents.entries import Entry

ANNOTATIONS = ("metadata", "annotations")
LABELS = ("metadata", "labels")
MAX_SCALE = "autoscaling.knative.dev/max-scale"
LLM_MAPS = (
    (Kind.ANNOTATION, Place.LLM, ANNOTATIONS),
    (Kind.LABEL, Place.LLM, LABELS),
    (Kind.ANNOTATION, Place.LLM_POD, ("spec", "annotations")),
)
"""The maps of an LLMInferenceService that KServe looks for its own keys in."""
RUNTIME_PLACES = ((ANNOTATIONS, Place.RUNTIME), (("spec", "annotations"), Place.RUNTIME_POD))
PLACES: dict[str, tuple[tuple[tuple[str, str], Place], ...]] = {
    "ClusterServingRuntime": RUNTIME_PLACES,
    "ServingRuntime": RUNTIME_PLACES,
    "Secret": ((ANNOTATIONS, Place.SECRET),),
    "ServiceAccount": ((ANNOTATIONS, Place.SERVICE_ACCOUNT),),
}
"""Kind -> where its annotations stand, and what they belong to."""


class Metadata(NamedTuple):
    """One map of annotations or labels in a service, and where it stands."""

    keys: Mapping[str, Json]
    kind: Kind
    place: Place
    path: Path


def odd_in_service(unit: Unit, platform: PlatformConfig) -> Iterator[Diagnostic]:
    """Annotations and labels of an InferenceService that do nothing."""
    also = (platform.credentials.storage_secret_name_annotation,)
    for keys, kind, place, path in metadata_maps(unit):
        for odd in (*odd_keys(keys, kind, place, unit.mode, also), *odd_values(keys)):
            span = unit.source.document.key_span((*path, odd.key))
            yield Diagnostic(code=odd.code, message=odd.message, span=span, help=odd.help, subject=unit.ref)


def odd_in_graph(unit: Unit) -> Iterator[Diagnostic]:
    """Annotations and labels of an InferenceGraph that do nothing."""
    written = metadata_of(unit.source.document.value)
    for field, kind, path in (("annotations", Kind.ANNOTATION, ANNOTATIONS), ("labels", Kind.LABEL, LABELS)):
        keys = written.get(field) or {}
        for odd in (*odd_keys(keys, kind, Place.GRAPH, unit.mode), *odd_values(keys)):
            if (
                odd.key == MAX_SCALE
                and unit.mode is Mode.KNATIVE
                and not unit.spec_as(InferenceGraph).spec.max_replicas
            ):
                continue  # the annotations of graphs are not filtered, so this one counts
            span = unit.source.document.key_span((*path, odd.key))
            yield Diagnostic(code=odd.code, message=odd.message, span=span, help=odd.help, subject=unit.ref)


def odd_in_llm(unit: Unit, platform: PlatformConfig) -> Iterator[Diagnostic]:
    """Annotations and labels of an LLMInferenceService that do nothing."""
    written = unit.source.document.value
    also = (platform.credentials.storage_secret_name_annotation,)
    for kind, place, path in LLM_MAPS:
        keys = mapping(mapping(written.get(path[0])).get(path[1]))
        for odd in (*odd_keys(keys, kind, place, None, also), *odd_values(keys)) if keys else ():
            span = unit.source.document.key_span((*path, odd.key))
            yield Diagnostic(code=odd.code, message=odd.message, span=span, help=odd.help, subject=unit.ref)


def metadata_maps(unit: Unit) -> Iterator[Metadata]:
    """The maps of a service that users write annotations and labels into, as far as there is something in them."""
    written = metadata_of(unit.source.document.value)
    if annotations := written.get("annotations"):
        yield Metadata(annotations, Kind.ANNOTATION, Place.SERVICE, ANNOTATIONS)
    if labels := written.get("labels"):
        yield Metadata(labels, Kind.LABEL, Place.SERVICE, LABELS)
    spec = unit.spec_as(InferenceService).spec
    for name, component in (
        ("predictor", spec.predictor),
        ("transformer", spec.transformer),
        ("explainer", spec.explainer),
    ):
        if component is None:
            continue
        if component.annotations:
            yield Metadata(component.annotations, Kind.ANNOTATION, Place.COMPONENT, ("spec", name, "annotations"))
        if component.labels:
            yield Metadata(component.labels, Kind.LABEL, Place.COMPONENT, ("spec", name, "labels"))


def odd_in_others(entry: Entry) -> Iterator[Diagnostic]:
    """Annotations of a runtime, Secret or ServiceAccount that do nothing."""
    for path, place in PLACES.get(entry.ref.kind, ()):
        keys = mapping(mapping(entry.document.value.get(path[0])).get(path[1]))
        for odd in (*odd_keys(keys, Kind.ANNOTATION, place, None), *odd_values(keys)):
            span = entry.document.key_span((*path, odd.key))
            yield Diagnostic(code=odd.code, message=odd.message, span=span, help=odd.help, subject=entry.ref)
