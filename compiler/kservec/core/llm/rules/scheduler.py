"""The scheduler: its copies, its configuration, and the pool that it picks from.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validateSchedulerConfig;
gateway-api-inference-extension: the rules in the CRD of InferencePool
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject

SCHEDULER: Final = ("spec", "router", "scheduler")
CONFIG: Final = (*SCHEDULER, "config")
POOL: Final = (*SCHEDULER, "pool", "spec")
SERVICE: Final = "Service"

REPLICAS = Code(
    "llm/scheduler-replicas",
    Severity.ERROR,
    "a scheduler without copies",
    "A scheduler has at least one pod. To serve without one, leave `scheduler` out.",
)
CONFIGURATION = Code(
    "llm/scheduler-config",
    Severity.ERROR,
    "a scheduler configuration that is not there, or there twice",
    "scheduler.config has the configuration itself (inline) or names the ConfigMap that holds it (ref).",
)
PICKER_PORT = Code(
    "llm/pool-picker-port",
    Severity.ERROR,
    "an endpoint picker without a port",
    "A gateway asks the endpoint picker of a pool over gRPC. Where it is a Service, the port must be said.",
)
TARGET_PORTS = Code(
    "llm/pool-target-ports",
    Severity.ERROR,
    "a port that a pool has twice",
    "Each target port of an InferencePool stands for one model server in every pod, so no number occurs twice.",
)


def check_scheduler(subject: Subject) -> Iterator[Diagnostic]:
    """Replicas and configuration."""
    yield from check_scheduler_replicas(subject)
    config = subject.at(*CONFIG)
    if config is None:
        return
    inline, ref = config.get("inline"), config.get("ref")
    if inline is None and ref is None:
        yield subject.finding(CONFIGURATION, "scheduler.config is empty", CONFIG, "set inline or ref")
    if inline is not None and ref is not None:
        message = "scheduler.config has both inline and ref"
        yield subject.finding(CONFIGURATION, message, CONFIG, "keep one of them")
    if inline is not None and (not inline or (isinstance(inline, str) and len(inline) < 3)):
        message = "the inline configuration of the scheduler is empty"
        yield subject.finding(CONFIGURATION, message, (*CONFIG, "inline"), "write an EndpointPickerConfig")
    if ref is not None and not ref.get("name"):
        message = "scheduler.config.ref does not say which ConfigMap"
        yield subject.finding(CONFIGURATION, message, (*CONFIG, "ref"), "set `name`")


def check_scheduler_replicas(subject: Subject) -> Iterator[Diagnostic]:
    """At least one copy. KServe says this to configs, too."""
    replicas = subject.at(*SCHEDULER, "replicas")
    if replicas is not None and replicas <= 0:
        message = f"a scheduler cannot have {replicas} replicas"
        yield subject.finding(REPLICAS, message, (*SCHEDULER, "replicas"), "use 1 or more")


def check_pool(subject: Subject) -> Iterator[Diagnostic]:
    """What no schema says of the pool."""
    pool = subject.at(*POOL)
    if pool is None:
        return
    picker = pool.get("endpointPickerRef") or {}
    if picker.get("kind", SERVICE) == SERVICE and picker.get("port") is None:
        message = "endpointPickerRef names a Service, but no port"
        yield subject.finding(PICKER_PORT, message, (*POOL, "endpointPickerRef"), "set port.number, such as 9002")
    seen: set[int] = set()
    for i, port in enumerate(pool.get("targetPorts") or ()):
        if port["number"] in seen:
            message = f"the pool has target port {port['number']} twice"
            yield subject.finding(TARGET_PORTS, message, (*POOL, "targetPorts", i), "remove it")
        seen.add(port["number"])
