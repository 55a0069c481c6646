"""Serving of encrypted models.

KServe: pkg/validation/confidential.go
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.models.confidential import ABOUT_DECRYPTION, ABOUT_KEYS, KEY_FORM, names_key, why_not_decrypted

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json

CONFIDENTIAL: Final = ("spec", "model", "confidential")

RESOURCE_ID = Code(
    "llm/confidential-resource-id",
    Severity.ERROR,
    "a malformed key of a key broker",
    ABOUT_KEYS,
)
NO_EFFECT = Code(
    "llm/confidential-no-effect",
    Severity.WARNING,
    "a model that KServe does not decrypt",
    ABOUT_DECRYPTION,
)


def check_confidential(subject: Subject) -> Iterator[Diagnostic]:
    """The name of the key."""
    resource = enabled(subject).get("resourceId")
    if resource and not names_key(resource):
        message = f"{resource!r} is no key of a key broker: {KEY_FORM}"
        yield subject.finding(RESOURCE_ID, message, (*CONFIDENTIAL, "resourceId"), f"write {KEY_FORM}")


def check_decrypted(subject: Subject) -> Iterator[Diagnostic]:
    """The warning about models that do not go through the storage initializer."""
    scheme = subject.plugs.scheme(subject.at("spec", "model", "uri") or "") if enabled(subject) else None
    reason = why_not_decrypted(scheme) if scheme is not None else ""
    if reason:
        message = f"`confidential` has no effect here: {reason}"
        yield subject.finding(NO_EFFECT, message, CONFIDENTIAL, "remove it, or let KServe download the model")


def enabled(subject: Subject) -> Json:
    """What is written about decryption where it is switched on; empty where it is not."""
    found = subject.at(*CONFIDENTIAL) or {}
    return found if found.get("enabled") else {}
