"""The model's URI, as Go reads it.

KServe: knative.dev/pkg/apis, URL.UnmarshalJSON; a service or config whose URI it cannot read is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.urls import url_fault

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject

URI: Final = ("spec", "model", "uri")

MODEL_URI = Code(
    "llm/model-uri-unreadable",
    Severity.ERROR,
    "a model URI that cannot be read",
    "KServe reads the URI as a URL: what stands before the first slash is a host, and digits alone can follow a colon "
    "there. An image needs a path (oci://registry.example.com/models/chat:v1).",
)


def check_model_uri(subject: Subject) -> Iterator[Diagnostic]:
    """The URI of the base model."""
    uri = subject.at(*URI)
    fault = url_fault(uri) if uri else None
    if fault is not None:
        help_text = "correct it; an image is written with its registry, as in oci://registry.example.com/chat:v1"
        yield subject.finding(MODEL_URI, f"the model's URI cannot be read: {fault}", URI, help_text)
