"""Admission of LLMInferenceServices and their configs: what KServe's API makes of one, and why it refuses it.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, llm_inference_service_config_validation.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.llm.conversion import OLD, convert
from kservec.admission.llm.defaulting import default_llminferenceservice
from kservec.admission.llm.sample import check_templates
from kservec.core.llm.rules.routes import check_parents_in_v1alpha1, check_redundant_parents
from kservec.core.llm.rules.subject import Place, Subject
from kservec.core.llm.rules.validity import config_errors, service_errors
from kservec.core.records import record
from kservec.core.unit import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.models.local_models import LocalCache
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Plugs
    from kservec.core.text.document import Document
    from kservec.core.tree import Json


@record
class AdmittedLLM:
    """An object in v1alpha2, where its values were written, and what there is to say about it.

    The value of a service is defaulted. It means nothing where the findings have an error.
    """

    value: Json
    source: Source
    diagnostics: tuple[Diagnostic, ...] = ()


@record
class Judges:
    """What a service or a config is judged by: KServe's configuration, the plugs, and the caches of local models."""

    platform: PlatformConfig
    plugs: Plugs
    caches: Sequence[LocalCache] = ()


def admit_llminferenceservice(ref: ObjectRef, document: Document, value: Json, judges: Judges) -> AdmittedLLM:
    """Convert, default and validate a service.

    Args:
        ref: the service's identity, as it is written.
        document: the user's document, for the places of findings.
        value: its value, valid by its CRD's schema, and with the defaults of that.
        judges: what it is judged by.

    Raises:
        Reject: the section `localModel` of the configuration cannot be read.
    """
    converted = convert(value)
    source = Source(document=document, moved=converted.moved)
    defaulted = default_llminferenceservice(converted.value, judges.platform, judges.caches)
    subject = _subject(ref, defaulted, source, judges)
    parents = check_parents_in_v1alpha1 if value["apiVersion"] == OLD else check_redundant_parents
    found = (*service_errors(subject), *parents(subject))
    return AdmittedLLM(value=defaulted, source=source, diagnostics=found)


def admit_config(ref: ObjectRef, document: Document, value: Json, judges: Judges) -> AdmittedLLM:
    """Convert and validate a config; the arguments are as those of a service."""
    converted = convert(value)
    source = Source(document=document, moved=converted.moved)
    subject = _subject(ref, converted.value, source, judges)
    errors = tuple(config_errors(subject))
    found = errors or tuple(check_templates(subject))
    return AdmittedLLM(value=converted.value, source=source, diagnostics=found)


def _subject(ref: ObjectRef, value: Json, source: Source, judges: Judges) -> Subject:
    return Subject(ref, value, lambda path: Place(source.span(*path)), judges.platform, judges.plugs)
