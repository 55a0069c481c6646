"""Autoscaling of components: the class of autoscaler, and which rules a component's scaling fields fall under.

Which fields each autoscaler takes is said in `hpa.py`, `keda.py` and `kpa.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from kservec.admission.validation import hpa, keda, kpa
from kservec.core.diagnostics import Code, Severity
from kservec.core.names import AUTOSCALER_CLASS, DEPLOYMENT_MODE
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic

UNKNOWN_CLASS = Code(
    "scaling/unsupported-class",
    Severity.ERROR,
    "an autoscaler class that KServe does not have",
    "The annotation serving.kserve.io/autoscalerClass of an InferenceService names one of KServe's autoscalers for "
    "Standard mode. Knative's own classes (kpa, hpa) are chosen by autoscaling.knative.dev/class instead.",
)
KNATIVE_CLASS = "autoscaling.knative.dev/class"
KNATIVE_HPA = "hpa.autoscaling.knative.dev"

Check = Callable[["Subject", "Part"], Iterator["Diagnostic"]]

CHECKS: Mapping[str, Check] = {hpa.CLASS: hpa.check, keda.CLASS: keda.check}
"""Autoscaler classes of Standard mode whose fields KServe checks when the class is named."""


def check_class(subject: Subject) -> Sequence[Diagnostic]:
    """KServe: inference_service_validation.go, validateInferenceServiceAutoscaler."""
    named = subject.annotations.get(AUTOSCALER_CLASS)
    if named is None:
        return ()
    classes = [s.name for s in subject.plugs.scalers if Mode.STANDARD in s.modes]
    if named in classes:
        return ()
    message = f"KServe has no autoscaler class {named!r}"
    help_text = f"use {', '.join(classes)}, or remove the annotation (hpa)"
    return (subject.finding(UNKNOWN_CLASS, message, ("metadata", "annotations", AUTOSCALER_CLASS), help_text),)


def check_autoscaling(subject: Subject) -> Sequence[Diagnostic]:
    """KServe: inference_service_validation.go, validateAutoScalingCompExtension.

    The webhook goes by the annotations alone: in Standard mode an absent class means that nothing is checked.
    """
    check = rules_for(subject) if subject.mode is not None else None
    return [finding for part in subject.parts for finding in check(subject, part)] if check is not None else ()


def rules_for(subject: Subject) -> Check | None:
    """The rules that the scaling fields of a service's components fall under, if any."""
    if subject.annotations.get(DEPLOYMENT_MODE) != Mode.STANDARD:
        return hpa.check if subject.annotations.get(KNATIVE_CLASS) == KNATIVE_HPA else kpa.check
    named = subject.annotations.get(AUTOSCALER_CLASS)
    return CHECKS.get(named) if named is not None else None
