"""Tracing: what tells servers and schedulers to send traces, and whose traces they are.

KServe: pkg/controller/v1alpha2/llmisvc/tracing.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import MAIN
from kservec.core.llm.origins import origin_of
from kservec.core.pods.containers import find

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.tree import Json, Tree
    from kservec.core.unit import Unit

BY: Final = "tracing"
ENDPOINT: Final = "exporterEndpoint"
SETTINGS: Final = (
    ("OTEL_EXPORTER_OTLP_ENDPOINT", ENDPOINT),
    ("OTEL_TRACES_EXPORTER", "exporter"),
    ("OTEL_TRACES_SAMPLER", "sampler"),
    ("OTEL_TRACES_SAMPLER_ARG", "samplerArg"),
)
NODE, POD = "OTEL_RESOURCE_ATTRIBUTES_NODE_NAME", "OTEL_RESOURCE_ATTRIBUTES_POD_NAME"
DECODE_SERVICE, PREFILL_SERVICE = "inference-server-decode", "inference-server-prefill"
SCHEDULER_SERVICE: Final = "inference-scheduler"


def with_server_tracing(pod: Tree, unit: Unit, service: str) -> Tree:
    """A pod whose server sends traces in the name of a service; unchanged without an endpoint to send them to."""
    tracing = tracing_of(unit)
    if tracing is None or not tracing.get(ENDPOINT) or find(pod.get("containers") or (), MAIN) is None:
        return pod
    origin = origin_of(unit, ("tracing",), BY)
    for flag, value in (("--otlp-traces-endpoint", tracing[ENDPOINT]), ("--collect-detailed-traces", "all")):
        if not has_flag(pod.get("containers", MAIN, "args") or (), flag):
            for argument in (flag, value):
                pod = pod.append(("containers", MAIN, "args"), argument, origin)
    return with_tracing_variables(pod, unit, service)


def with_scheduler_tracing(pod: Tree, unit: Unit) -> Tree:
    """A pod whose scheduler sends traces, even where it is not said whereto."""
    args = (find(pod.get("containers") or (), MAIN) or {}).get("args") or ()
    if find(pod.get("containers") or (), MAIN) is None:
        return pod
    if not has_flag(args, "--tracing") and not has_flag(args, "-tracing"):
        pod = pod.append(("containers", MAIN, "args"), "--tracing=true", origin_of(unit, ("tracing",), BY))
    return with_tracing_variables(pod, unit, SCHEDULER_SERVICE)


def with_tracing_variables(pod: Tree, unit: Unit, service: str) -> Tree:
    """A pod whose main container has the variables that it lacks; unchanged if the service is not traced."""
    tracing, main = tracing_of(unit), find(pod.get("containers") or (), MAIN)
    if tracing is None or main is None:
        return pod
    origin = origin_of(unit, ("tracing",), BY)
    taken = {entry["name"] for entry in main.get("env") or ()}
    for entry in variables(unit, tracing, service):
        if entry["name"] not in taken:
            pod = pod.append(("containers", MAIN, "env"), entry, origin)
    return pod


def tracing_of(unit: Unit) -> Json | None:
    """The settings of a traced service; None if it is not traced."""
    assert unit.resolved is not None
    return unit.resolved.get("tracing")


def variables(unit: Unit, tracing: Json, service: str) -> Iterator[Json]:
    """All variables, in KServe's order."""
    yield {"name": "OTEL_SERVICE_NAME", "value": service}
    for name, field in SETTINGS:
        yield {"name": name, "value": tracing.get(field) or ""}
    for name, field in ((NODE, "spec.nodeName"), (POD, "metadata.name")):
        yield {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": field}}}
    attributes = (
        f"k8s.namespace.name={unit.namespace}", f"k8s.node.name=$({NODE})", f"k8s.pod.name=$({POD})",
        f"llmisvc.name={unit.name}",
    )  # fmt: skip
    yield {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": ",".join(attributes)}


def has_flag(args: Sequence[str], flag: str) -> bool:
    """Whether a flag is among arguments, with its value beside or inside it."""
    return any(argument == flag or argument.startswith(f"{flag}=") for argument in args)
