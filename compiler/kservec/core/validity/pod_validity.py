"""What an API server checks of a pod template in code, and no schema states.

KServe has no such check: a merge can leave two handlers in a probe or two sources in a volume, and the Deployment is
then refused in the cluster. Paths are below the PodSpec.
Kubernetes: pkg/apis/core/validation/validation.go, ValidatePodTemplateSpec and what it calls
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from kservec.core.diagnostics import Code, Severity
from kservec.core.patterns import Pattern
from kservec.core.pods.containers import PROBES
from kservec.core.quantity import compare, is_negative
from kservec.core.schemas.conjunction import both
from kservec.core.schemas.faults import Fault, value_at
from kservec.core.schemas.object_meta import PLAIN_LABEL, plain
from kservec.core.validity.container_rules import CONTAINER_RULES, INIT_CONTAINER_RULES
from kservec.core.validity.field_checks import without
from kservec.core.validity.field_rules import ABSENT, NOT_EXACTLY_ONE, REPEATED, Rules, faults_of_rules
from kservec.core.validity.odd_amounts import odd_amount
from kservec.core.validity.pod_rules import POD_RULES
from kservec.core.validity.volume_rules import VOLUME_RULES
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence, Set

    from kservec.core.tree import Json, Path

K = TypeVar("K")

NO_VOLUME = Code(
    "pod/no-volume",
    Severity.ERROR,
    "a mount of a volume that the pod does not have",
    "The name of a volume mount must be that of one of the pod's volumes.",
)
OVER_LIMIT = Code(
    "pod/request-over-limit",
    Severity.ERROR,
    "a resource request that does not fit its limit",
    "A request may not be larger than the limit, and for GPUs and other extended resources must equal it. The two are "
    "merged one by one from runtime and service: set both.",
)
BAD_NAME = Code(
    "pod/invalid-name",
    Severity.ERROR,
    "a name in a pod that the API server refuses",
    "Containers and volumes are named with at most 63 lower-case letters, digits and dashes; ports with at most 15.",
)
NOT_SERVED = Code(
    "pod/not-for-deployments",
    Severity.ERROR,
    "a pod setting that a Deployment cannot have",
    "Pods of a Deployment restart always and have no deadline.",
)

LABEL = Pattern(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z").match
PORT_NAME = Pattern(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?\Z").match
LONGEST_PORT_NAME = 15
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
NAMED = {"required": ["name"], "properties": {"name": {"type": "string", **plain(PLAIN_LABEL)}}}
PLAIN_PORT = {"pattern": "^[a-z](?:-?[a-z0-9])*$", "maxLength": LONGEST_PORT_NAME}
PLAIN_PROBE = {
    "properties": {one: {"type": "object", "required": [] if one == "exec" else ["port"]} for one in HANDLERS},
    "anyOf": [{"required": [one], **without(*{*HANDLERS} - {one})} for one in HANDLERS],
}
PLAIN_CONTAINER = {
    "env": {"items": {"required": ["name"], "anyOf": [without("valueFrom"), without("value")]}},
    "ports": {"items": {"properties": {"name": PLAIN_PORT}}},
    "volumeMounts": {"items": {"required": ["name", "mountPath"]}},
    **dict.fromkeys(PROBES, PLAIN_PROBE),
}
PLAIN_CONTAINERS = {"items": both(NAMED, {"properties": PLAIN_CONTAINER})}
PLAIN_POD = {
    "properties": {
        "containers": PLAIN_CONTAINERS,
        "initContainers": PLAIN_CONTAINERS,
        "volumes": {"items": {**NAMED, "maxProperties": 2}},
        "restartPolicy": {"const": "Always"},
        "activeDeadlineSeconds": ABSENT,
    }
}
"""The JSON Schema of pods with which nothing is wrong that is found here without the tables."""
RULES = Rules(
    rules=(
        *(rule.below("volumes[]") for rule in VOLUME_RULES),
        *(rule.below("containers[]") for rule in CONTAINER_RULES),
        *(rule.below("initContainers[]") for rule in (*CONTAINER_RULES, *INIT_CONTAINER_RULES)),
        *POD_RULES,
    ),
    beside=PLAIN_POD,
)


def pod_faults(pod: Json) -> Sequence[Fault]:
    """Everything an API server would refuse in a Deployment's PodSpec, in the order of its fields."""
    return () if RULES.plain.is_valid(pod) and is_plain(pod) else [*every_fault(pod)]


def is_plain(pod: Json) -> bool:
    """Whether `every_fault` surely finds nothing in a pod that fits the plain schema: what no schema can tell."""
    volumes = pod.get("volumes") or ()
    names = {volume["name"] for volume in volumes}
    if len(names) != len(volumes):
        return False
    owners = set()
    containers = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
    for container in containers:
        owners.add(container["name"])
        if not is_plain_container(container, names):
            return False
    return len(owners) == len(containers)


def is_plain_container(container: Json, volumes: Set[str]) -> bool:
    """Whether names and paths differ in a container, its mounts are of volumes, and its requests keep to limits."""
    variables, mounts, ports = container.get("env") or (), container.get("volumeMounts") or (), container.get("ports")
    if len(variables) > 1 and len({variable["name"] for variable in variables}) < len(variables):
        return False
    if ports and len(ports) > 1 and next(port_faults(container), None):
        return False
    for mount in mounts:
        if mount["name"] not in volumes:
            return False
    if len(mounts) > 1 and len({mount["mountPath"] for mount in mounts}) < len(mounts):
        return False
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests")
    for name, request in requests.items() if requests else ():
        limit = limits.get(name)
        if request != limit and not is_within(name, request, limit):
            return False
    return True


def every_fault(pod: Json) -> Iterator[Fault]:
    """What is wrong with a pod, looked for one by one."""
    containers = [("containers", c) for c in pod.get("containers") or ()]
    containers += [("initContainers", c) for c in pod.get("initContainers") or ()]
    volumes = pod.get("volumes") or ()
    yield from repeats([(field, c["name"]) for field, c in containers if "name" in c], "container")
    yield from repeats([("volumes", v["name"]) for v in volumes], "volume")
    for volume in volumes:
        yield from volume_faults(volume)
    names = {v["name"] for v in volumes}
    for field, container in containers:
        for fault in container_faults(container, names):
            yield fault.below(field, container.get("name", ""))
    yield from without_repeats(faults_of_rules(pod, RULES), pod)
    yield from deployment_faults(pod)


def without_repeats(faults: Iterable[Fault], pod: Json) -> Iterator[Fault]:
    """Faults without those of probes and hooks whose port is one of their container, and is told of there.

    Most such probes are made of the port, and nobody wrote them.
    """
    for fault in faults:
        if fault.path[-1:] != ("port",) or not is_listed_port(pod, fault.path):
            yield fault


def is_listed_port(pod: Json, path: Path) -> bool:
    """Whether the number at a path below a container is that of one of the container's ports."""
    field, name, *below = path
    container = next(c for c in pod[field] if c.get("name", "") == name)
    return value_at(container, tuple(below)) in [port.get("containerPort") for port in container.get("ports") or ()]


def repeats(named: Iterable[tuple[str, str]], noun: str) -> Iterator[Fault]:
    """A fault for every name that occurs twice, at its second place."""
    seen: set[str] = set()
    for field, name in named:
        if name in seen:
            yield Fault(REPEATED, (field, name), f"two {noun}s are named {name}", help=f"rename one {noun}")
        seen.add(name)
        if not LABEL(name):
            yield Fault(
                BAD_NAME, (field, name), f"{noun} name {name!r} is not valid", help="use a-z, 0-9 and -, 63 at most"
            )


def volume_faults(volume: Json) -> Iterator[Fault]:
    """Whether a volume has several sources. One that has none is an emptyDir."""
    sources = sources_of(volume)
    if len(sources) > 1:
        name = volume["name"]
        message = f"volume {visible(name)} has more than one source, {' and '.join(sources)}"
        yield Fault(NOT_EXACTLY_ONE, ("volumes", name), message, help="leave one source")


def sources_of(volume: Json) -> list[str]:
    """The fields of a volume that say what is in it."""
    return sorted(k for k, v in volume.items() if k != "name" and v is not None)


def container_faults(container: Json, volumes: set[str]) -> Iterator[Fault]:
    """Everything wrong with one container; paths are below it."""
    for check in CONTAINER_CHECKS:
        yield from check(container)
    yield from mount_faults(container, volumes)


def mount_faults(container: Json, volumes: set[str]) -> Iterator[Fault]:
    """Mounts of volumes that are not there, and two at one path."""
    mounts = container.get("volumeMounts") or ()
    for mount in mounts:
        if mount["name"] not in volumes:
            volume = f"volume {mount['name']}" if mount["name"] else "a volume without a name"
            message = f"container {container['name']} mounts {volume}, which the pod does not have"
            yield Fault(
                NO_VOLUME, ("volumeMounts", mount["mountPath"], "name"), message, help="add the volume to the pod"
            )
    for path in doubles(m["mountPath"] for m in mounts):
        message = f"container {container['name']} has two mounts at {path}"
        yield Fault(REPEATED, ("volumeMounts", path), message, help="mount one of them elsewhere")


def doubles(keys: Iterable[K]) -> list[K]:
    """The keys that occur more than once."""
    listed = list(keys)
    if len(set(listed)) == len(listed):
        return []
    return [key for key, count in Counter(listed).items() if count > 1]


def variable_faults(container: Json) -> Iterator[Fault]:
    """Variables with both a value and a source, and two of one name."""
    env = container.get("env") or ()
    for entry in env:
        if entry.get("value") and entry.get("valueFrom"):
            message = f"variable {entry['name']} of container {container['name']} has both value and valueFrom"
            yield Fault(NOT_EXACTLY_ONE, ("env", entry["name"]), message, help="leave one of the two")
    for name in doubles(e["name"] for e in env):
        message = f"container {container['name']} has variable {name} twice"
        yield Fault(REPEATED, ("env", name), message, help="leave one of the two")


def port_faults(container: Json) -> Iterator[Fault]:
    """Ports with one number and protocol, or one name, and names that are too long."""
    ports = container.get("ports") or ()
    numbered = [port for port in ports if "containerPort" in port]  # the schema tells of the others
    for number, protocol in doubles((p["containerPort"], p.get("protocol") or "TCP") for p in numbered):
        message = f"container {container['name']} has port {number}/{protocol} twice"
        yield Fault(REPEATED, ("ports", number), message, help="leave one of the two")
    for name in doubles(p["name"] for p in ports if p.get("name")):
        message = f"container {container['name']} has two ports named {name}"
        yield Fault(REPEATED, ("ports",), message, help="rename one of them")
    for port in ports:
        name = port.get("name") or ""
        if name and not PORT_NAME(name):
            message = f"port name {name!r} of container {container['name']} is not valid"
            yield Fault(
                BAD_NAME, ("ports", port["containerPort"], "name"), message, help="use a-z, 0-9 and -, 15 at most"
            )


def resource_faults(container: Json) -> Iterator[Fault]:
    """Requests over their limits; extended resources whose request is not their limit."""
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, request in requests.items():
        limit = limits.get(name)
        if is_within(name, request, limit) or is_told_of(request) or is_told_of(limit):
            continue
        wrong = f"is not its limit, {limit}" if is_extended(name) else f"is over its limit, {limit}"
        if limit is None:
            wrong = "has no limit"
        message = f"container {container['name']} requests {request} of {name}, which {wrong}"
        at, other, remedy = what_to_mend(name, request, limit)
        place = ("resources", other, name)
        related = ((place, f"the {other.removesuffix('s')} is set here"),) if limit is not None else ()
        yield Fault(OVER_LIMIT, ("resources", at, name), message, help=remedy, related=related)


def what_to_mend(name: str, request: Json, limit: Json) -> tuple[str, str, str]:
    """Which of the two that do not fit is to be mended, the other one, and how: an amount that nobody means is."""
    for at, other, amount in (("requests", "limits", request), ("limits", "requests", limit)):
        for wrong in odd_amount(name, amount) if amount is not None else ():
            return at, other, wrong.remedy
    return "requests", "limits", f"set both requests and limits of {name}"


@lru_cache(maxsize=1024, typed=True)
def is_within(resource: str, request: Json, limit: Json) -> bool:
    """Whether a request of a resource keeps to its limit, None for none. The pods of a fleet have few of them.

    Raises:
        ValueError: one of the two is no quantity.
    """
    if limit is None:
        return not is_extended(resource)
    over = compare(request, limit)
    return over == 0 or (over < 0 and not is_extended(resource))


def is_extended(resource: str) -> bool:
    """Whether a resource is none of Kubernetes' own, such as GPUs."""
    return "/" in resource and not resource.startswith("kubernetes.io/")


def is_told_of(quantity: Json) -> bool:
    """Whether an amount is below zero, which the rules of containers tell: what else it is not follows from that."""
    try:
        return quantity is not None and is_negative(quantity)
    except (ValueError, TypeError):  # the schema's business
        return False


def probe_faults(container: Json) -> Iterator[Fault]:
    """Probes without exactly one handler, or whose handler has no port."""
    for kind in PROBES:
        probe = container.get(kind)
        if probe is None:
            continue
        handlers = [h for h in HANDLERS if probe.get(h) is not None]
        message = f"{kind} of container {container['name']} has {' and '.join(handlers) or 'no handler'}"
        if len(handlers) != 1:
            yield Fault(NOT_EXACTLY_ONE, (kind,), message, help=f"give one of {', '.join(HANDLERS)}")
        elif handlers[0] != "exec" and probe[handlers[0]].get("port") is None:
            yield Fault(NOT_EXACTLY_ONE, (kind, handlers[0]), f"{message} without a port", help="give a port")


CONTAINER_CHECKS: tuple[Callable[[Json], Iterator[Fault]], ...] = (
    variable_faults,
    port_faults,
    resource_faults,
    probe_faults,
)


def deployment_faults(pod: Json) -> Iterator[Fault]:
    """Settings that pods of a Deployment cannot have."""
    policy = pod.get("restartPolicy") or "Always"
    if policy != "Always":
        yield Fault(NOT_SERVED, ("restartPolicy",), f"restartPolicy {policy} is not possible here", help="remove it")
    if pod.get("activeDeadlineSeconds") is not None:
        message = "activeDeadlineSeconds is not possible for a service that runs on"
        path: Path = ("activeDeadlineSeconds",)
        yield Fault(NOT_SERVED, path, message, help="remove it")
