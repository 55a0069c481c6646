"""Serving of encrypted models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.subject import storage_uri
from kservec.core.diagnostics import Code, Severity
from kservec.core.models.confidential import ABOUT_DECRYPTION, ABOUT_KEYS, KEY_FORM, names_key, why_not_decrypted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

NO_URI = Code(
    "confidential/no-storage-uri",
    Severity.ERROR,
    "an encrypted model that is not named by a storageUri",
    "KServe decrypts a model while it downloads it from its storageUri; `storage` and storageUris are not decrypted.",
)
RESOURCE_ID = Code(
    "confidential/resource-id",
    Severity.ERROR,
    "a malformed key of a key broker",
    ABOUT_KEYS,
)
NO_EFFECT = Code(
    "confidential/no-effect",
    Severity.WARNING,
    "a model that KServe does not decrypt",
    ABOUT_DECRYPTION,
)


def check_confidential(subject: Subject) -> Iterable[Diagnostic]:
    """KServe: inference_service_validation.go, validateConfidential; pkg/validation/confidential.go."""
    model = subject.predictor.model
    confidential = model.get("confidential") if model is not None else None
    return _check(subject, confidential) if confidential and confidential.get("enabled") else ()


def _check(subject: Subject, confidential: Json) -> Iterator[Diagnostic]:
    predictor = subject.predictor
    path = (*predictor.path, *predictor.implementations[0], "confidential")
    found = storage_uri(predictor)
    if found is None or not found.uri:
        message = "a confidential model needs a storageUri"
        yield subject.finding(NO_URI, message, path, "set storageUri, or remove `confidential`")
    else:
        yield from _check_delivery(subject, found.uri, path)
    resource = confidential.get("resourceId")
    if resource and not names_key(resource):
        message = f"{resource!r} is no key of a key broker: {KEY_FORM}"
        yield subject.finding(RESOURCE_ID, message, (*path, "resourceId"), f"write {KEY_FORM}")


def _check_delivery(subject: Subject, uri: str, path: Path) -> Iterator[Diagnostic]:
    scheme = subject.plugs.scheme(uri)
    reason = why_not_decrypted(scheme) if scheme is not None else ""
    if reason:
        message = f"`confidential` has no effect here: {reason}"
        yield subject.finding(NO_EFFECT, message, path, "remove it, or let KServe download the model")
