"""A transformer that runs in the predictor's pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.subject import STORAGE_URI
from kservec.core.diagnostics import Code, Severity
from kservec.core.names import TRANSFORMER_CONTAINER
from kservec.core.pods.containers import find, variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic

URI_ON_TRANSFORMER = Code(
    "storage/uri-on-transformer-container",
    Severity.ERROR,
    "a storage URI on a collocated transformer",
    "Containers of one pod share the model that the predictor's container or `model` names; a container named "
    "transformer-container may not have the variable STORAGE_URI.",
)


def check_collocation(subject: Subject) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateCollocationStorageURI."""
    predictor = subject.predictor
    container = find(predictor.spec.get("containers") or (), TRANSFORMER_CONTAINER)
    if container is not None and variable(container, STORAGE_URI) is not None:
        path = (*predictor.path, "containers", TRANSFORMER_CONTAINER, "env", STORAGE_URI)
        message = "the collocated transformer may not have a STORAGE_URI of its own"
        yield subject.finding(
            URI_ON_TRANSFORMER, message, path, "set it on the predictor; the model is mounted in both containers"
        )
