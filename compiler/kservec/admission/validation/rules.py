"""The rules of KServe's validating webhook for InferenceServices, in the order in which they are applied.

KServe stops at the first rule that is broken; here every rule speaks, and rules that would make no sense after another
was broken look for themselves. Rules about changes of an object need its former state and are not among them. Rules
of ours stand after KServe's.
KServe: pkg/apis/serving/v1beta1/inference_service_validation.go, validateInferenceService
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from kservec.admission.unused import check_unused
from kservec.admission.validation.autoscaling import check_autoscaling, check_class
from kservec.admission.validation.canary import check_canaries
from kservec.admission.validation.collocation import check_collocation
from kservec.admission.validation.confidential import check_confidential
from kservec.admission.validation.container_names import check_container_names
from kservec.admission.validation.environment import check_environment
from kservec.admission.validation.framework import CHECKS, check_frameworks
from kservec.admission.validation.implementation import check_implementations, check_model_names
from kservec.admission.validation.logger import check_loggers
from kservec.admission.validation.multi_node import check_multi_node
from kservec.admission.validation.name import check_name
from kservec.admission.validation.replicas import COUNTS, check_counts
from kservec.admission.validation.storage import check_explainer_storage, check_storage_uris
from kservec.admission.validation.visibility import check_visibility

if TYPE_CHECKING:
    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic


class Rule(NamedTuple):
    """A check of services. `fields`: one without any of them, in its spec or a component, need not be looked at."""

    check: Callable[[Subject], Iterable[Diagnostic]]
    fields: frozenset[str] | None = None


RULES: tuple[Rule, ...] = (
    Rule(check_name),
    Rule(check_class),
    Rule(check_environment),
    Rule(check_multi_node, frozenset({"workerSpec"})),
    Rule(check_collocation, frozenset({"containers"})),
    Rule(check_model_names),
    Rule(check_storage_uris, frozenset({"storageUris"})),
    Rule(check_confidential),
    Rule(check_implementations),
    Rule(check_frameworks, frozenset(CHECKS)),
    Rule(check_explainer_storage, frozenset({"art"})),
    Rule(check_counts, frozenset(COUNTS)),
    Rule(check_loggers, frozenset({"logger"})),
    Rule(check_autoscaling),
    Rule(check_canaries, frozenset({"canary"})),
    Rule(check_visibility),
    Rule(check_container_names, frozenset({"containers", "initContainers", "canary"})),
    Rule(check_unused),
)


def broken_rules(subject: Subject) -> list[Diagnostic]:
    """What the rules find in a service, in their order."""
    written = set(subject.value.get("spec") or ()).union(*[part.spec for part in subject.parts])
    return [
        finding
        for check, fields in RULES
        if fields is None or not fields.isdisjoint(written)
        for finding in check(subject)
    ]
