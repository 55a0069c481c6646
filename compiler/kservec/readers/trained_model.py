"""TrainedModels: they become part of the services that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.trained_model import Trained, admit_trained_model, attach_trained_models
from kservec.readers.identity import with_identity
from kservec.spec.trainedmodel import TrainedModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.documents.entries import Entry

SERVICE, TRAINED_MODEL = "InferenceService", "TrainedModel"


def with_trained_models(
    units: Sequence[Unit], entries: Iterable[Entry], env: Env
) -> tuple[Sequence[Unit], list[Diagnostic]]:
    """The units with the trained models of the input, each with its service; and what is wrong with the models."""
    models: list[Trained] = []
    services: set[ObjectRef] = set()
    found: list[Diagnostic] = []
    for entry in (entry for entry in entries if entry.is_kserve):
        if entry.ref.kind == SERVICE:
            services.add(entry.ref)
        if entry.ref.kind == TRAINED_MODEL:
            spec = TrainedModel.read(with_identity(entry.document.value, entry.ref))
            models.append(Trained(entry.ref, spec, entry.document))
    for trained in models:
        found += admit_trained_model(trained, env)
    attached, judged = attach_trained_models(units, models, services)
    return attached, [*found, *judged]
