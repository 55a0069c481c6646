"""Trained models: what KServe's webhook says to one, and what its controller says to those of one service.

Decides which of them the server of their InferenceService may load. How the server learns of them is not known here.
KServe: pkg/apis/serving/v1alpha1/trainedmodel_webhook.go; pkg/controller/v1alpha1/trainedmodel/controller.go
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Needed, Severity
from kservec.core.intents import PulledModel, TrainedModelIntent
from kservec.core.models.model_uri import meant_uri, no_model, password_in_uri
from kservec.core.models.odd_uris import INCOMPLETE, Place, said, said_of
from kservec.core.models.storage_scheme import SchemeTrait
from kservec.core.quantity import canonical, parse_quantity
from kservec.core.records import evolve
from kservec.core.schemas.object_meta import allowed_in_name
from kservec.core.serving.predictor import pulls_models
from kservec.core.spelling import meant_name
from kservec.core.tree import Layer, Origin, lookup
from kservec.core.validity.odd_amounts import odd_amount
from kservec.core.visible import visible
from kservec.spec.inferenceservice import InferenceService

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.registry import Env
    from kservec.core.text.document import Document
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit
    from kservec.spec.inferenceservice import PredictorSpec
    from kservec.spec.trainedmodel import TrainedModel

NAME: Path = ("metadata", "name")
PARENT: Path = ("spec", "inferenceService")
MEMORY: Path = ("spec", "model", "memory")
URI: Path = ("spec", "model", "storageUri")
LIMITS: Path = ("resources", "limits", "memory")

BAD_NAME = Code(
    "trainedmodel/name",
    Severity.ERROR,
    "a name that no trained model may have",
    "The name of a TrainedModel is part of a path and of a folder: lower-case letters, digits and dashes, no dots.",
)
BAD_URI = Code(
    "trainedmodel/storage-uri",
    Severity.ERROR,
    "a trained model at a place that the agent cannot pull from",
    "Models of a multi-model server are pulled by KServe's agent while it runs, and the agent knows fewer kinds of "
    "storage than the storage initializer.",
)
NO_PARENT = Code(
    "trainedmodel/no-parent",
    Severity.ERROR,
    "a trained model without its InferenceService",
    "The list of models is part of what its InferenceService is compiled to, so both must be compiled together. KServe "
    "deletes a TrainedModel whose InferenceService is not there, without a word.",
)
NOT_MULTI_MODEL = Code(
    "trainedmodel/parent-has-a-model",
    Severity.ERROR,
    "a trained model for a server that is made for one model",
    "A server takes trained models if its predictor names no model of its own: no storageUri, storage or storageUris, "
    "and no huggingface format. A custom predictor sets MULTI_MODEL_SERVER to true in its first container.",
)
OUT_OF_MEMORY = Code(
    "trainedmodel/out-of-memory",
    Severity.ERROR,
    "more trained models than the server has memory for",
    "The memory of all models of a server may not exceed the memory limit in the predictor of its InferenceService. A "
    "limit that only the runtime sets does not count.",
)


class Trained(NamedTuple):
    """A TrainedModel with its identity and its document."""

    ref: ObjectRef
    model: TrainedModel
    document: Document

    @property
    def parent(self) -> str:
        """The name of its InferenceService, which is in the same namespace."""
        return self.model.spec.inference_service

    def finding(self, code: Code, message: str, path: Path, help_text: str = "") -> Diagnostic:
        """A finding at a path of the document."""
        span = self.document.span(path)
        return Diagnostic(code=code, message=message, span=span, help=help_text, subject=self.ref)


def attach_trained_models(
    units: Sequence[Unit], models: Iterable[Trained], services: Collection[ObjectRef]
) -> tuple[list[Unit], list[Diagnostic]]:
    """The units with the trained models of each service, and what is wrong with these.

    Args:
        units: everything that is compiled.
        models: the trained models of the input.
        services: the InferenceServices of the input, those that were refused among them.
    """
    waiting: dict[tuple[str, str], list[Trained]] = {}
    for trained in sorted(models, key=lambda t: t.ref):
        waiting.setdefault((trained.ref.namespace, trained.parent), []).append(trained)
    attached: list[Unit] = []
    found: list[Diagnostic] = []
    for unit in units:
        own = waiting.get((unit.namespace, unit.name), []) if isinstance(unit.spec, InferenceService) else []
        judged = list(admit_to_service(own, unit)) if own else []
        found += judged
        kept = [] if judged else own
        attached.append(evolve(unit, intents=(*unit.intents, *map(intent_of, kept))) if kept else unit)
    known = {(ref.namespace, ref.name) for ref in services}
    for (namespace, parent), orphans in waiting.items():
        if (namespace, parent) not in known:
            found += [no_parent(trained, [n for ns, n in known if ns == namespace]) for trained in orphans]
    return attached, found


def intent_of(trained: Trained) -> TrainedModelIntent:
    """What the agent of the service is to do."""
    spec = trained.model.spec.model
    pulled = PulledModel(trained.ref.name, spec.storage_uri, spec.framework, spec.memory)
    return TrainedModelIntent(origin=Origin(Layer.SPEC, "user", trained.document, ("spec", "model")), model=pulled)


def admit_trained_model(trained: Trained, env: Env) -> Iterator[Diagnostic]:
    """What KServe's webhook would say to a TrainedModel, and what there is to say of its URI and memory beyond that."""
    if not re.fullmatch("[a-zA-Z0-9_-]+", trained.ref.name):
        message = f"{trained.ref.name} is no name for a trained model"
        yield trained.finding(
            BAD_NAME, message, NAME, f"allowed: {allowed_in_name(trained.ref.kind, trained.ref.name)}"
        )
    yield from uri_findings(trained, env)
    for wrong in odd_amount("memory", trained.model.spec.model.memory):
        yield trained.finding(wrong.code, f"memory {wrong.message}", MEMORY, wrong.remedy)


def uri_findings(trained: Trained, env: Env) -> Iterator[Diagnostic]:
    """What there is to say of the URI: that the agent cannot pull from there, or that it is hardly what was meant."""
    uri, place = trained.model.spec.model.storage_uri, Place(partial(trained.document.span, URI), trained.ref, {})
    pulled = [s for s in env.plugs.schemes if SchemeTrait.PULLED in s.traits]
    scheme = next((s for s in pulled if uri.startswith(s.prefixes)), None)
    if scheme is None:
        prefixes, meant = sorted(p for s in pulled for p in s.prefixes), meant_uri(uri, env)
        hint = f"did you mean {meant}? " if meant.startswith(tuple(prefixes)) else ""
        remedy = f"{hint}the agent pulls from {', '.join(prefixes)}"
        yield trained.finding(BAD_URI, f"the agent cannot pull {uri!r}", URI, remedy)
    elif (nothing := no_model(uri, env, place.span, trained.ref)) is not None:
        yield nothing
        return
    elif scheme.lacking is not None and (lack := scheme.lacking(uri)) is not None:
        message = f"the URI of the model lacks {lack.parts}: the agent can pull an archive from there at most"
        yield said(INCOMPLETE, message, f"write it as {lack.form}", place)
    if (shown := password_in_uri(uri, place.span, trained.ref)) is not None:
        yield shown
    yield from said_of(uri, place, env)


def no_parent(trained: Trained, services: Iterable[str]) -> Diagnostic:
    """The finding about a model whose InferenceService is not compiled; `services` are those of its namespace."""
    meant = meant_name(trained.parent, services)
    remedy = f"did you mean {meant}?" if meant else "compile the InferenceService in the same run"
    message = f"InferenceService {trained.ref.namespace}/{visible(trained.parent)} is not among what is compiled"
    found = trained.finding(NO_PARENT, message, PARENT, remedy)
    return evolve(found, rests_on=(Needed("InferenceService", trained.ref.namespace, trained.parent),))


def admit_to_service(models: Sequence[Trained], unit: Unit) -> Iterator[Diagnostic]:
    """What KServe's controller would say to the models of one service; they count in the order that they are given."""
    predictor = unit.spec_as(InferenceService).spec.predictor
    if not pulls_models(predictor):
        for trained in models:
            message = f"{unit.ref} serves the model that it names, and takes no others"
            yield trained.finding(NOT_MULTI_MODEL, message, PARENT, "remove the model from the predictor")
        return
    limit = memory_limit(predictor)
    free = parse_quantity(limit or "0")
    for trained in models:
        free -= parse_quantity(trained.model.spec.model.memory)
        if free < 0:
            yield out_of_memory(trained, unit, limit)


def memory_limit(predictor: PredictorSpec) -> Json | None:
    """The memory limit of the server as its InferenceService has it, None if it has none."""
    if predictor.model is not None and not predictor.containers:
        return lookup(predictor.model.rest, LIMITS)
    return lookup(predictor.containers[0], LIMITS) if predictor.containers else None


def out_of_memory(trained: Trained, unit: Unit, limit: Json | None) -> Diagnostic:
    """The finding about the model with which the limit is exceeded."""
    amount = canonical(trained.model.spec.model.memory)
    if limit is None:
        message = f"{trained.ref.name} needs {amount}, and the predictor of {unit.ref} sets no memory limit"
        return trained.finding(OUT_OF_MEMORY, message, MEMORY, "set resources.limits.memory of the predictor")
    message = f"the models of {unit.ref}, up to {trained.ref.name} with {amount}, exceed its memory limit of {limit}"
    return trained.finding(OUT_OF_MEMORY, message, MEMORY, "raise resources.limits.memory of the predictor")
