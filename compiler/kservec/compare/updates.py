"""KServe's rules about updates, which need the old spec beside the new one. Pure.

A build knows no earlier version, so it cannot check them; a diff can. They are warnings: without KServe in the cluster
nothing refuses the change, but it does what the rule is there to prevent.
KServe: pkg/apis/serving/v1beta1/inference_service_validation.go, validatePredictorNameChange;
pkg/apis/serving/v1alpha1/trainedmodel_webhook.go, validateMemorySpecNotModified;
pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validateImmutableParallelism;
pkg/webhook/admission/servingruntime/servingruntime_webhook.go, validateMultiNodeSpec
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.llm.presets import is_data_parallel, is_pipeline_parallel
from kservec.core.paths import lookup
from kservec.core.quantity import compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json, Path
    from kservec.core.text.document import Document

PREDICTOR_RENAMED = Code(
    "update/predictor-renamed",
    Severity.WARNING,
    "a predictor gets another name and keeps its model",
    "The Deployment of the old name goes and one of the new name comes, which loads the same model again. KServe "
    "refuses it: a new name goes with a new model (a canary that is promoted).",
)
MEMORY_CHANGED = Code(
    "update/memory-changed",
    Severity.WARNING,
    "a trained model changes its memory",
    "Trained models are placed by their memory, so KServe refuses to change it. Remove the model and add it anew.",
)
SIZE_CHANGED = Code(
    "update/size-changed",
    Severity.WARNING,
    "a model server spans another number of pods",
    "The number of pods of a group follows from `parallelism`. KServe refuses to change it, for all groups restart at "
    "once with ranks that do not fit the old ones. Make a second service and shift the traffic.",
)
WORKERS_DROPPED = Code(
    "update/workers-dropped",
    Severity.WARNING,
    "a runtime of several nodes loses its workers",
    "Services that run on this runtime would wait for workers that are not there any more. KServe refuses it.",
)
CACHE_URI_CHANGED = Code(
    "update/cache-uri-changed",
    Severity.WARNING,
    "a model cache gets another model",
    "KServe's schema has the URI of a cache immutable: services that were redirected to the copies would read another "
    "model. Add a second cache, and move the services to it.",
)

PREDICTOR: Path = ("spec", "predictor")
PARALLELISM: Mapping[str, Path] = {"": ("spec", "parallelism"), "prefill": ("spec", "prefill", "parallelism")}
CACHE_URI: Path = ("spec", "sourceModelUri")
MEMORY: Path = ("spec", "model", "memory")
WORKERS: Path = ("spec", "workerSpec")


class Update(NamedTuple):
    """A document that is there before and after."""

    ref: ObjectRef
    before: Json
    after: Document


Rule: TypeAlias = Callable[[Update], Iterator[Diagnostic]]


def finding(update: Update, code: Code, message: str, path: Path, hint: str) -> Diagnostic:
    """A warning about an update, located in the new document."""
    span = update.after.span(path)
    return Diagnostic(code=code, message=f"{update.ref}: {message}", span=span, help=hint, subject=update.ref)


def predictor_name(update: Update) -> Iterator[Diagnostic]:
    """A new name of a predictor goes with a new model."""
    old, new = (lookup(body, PREDICTOR) for body in (update.before, update.after.value))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    if old.get("name") != new.get("name") and model_of(old) == model_of(new):
        message = f"predictor.name becomes {new.get('name') or 'unset'} and the model stays"
        at = (*PREDICTOR, "name") if "name" in new else PREDICTOR
        yield finding(update, PREDICTOR_RENAMED, message, at, "keep the name, or change the model with it")


def model_of(predictor: Mapping[str, Json]) -> str:
    """The URI of a predictor's model, wherever it is written."""
    holders = (predictor.get("model"), *(value for key, value in sorted(predictor.items()) if key != "model"))
    uris = (holder.get("storageUri") for holder in holders if isinstance(holder, dict))
    return next((uri for uri in uris if isinstance(uri, str)), "")


def memory(update: Update) -> Iterator[Diagnostic]:
    """The memory of a trained model stays."""
    old, new = lookup(update.before, MEMORY), lookup(update.after.value, MEMORY)
    if old is None or new is None or old == new:
        return
    try:
        is_same = compare(old, new) == 0
    except ValueError:
        return
    if not is_same:
        hint = "remove the model in one commit, and add it with the new memory in the next"
        yield finding(update, MEMORY_CHANGED, f"memory becomes {new}, after {old}", MEMORY, hint)


def size(update: Update) -> Iterator[Diagnostic]:
    """The number of pods of a group stays. Prefill counts if it is there before and after."""
    for part, path in PARALLELISM.items():
        owners = [lookup(body, path[:-1]) for body in (update.before, update.after.value)]
        if not all(isinstance(owner, dict) for owner in owners):
            continue
        old, new = (size_of(owner.get(path[-1])) for owner in owners)
        if old != new:
            name = f"the {part} group" if part else "the group"
            message = f"{name} spans {new} pods, after {old}"
            at = path if lookup(update.after.value, path) is not None else path[:-1]
            yield finding(update, SIZE_CHANGED, message, at, "make a second service and shift the traffic to it")


def size_of(parallelism: Json) -> int:
    """The pods of a group. KServe: pkg/apis/serving/v1alpha2/llm_inference_service_types_func.go, GetSize."""
    written = parallelism if isinstance(parallelism, dict) else {}
    settings = {name: number for name, number in written.items() if isinstance(number, int)}
    if is_data_parallel(settings):
        return max(max(settings.get("data") or 1, 1) // max(settings.get("dataLocal") or 1, 1), 1)
    return int(settings["pipeline"]) if is_pipeline_parallel(settings) else 1


def workers(update: Update) -> Iterator[Diagnostic]:
    """A runtime keeps its workers."""
    if lookup(update.before, WORKERS) is not None and lookup(update.after.value, WORKERS) is None:
        hint = "make a runtime of another name, and move the services to it"
        yield finding(update, WORKERS_DROPPED, "workerSpec is gone", ("spec",), hint)


def cache_uri(update: Update) -> Iterator[Diagnostic]:
    """A cache keeps its model."""
    old, new = lookup(update.before, CACHE_URI), lookup(update.after.value, CACHE_URI)
    if old is not None and new is not None and old != new:
        hint = "add a cache of another name, and remove this one when no service reads from it"
        yield finding(update, CACHE_URI_CHANGED, "sourceModelUri changes", CACHE_URI, hint)


RULES: Mapping[str, Rule] = {
    "InferenceService": predictor_name,
    "TrainedModel": memory,
    "LLMInferenceService": size,
    "ServingRuntime": workers,
    "ClusterServingRuntime": workers,
    "LocalModelCache": cache_uri,
    "LocalModelNamespaceCache": cache_uri,
}
"""The rule of each kind."""


def refused_updates(updates: Sequence[Update]) -> Iterator[Diagnostic]:
    """What KServe would refuse in updates. Documents that have not their kind's structure are for a build to refuse."""
    for update in updates:
        rule = RULES.get(update.ref.kind)
        if rule is not None and update.ref.group == "serving.kserve.io":
            yield from rule(update)
