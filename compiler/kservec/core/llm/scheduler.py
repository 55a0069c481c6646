"""The scheduler of an LLMInferenceService and its tokenizer: whether there are any, and what they are called.

Must not know what their configuration says, nor how their pods are run.
KServe: pkg/controller/v1alpha2/llmisvc/{scheduler,tokenizer}.go, hasManagedScheduler and shouldDeleteTokenizer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import (
    COMPONENT_LABEL,
    NAME_LABEL,
    PART_OF,
    PART_OF_LABEL,
    SCHEDULER_ACCOUNT,
    SCHEDULER_SERVICE,
    TOKENIZER,
    child_name,
)
from kservec.core.llm.presets import has_tokenizer, pool_reference
from kservec.core.llm.resolved import POOL_SPEC, SCHEDULER_POD
from kservec.core.llm.settings import scheme
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

SCHEDULER_PATH: Final = ("router", "scheduler")
TOKENIZER_PATH: Final = (*SCHEDULER_PATH, "tokenizer", "template")
SCHEDULER_COMPONENT: Final = "llminferenceservice-router-scheduler"
TOKENIZER_COMPONENT: Final = "tokenizer"
TOKENIZER_CONTAINER: Final = "tokenizer"
"""What a container beside the scheduler is called that makes tokens, as before 0.9."""

TOKENIZER_PORT: Final = 8000
TOKENIZER_PORT_NAME: Final = "render-http"


def runs_scheduler(spec: Json) -> bool:
    """Whether a merged spec leads to a scheduler of its own."""
    return lookup(spec, SCHEDULER_POD) is not None and not pool_reference(spec)


def runs_tokenizer(spec: Json, env: Env) -> bool:
    """Whether a merged spec leads to a tokenizer."""
    has_scheduler = lookup(spec, SCHEDULER_PATH) is not None and not pool_reference(spec)
    return has_scheduler and env.profile.tokenizes_apart and has_tokenizer(spec)


def part_labels(name: str, component: str) -> dict[str, str]:
    """The labels of all objects of one component."""
    return {COMPONENT_LABEL: component, NAME_LABEL: name, PART_OF_LABEL: PART_OF}


def scheduler_service(name: str, spec: Json) -> str:
    """The Service of the scheduler: the one that the pool names, or KServe's. KServe: EPPServiceName."""
    named: str = lookup(spec, (*POOL_SPEC, "endpointPickerRef", "name"))
    return named or child_name(name, SCHEDULER_SERVICE)


def scheduler_account(name: str, spec: Json) -> str:
    """The ServiceAccount of the scheduler's pods."""
    return lookup(spec, (*SCHEDULER_POD, "serviceAccountName")) or child_name(name, SCHEDULER_ACCOUNT)


def makes_account(name: str, spec: Json) -> bool:
    """Whether the scheduler's ServiceAccount is made here, and is not one of the user's."""
    return scheduler_account(name, spec) == child_name(name, SCHEDULER_ACCOUNT)


def tokenizer_url(unit: Unit, platform: PlatformConfig) -> str:
    """Where the tokenizer is asked."""
    host = f"{child_name(unit.name, TOKENIZER)}.{unit.namespace}.svc.{platform.cluster_domain}"
    return f"{scheme(platform)}://{host}:{TOKENIZER_PORT}"
