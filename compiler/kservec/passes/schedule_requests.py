"""schedule_requests: the scheduler is configured and let in; the pools and Services by which it is found are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.names import TOKENIZER, child_name
from kservec.core.llm.part import PartRole
from kservec.core.llm.pools import pool_objects
from kservec.core.llm.release_findings import release_findings
from kservec.core.llm.scheduler import (
    SCHEDULER_COMPONENT,
    TOKENIZER_COMPONENT,
    TOKENIZER_PORT,
    TOKENIZER_PORT_NAME,
    part_labels,
    scheduler_service,
)
from kservec.core.llm.scheduler_access import access_objects
from kservec.core.llm.scheduler_arguments import up_to_date
from kservec.core.llm.scheduler_findings import config_findings, tokenizer_findings
from kservec.core.records import evolve
from kservec.core.routing.objects import Metadata, service_object
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "schedule_requests")
SERVED_PORTS: Final = frozenset(("grpc", "grpc-health", "metrics", "zmq"))
"""The ports of the scheduler that its Service has, by the names that containers give them."""


def schedule_requests(unit: Unit, env: Env) -> Step:
    """Bring the scheduler's arguments up to date, and make what it needs besides its pods.

    Takes:   nothing
    Writes:  the scheduler's pod; its ServiceAccount, Role and bindings; Services of scheduler and tokenizer;
             InferencePools
    Reports: llm/scheduler-*, llm/tokenizer-missing, llm/latency-predictor-missing, llm/pool-kind-absent,
             llm/no-pool, llm/service-account-*
    KServe:  pkg/controller/v1alpha2/llmisvc/scheduler.go, reconcileScheduler
    """
    found: list[Diagnostic] = []
    parts = []
    manifests: list[Manifest] = []
    for part in unit.parts:
        if part.role is PartRole.SCHEDULER:
            configured = up_to_date(unit, part, env)
            found += release_findings(unit, configured.pod, part.pod_annotations, part.replicas or 1)
            found += config_findings(unit, configured)
            manifests += scheduler_objects(unit, part, env)
            parts.append(evolve(part, pod=configured.pod))
            continue
        if part.role is PartRole.TOKENIZER:
            found += tokenizer_findings(unit)
            manifests.append(tokenizer_service(unit))
        parts.append(part)
    if not manifests:
        return Step(unit)
    return Step(evolve(unit, parts=tuple(parts), bundle=unit.bundle.add(*manifests)), tuple(found))


def scheduler_objects(unit: Unit, part: Part, env: Env) -> tuple[Manifest, ...]:
    """All objects of a scheduler but the Deployment.

    Raises:
        Reject: the platform has no InferencePool, or an account is declared that must not be, or the other way round.
    """
    labels = part_labels(unit.name, SCHEDULER_COMPONENT)
    access, pools = access_objects(unit, labels, env), pool_objects(unit, labels, env)
    return (*access, scheduler_service_object(unit, part), *pools)


def scheduler_service_object(unit: Unit, part: Part) -> Manifest:
    """The Service of a scheduler, with those ports that its containers name so; of equal names the last counts."""
    assert unit.resolved is not None
    containers = part.pod.get("containers") or ()
    ports = {p["name"]: p for c in containers for p in c.get("ports") or () if p.get("name") in SERVED_PORTS}
    served = [port_body(ports[name]) for name in sorted(ports)]
    return service(unit, scheduler_service(unit.name, unit.resolved.value), SCHEDULER_COMPONENT, served)


def port_body(port: Json) -> Json:
    """A port of a container as one of a Service."""
    return {
        "name": port["name"],
        "port": port["containerPort"],
        "targetPort": port["name"],
        "protocol": port.get("protocol") or "TCP",
    }


def tokenizer_service(unit: Unit) -> Manifest:
    """The Service of a tokenizer. KServe: tokenizer.go, expectedTokenizerService."""
    port = {"name": TOKENIZER_PORT_NAME, "containerPort": TOKENIZER_PORT}
    return service(unit, child_name(unit.name, TOKENIZER), TOKENIZER_COMPONENT, [port_body(port)])


def service(unit: Unit, name: str, component: str, ports: list[Json]) -> Manifest:
    """A Service of one component's pods."""
    labels = part_labels(unit.name, component)
    spec = {"selector": labels} | ({"ports": ports} if ports else {})
    metadata = Metadata(Tree.of(labels, MADE), Tree.of({}, MADE))
    return service_object(ObjectRef("v1", "Service", unit.namespace, name), metadata, Tree.of(spec, MADE))
