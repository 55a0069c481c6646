"""Predictors spread over several nodes (`workerSpec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.models.storage_scheme import SchemeTrait
from kservec.core.names import AUTOSCALER_CLASS, GPU_RESOURCE_TYPES
from kservec.core.pods.containers import variable
from kservec.core.pods.gpu_types import GPU_ANNOTATION, annotated_types, gpu_types, unknown_types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

SEVERAL_CONTAINERS = Code(
    "multi-node/several-containers",
    Severity.ERROR,
    "several containers in a worker",
    "A multi-node worker runs exactly one container, worker-container; sidecars are not supported there.",
)
SIZE_IN_ENVIRONMENT = Code(
    "multi-node/size-in-environment",
    Severity.ERROR,
    "the size of a multi-node service given as an environment variable",
    "KServe sets PIPELINE_PARALLEL_SIZE and TENSOR_PARALLEL_SIZE itself, from pipelineParallelSize and "
    "tensorParallelSize of the workerSpec.",
)
UNKNOWN_GPU = Code(
    "multi-node/unknown-gpu",
    Severity.ERROR,
    "a resource that is not known to be a GPU",
    "In a multi-node service every resource other than cpu, memory, storage and ephemeral-storage must be a GPU that "
    "KServe knows: huge pages, MIG slices and network devices are refused unless they are listed in the annotation "
    "serving.kserve.io/gpu-resource-types or in the platform's `multiNode` section.",
)
NO_URI = Code(
    "multi-node/no-storage-uri",
    Severity.ERROR,
    "a multi-node service whose model is not named by a storageUri",
    "All nodes must see the same model: KServe asks for one storageUri on the model. storageUris and `storage` do not "
    "count.",
)
SCHEME = Code(
    "multi-node/storage-scheme",
    Severity.ERROR,
    "a storage URI that multi-node services cannot use",
    "All nodes must see the same model without downloading it each for itself; few kinds of storage can do that.",
)
AUTOSCALER = Code(
    "multi-node/autoscaler",
    Severity.ERROR,
    "a multi-node service with an autoscaler",
    "The number of nodes follows from the parallel sizes, so the annotation serving.kserve.io/autoscalerClass must "
    "say none. Without the annotation the class would be hpa.",
)
SIZE = Code(
    "multi-node/size",
    Severity.ERROR,
    "a parallel size below 1",
    "pipelineParallelSize and tensorParallelSize are 1 or more.",
)
NEEDS_MODEL = Code(
    "multi-node/needs-model",
    Severity.ERROR,
    "a multi-node predictor without a model",
    "Workers come from a serving runtime, which only a `model` has: KServe's controller crashes on a workerSpec beside "
    "containers of one's own.",
)
FIXED = "none"
"""The autoscaler class of a service whose size never changes."""
SIZES = (("pipelineParallelSize", "PIPELINE_PARALLEL_SIZE"), ("tensorParallelSize", "TENSOR_PARALLEL_SIZE"))


def check_multi_node(subject: Subject) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateMultiNodeVariables."""
    worker = subject.predictor.spec.get("workerSpec")
    if worker is None:
        return
    model = subject.predictor.spec.get("model")
    path = subject.predictor.path
    if model is not None:
        yield from _check_model(subject, model, (*path, "model"))
    elif subject.predictor.implementations[:1] and subject.predictor.model is None:
        message = "only a predictor with a `model` can have workers"
        help_text = "serve the model by a runtime, or remove workerSpec"
        yield subject.finding(NEEDS_MODEL, message, (*path, "workerSpec"), help_text)
    yield from _check_worker(subject, worker, (*path, "workerSpec"))
    yield from _check_gpus(subject, model or {}, worker, path)


def _check_model(subject: Subject, model: Json, path: Path) -> Iterator[Diagnostic]:
    for field, name in SIZES:
        if variable(model, name) is not None:
            message = f"{name} is set by KServe in multi-node services"
            yield subject.finding(SIZE_IN_ENVIRONMENT, message, (*path, "env", name), f"set workerSpec.{field} instead")
    uri = model.get("storageUri")
    if uri is None:
        message = "a multi-node service needs a storageUri on its model"
        yield subject.finding(NO_URI, message, path, f"set storageUri ({_schemes(subject)})")
    elif not _is_shared(subject, uri):
        message = f"multi-node services cannot take their model from {uri!r}"
        yield subject.finding(SCHEME, message, (*path, "storageUri"), f"use {_schemes(subject)}")
    annotation = subject.annotations.get(AUTOSCALER_CLASS)
    if annotation != FIXED:
        stated = f"is {annotation!r}" if annotation is not None else "is missing"
        message = f"a multi-node service cannot be autoscaled: the annotation {AUTOSCALER_CLASS} {stated}"
        yield subject.finding(
            AUTOSCALER, message, ("metadata", "annotations", AUTOSCALER_CLASS), f'set it to "{FIXED}"'
        )


def _is_shared(subject: Subject, uri: str) -> bool:
    """Whether all nodes can have the model of a URI without each downloading it."""
    scheme = subject.plugs.scheme(uri)
    return scheme is not None and SchemeTrait.MULTI_NODE in scheme.traits


def _schemes(subject: Subject) -> str:
    shared = (p for s in subject.plugs.schemes if SchemeTrait.MULTI_NODE in s.traits for p in s.prefixes)
    return " or ".join(sorted(shared))


def _check_worker(subject: Subject, worker: Json, path: Path) -> Iterator[Diagnostic]:
    if len(worker.get("containers") or ()) > 1:
        message = "a worker runs one container only"
        yield subject.finding(
            SEVERAL_CONTAINERS, message, (*path, "containers", 1), "keep worker-container and remove the rest"
        )
    for field, _ in SIZES:
        size = worker.get(field)
        if size is not None and size < 1:
            yield subject.finding(
                SIZE, f"{field} cannot be less than 1", (*path, field), "use 1 or more, or leave it to the runtime"
            )


def _check_gpus(subject: Subject, model: Json, worker: Json, path: Path) -> Iterator[Diagnostic]:
    text = subject.annotations.get(GPU_RESOURCE_TYPES)
    if text and annotated_types(text) is None:
        message = f"{GPU_RESOURCE_TYPES} must be a JSON array of resource names; it is {text!r}"
        where = ("metadata", "annotations", GPU_RESOURCE_TYPES)
        yield subject.finding(GPU_ANNOTATION, message, where, 'write it as ["example.com/gpu"]')
        return
    known = gpu_types(subject.platform, text)
    places: list[tuple[Json, Path]] = [(model, (*path, "model"))]
    places += [(c, (*path, "workerSpec", "containers", i)) for i, c in enumerate(worker.get("containers") or ())]
    for container, at in places:
        for field, name in unknown_types(container.get("resources") or {}, known):
            message = f"{name} is no GPU that KServe knows"
            help_text = f"list it in the annotation {GPU_RESOURCE_TYPES}, or remove it"
            yield subject.finding(UNKNOWN_GPU, message, (*at, "resources", field, name), help_text)
