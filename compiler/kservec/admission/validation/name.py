"""The name of an InferenceService, which becomes part of many other names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.schemas.object_meta import allowed_in_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.admission.subject import Site, Subject
    from kservec.core.diagnostics import Diagnostic

INVALID_NAME = Code(
    "name/invalid",
    Severity.ERROR,
    "a name that KServe does not accept",
    "The name becomes part of Service names and hosts: it takes lower-case letters, digits and dashes, begins with a "
    "letter and ends with a letter or digit.",
)

_is_name = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?").fullmatch


def check_name(subject: Subject) -> Sequence[Diagnostic]:
    """KServe: inference_service_validation.go, validateInferenceServiceName."""
    return name_findings(subject.site)


def name_findings(site: Site) -> Sequence[Diagnostic]:
    """What is wrong with the name of an object of KServe's."""
    name, kind = site.ref.name, site.ref.kind
    if not name or _is_name(name):
        return ()
    message = f"{name!r} cannot be the name of an {kind}"
    return (site.finding(INVALID_NAME, message, ("metadata", "name"), f"allowed: {allowed_in_name(kind, name)}"),)
