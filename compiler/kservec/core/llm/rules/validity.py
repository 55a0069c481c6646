"""All rules of a service and of a config, in the order in which KServe has them.

A service is judged twice: as it is written, and as it is merged with its presets and base configs, for KServe sends
the merged one through its own API once more. Whether the number of nodes changes is not judged: it takes an object that
is there already.
KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validate;
llm_inference_service_config_validation.go; the rules in the CRDs of both kinds
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.rules.confidential import check_confidential
from kservec.core.llm.rules.devices import check_devices
from kservec.core.llm.rules.empty_references import check_empty_references
from kservec.core.llm.rules.http_rules import check_rules
from kservec.core.llm.rules.kv_cache import check_kv_cache
from kservec.core.llm.rules.lora import check_forms, check_lora
from kservec.core.llm.rules.model import check_model_uri
from kservec.core.llm.rules.parallelism import check_parallelism
from kservec.core.llm.rules.quantities import check_quantities
from kservec.core.llm.rules.rollout import check_rollout
from kservec.core.llm.rules.routes import check_parents, check_routes
from kservec.core.llm.rules.scaling import check_config_scaling, check_scaling
from kservec.core.llm.rules.scheduler import check_pool, check_scheduler, check_scheduler_replicas
from kservec.core.llm.rules.traffic import check_traffic

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Rule, Subject

BASE_REFS = Code(
    "llm/config-base-refs",
    Severity.ERROR,
    "a config that is based on others",
    "Only a service names the configs that it is based on; their order there says which wins.",
)


def check_base_refs(subject: Subject) -> Iterator[Diagnostic]:
    """A config has no base."""
    if subject.at("spec", "baseRefs"):
        message = "a config cannot have baseRefs"
        help_text = "list all configs in the baseRefs of the service, the weakest first"
        yield subject.finding(BASE_REFS, message, ("spec", "baseRefs"), help_text)


SERVICE_RULES: Final[Sequence[Rule]] = (
    check_model_uri,
    check_empty_references,
    check_routes,
    check_parents,
    check_rules,
    check_traffic,
    check_parallelism,
    check_scheduler,
    check_pool,
    check_scaling,
    check_lora,
    check_kv_cache,
    check_rollout,
    check_devices,
    check_confidential,
)
CONFIG_RULES: Final[Sequence[Rule]] = (
    check_model_uri,
    check_forms,
    check_quantities,
    check_base_refs,
    check_scheduler_replicas,
    check_config_scaling,
)


def service_errors(subject: Subject) -> Iterator[Diagnostic]:
    """Why KServe refuses a service, as it is written or as it is merged; every finding is an error."""
    for rule in SERVICE_RULES:
        yield from rule(subject)


def config_errors(subject: Subject) -> Iterator[Diagnostic]:
    """Why KServe refuses a config, its templates apart; every finding is an error."""
    for rule in CONFIG_RULES:
        yield from rule(subject)
