"""What an API server checks of the objects around a pod in code, and no schema states.

Kubernetes: pkg/apis/{apps,core}/validation/validation.go; Gateway API: the CRD of HTTPRoute
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.digits import integer
from kservec.core.knative.annotations import service_annotation_faults
from kservec.core.knative.validity import knative_faults
from kservec.core.paths import lookup
from kservec.core.patterns import Pattern
from kservec.core.pods.templates import LEADER, TEMPLATE, WORKER
from kservec.core.quantity import is_cut
from kservec.core.schemas.faults import Fault, field_path
from kservec.core.schemas.object_meta import MAX_LABEL
from kservec.core.validity.field_rules import CUT, LESS, TOO_MUCH, fault_of
from kservec.core.validity.image_validity import image_faults
from kservec.core.validity.odd_amounts import odd_amount
from kservec.core.validity.pod_validity import pod_faults
from kservec.core.validity.reference_names import reference_faults
from kservec.core.validity.volume_validity import claim_faults, volume_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kservec.core.tree import Json, Path

LONG_LABEL = Code(
    "output/long-label",
    Severity.ERROR,
    "a generated label value is too long",
    "KServe derives the label `app` from the name of the component: isvc.<service>-<component> may have 63 characters.",
)
LONG_SERVICE_NAME = Code(
    "output/long-name",
    Severity.ERROR,
    "a generated name is too long",
    "A Service is a DNS name: at most 63 characters, the component's suffix included. So is a revision of a Knative "
    "service, with the hash of its content, and a tagged one, with the tag before it. Shorten the name of the service.",
)
UNNAMED_PORT = Code(
    "output/unnamed-port",
    Severity.ERROR,
    "a Service with several ports, of which one has no name",
    "The ports of the container that serves become those of its Service, with their names. A Service with more than "
    "one port needs a name for each.",
)
NO_PORTS = Code(
    "output/no-ports",
    Severity.ERROR,
    "a Service without a port",
    "Only a Service without an address of its own may have no ports. Those of a scheduler's Service are the ports of "
    "its containers that are named grpc, grpc-health, metrics and zmq.",
)
ROLLOUT = Code(
    "output/rollout-number",
    Severity.ERROR,
    "a rollout number that is no number and no percentage",
    "maxSurge and maxUnavailable take a whole number, or a percentage as text; both 0 would stop every rollout.",
)

SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?\Z").match
PERCENT = Pattern(r"[0-9]+%\Z").match
USUAL_ROLLOUT = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
"""KServe's default, which nearly all workloads have: nothing is wrong with it."""


def deployment_faults(body: Json) -> list[Fault]:
    """Everything an API server would refuse in a Deployment."""
    strategy = body["spec"].get("strategy")
    found = template_faults(body["spec"]["template"])
    return found if not strategy or strategy == USUAL_ROLLOUT else [*found, *rollout_faults(strategy)]


def pods_faults(body: Json) -> list[Fault]:
    """Everything an API server would refuse in the pods of an object with one template."""
    return template_faults(body["spec"]["template"])


def leader_worker_set_faults(body: Json) -> Iterator[Fault]:
    """Everything an API server would refuse in the pods of a LeaderWorkerSet, once its controller makes them."""
    for path in (LEADER, WORKER):
        template = lookup(body, path)
        if template is not None:
            yield from template_faults(template, path)


def template_faults(template: Json, at: Path = TEMPLATE) -> list[Fault]:
    """Labels of the pods that are too long, and what is wrong with the pods themselves; `at` is the template's path."""
    labels = (template.get("metadata") or {}).get("labels") or {}
    found = [long_label(key, value, at) for key, value in labels.items() if len(value) > MAX_LABEL]
    pod = template.get("spec") or {}
    for look in (pod_faults, image_faults, reference_faults):
        if faults := look(pod):
            found += [fault.below(*at, "spec") for fault in faults]
    return found


def long_label(key: str, value: str, at: Path) -> Fault:
    """The fault of a label of pods that has too many characters."""
    over = len(value) - MAX_LABEL
    message = f"label {key} of the pods, {value}, has more than {MAX_LABEL} characters"
    place = (*at, "metadata", "labels", key)
    return Fault(LONG_LABEL, place, message, help=f"shorten it by {over}", once=value, over=over)


def rollout_faults(strategy: Json) -> Iterator[Fault]:
    """Rollout numbers that are text, or both zero."""
    numbers = strategy.get("rollingUpdate") or {}
    if not numbers:
        return
    if strategy.get("type") == "Recreate":
        message = "rollingUpdate is not possible with the type Recreate"
        yield Fault(ROLLOUT, ("spec", "strategy", "rollingUpdate"), message, help="remove it")
    unavailable = str(numbers.get("maxUnavailable", ""))
    if PERCENT(unavailable) and integer(unavailable.removesuffix("%")) > 100:
        at = ("spec", "strategy", "rollingUpdate", "maxUnavailable")
        yield Fault(ROLLOUT, at, f"maxUnavailable is {unavailable}", help="write 100% at most")
    for key, value in sorted(numbers.items()):
        if isinstance(value, str) and not PERCENT(value):
            at = ("spec", "strategy", "rollingUpdate", key)
            yield Fault(
                ROLLOUT, at, f'{key} is the text "{value}"', help="write a number without quotes, or a percentage"
            )
    if {str(v).removesuffix("%") for v in numbers.values()} == {"0"} and len(numbers) > 1:
        yield Fault(ROLLOUT, ("spec", "strategy"), "maxSurge and maxUnavailable are both 0", help="raise one of them")


def target_faults(body: Json) -> Iterator[Fault]:
    """Amounts that an autoscaler is to hold, cut to what a quantity can hold, or hardly meant."""
    for i, metric in enumerate(body["spec"].get("metrics") or ()):
        resource = metric.get("resource") or {}
        amount = (resource.get("target") or {}).get("averageValue")
        if amount is None:
            continue
        path = ("spec", "metrics", i, "resource", "target", "averageValue")
        if is_cut(amount):
            yield Fault(CUT, path, f"{field_path(path)} {TOO_MUCH}", help=LESS)
        for wrong in odd_amount(resource.get("name", ""), amount):
            yield fault_of(wrong, path, field_path(path))


def name_faults(body: Json) -> tuple[Fault, ...]:
    """A Service's name, which is stricter than others."""
    name = body["metadata"]["name"]
    if SERVICE_NAME(name):
        return ()
    over = max(0, len(name) - MAX_LABEL)
    message = f"{name} is no valid name of a Service"
    hint = "use at most 63 lower-case letters, digits and dashes, with a letter first and no dash last"
    return (Fault(LONG_SERVICE_NAME, ("metadata", "name"), message, help=hint, over=over),)


def service_faults(body: Json) -> list[Fault]:
    """A Service's name, and the names of its ports."""
    found = [*name_faults(body)]
    spec = body.get("spec") or {}
    ports = spec.get("ports") or ()
    if not ports and spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName":
        found.append(Fault(NO_PORTS, ("spec",), "no port is named", help="name the ports of the container"))
    for port in ports if len(ports) > 1 else ():
        if not port.get("name"):
            message = f"port {port['port']} has no name, and is not the only one"
            path, hint = ("spec", "ports", port["port"]), "name the ports of the container"
            found.append(Fault(UNNAMED_PORT, path, message, help=hint))
    return found


def knative_service_faults(body: Json) -> Iterator[Fault]:
    """Everything an API server or Knative's webhook would refuse in a Knative service."""
    yield from name_faults(body)
    pod = body["spec"]["template"]["spec"]
    for fault in (*pod_faults(pod), *reference_faults(pod)):
        yield fault.below("spec", "template", "spec")
    yield from long_revision_names(body)
    yield from knative_faults(body)
    yield from service_annotation_faults(body)


def long_revision_names(body: Json) -> Iterator[Fault]:
    """The name of a revision, and the host names of tags, that have more characters than a DNS label may have."""
    name = body["metadata"]["name"]
    revision = body["spec"]["template"]["metadata"].get("name") or ""
    hosts = [f"{target['tag']}-{name}" for target in body["spec"].get("traffic") or () if target.get("tag")]
    for what, text in (("revision", revision), *(("the tag's host", host) for host in hosts)):
        if len(text) > MAX_LABEL:
            message = f"{what} {text} has more than {MAX_LABEL} characters"
            over = len(text) - MAX_LABEL
            yield Fault(LONG_SERVICE_NAME, ("metadata", "name"), message, help=f"shorten it by {over}", over=over)


CHECKS: dict[tuple[str, str], Callable[[Json], Iterable[Fault]]] = {
    ("apps/v1", "DaemonSet"): pods_faults,
    ("apps/v1", "Deployment"): deployment_faults,
    ("apps/v1", "StatefulSet"): pods_faults,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): target_faults,
    ("batch/v1", "Job"): pods_faults,
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): leader_worker_set_faults,
    ("v1", "PersistentVolume"): volume_faults,
    ("v1", "PersistentVolumeClaim"): claim_faults,
    ("v1", "Service"): service_faults,
    ("serving.knative.dev/v1", "Service"): knative_service_faults,
}


def object_faults(api_version: str, kind: str, body: Json) -> Iterable[Fault]:
    """Everything that code of an API server would refuse in an object, as far as it is known here."""
    check = CHECKS.get((api_version, kind))
    return check(body) if check is not None else ()
