"""Serving of encrypted models.

KServe: pkg/validation/confidential.go
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.registry import Delivery

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json

CONFIDENTIAL: Final = ("spec", "model", "confidential")

RESOURCE_ID = Code(
    "llm/confidential-resource-id",
    Severity.ERROR,
    "a malformed key of a key broker",
    "confidential.resourceId names the key that decrypts the model: kbs:///, then repository, type and tag with "
    "slashes between.",
)
NO_EFFECT = Code(
    "llm/confidential-no-effect",
    Severity.WARNING,
    "a model that KServe does not decrypt",
    "Only models that the storage initializer downloads are decrypted by KServe. An image is decrypted by the "
    "container runtime (runtimeClassName), and a persistent volume claim is mounted as it is.",
)
_is_resource_id = re.compile(r"kbs:///[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+").fullmatch


def check_confidential(subject: Subject) -> Iterator[Diagnostic]:
    """The name of the key."""
    resource = enabled(subject).get("resourceId")
    if resource and not _is_resource_id(resource):
        message = f"{resource!r} is no key of a key broker: kbs:///repository/type/tag"
        yield subject.finding(RESOURCE_ID, message, (*CONFIDENTIAL, "resourceId"), "write kbs:///repository/type/tag")


def check_decrypted(subject: Subject) -> Iterator[Diagnostic]:
    """The warning about models that do not go through the storage initializer."""
    scheme = subject.plugs.scheme(subject.at("spec", "model", "uri") or "") if enabled(subject) else None
    if scheme is None:
        return
    if scheme.delivery is Delivery.MOUNT:
        reason = "a mounted volume is not decrypted"
    elif scheme.delivery is Delivery.IMAGE or scheme.resolve is not None:
        reason = "an image is decrypted by the container runtime (runtimeClassName), not by KServe"
    else:
        return
    message = f"`confidential` has no effect here: {reason}"
    yield subject.finding(NO_EFFECT, message, CONFIDENTIAL, "remove it, or let KServe download the model")


def enabled(subject: Subject) -> Json:
    """What is written about decryption where it is switched on; empty where it is not."""
    found = subject.at(*CONFIDENTIAL) or {}
    return found if found.get("enabled") else {}
