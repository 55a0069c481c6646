"""The rules of KServe's validating webhook for InferenceServices, in the order in which they are applied.

KServe stops at the first rule that is broken; here every rule speaks, and rules that would make no sense after another
was broken look for themselves. Rules about changes of an object need its former state and are not among them. Rules
of ours stand after KServe's.
KServe: pkg/apis/serving/v1beta1/inference_service_validation.go, validateInferenceService
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from kservec.admission.unused import check_unused
from kservec.admission.validation.autoscaling import check_autoscaling, check_class
from kservec.admission.validation.canary import check_canaries
from kservec.admission.validation.collocation import check_collocation
from kservec.admission.validation.confidential import check_confidential
from kservec.admission.validation.container_names import check_container_names
from kservec.admission.validation.environment import check_environment
from kservec.admission.validation.framework import check_frameworks
from kservec.admission.validation.implementation import check_implementations, check_model_names
from kservec.admission.validation.logger import check_loggers
from kservec.admission.validation.multi_node import check_multi_node
from kservec.admission.validation.name import check_name
from kservec.admission.validation.replicas import check_counts
from kservec.admission.validation.storage import check_explainer_storage, check_storage_uris
from kservec.admission.validation.visibility import check_visibility

if TYPE_CHECKING:
    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic

Rule: TypeAlias = Callable[["Subject"], Iterator["Diagnostic"]]

RULES: tuple[Rule, ...] = (
    check_name,
    check_class,
    check_environment,
    check_multi_node,
    check_collocation,
    check_model_names,
    check_storage_uris,
    check_confidential,
    check_implementations,
    check_frameworks,
    check_explainer_storage,
    check_counts,
    check_loggers,
    check_autoscaling,
    check_canaries,
    check_visibility,
    check_container_names,
    check_unused,
)
