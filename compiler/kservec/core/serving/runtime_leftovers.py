"""What a runtime says and pods never get: fields that KServe loses on the way, and those that only ModelMesh reads.

Knows which fields these are. Must not know how a runtime is merged with a service.
KServe: pkg/apis/serving/v1alpha1/servingruntime_types.go; .../inferenceservice/utils/utils.go, MergePodSpec
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.catalog import Runtime
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

LEFT_OUT = Code(
    "runtime/field-without-effect",
    Severity.WARNING,
    "a field of a runtime that no pod gets",
    "Of a runtime's pod KServe takes its containers, volumes, scheduling, pull secrets and claims, and passes over "
    "hostIPC. Some other fields are for ModelMesh alone.",
)

IN_THE_SERVICE = "set it in the predictor of the service instead"
FOR_MODELMESH = "only ModelMesh reads it: remove it, or set multiModel"
FIELDS = {
    "hostIPC": IN_THE_SERVICE,
    "builtInAdapter": FOR_MODELMESH,
    "grpcDataEndpoint": FOR_MODELMESH,
    "grpcEndpoint": FOR_MODELMESH,
    "httpDataEndpoint": FOR_MODELMESH,
    "replicas": "set minReplicas of the component instead",
    "storageHelper": FOR_MODELMESH,
}


def leftovers(unit: Unit, component: Component) -> Iterable[Diagnostic]:
    """Warnings about fields of a component's runtime that nothing comes of; a field that is off says nothing."""
    runtime = component.runtime
    spec = runtime.document.value.get("spec") or {} if runtime is not None else {}
    return () if runtime is None or FIELDS.keys().isdisjoint(spec) else _leftovers(unit, runtime, spec)


def _leftovers(unit: Unit, runtime: Runtime, spec: Json) -> Iterator[Diagnostic]:
    for field, hint in FIELDS.items():
        if spec.get(field):
            message = f"{field} of runtime {runtime.name} has no effect"
            place = runtime.document.key_span(("spec", field))
            yield Diagnostic(code=LEFT_OUT, message=message, span=place, help=hint, subject=unit.ref)
