"""What Knative's webhook refuses in a service whatever its configuration, and no schema states.

KServe has no such check: it hands over what runtime and service say, and then fails in the cluster. Paths are below the
object. Settings that make Knative take more are `knative_demands`.

Knative: pkg/apis/serving/{k8s_validation,fieldmask}.go; pkg/apis/serving/v1/{revision,route}_validation.go
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.knative.defaults import WRITABLE
from kservec.core.patterns import Pattern
from kservec.core.pods.containers import PROBES
from kservec.core.schemas.faults import Fault
from kservec.core.validity.pod_validity import sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Json, Path

SEVERAL_PORTS = Code(
    "knative/several-ports",
    Severity.ERROR,
    "more than one port in a Knative service",
    "Knative sends requests to one port of one container: all containers of a pod together may list a single port. "
    "Keep the one that requests come to; other ports work without being listed, from inside the pod.",
)
PORT = Code(
    "knative/port",
    Severity.ERROR,
    "a port that Knative does not take",
    "The name of a port tells Knative the protocol: h2c for HTTP/2 and gRPC, http1 or none for HTTP/1. It takes TCP "
    "alone, and keeps some numbers for itself.",
)
PROBE = Code(
    "knative/probe",
    Severity.ERROR,
    "a probe that Knative does not take",
    "Knative probes the port that requests come to, by its number or its name. Init containers have no probes. A "
    "readiness probe without periodSeconds is tried many times a second, so it takes neither timeoutSeconds nor "
    "failureThreshold.",
)
VOLUME = Code(
    "knative/volume",
    Severity.ERROR,
    "a volume or mount that Knative does not take",
    "Every volume has to be mounted by some container, nothing may be mounted over / or /dev, and a volume that is "
    "readOnly has mounts that are.",
)
RESERVED_NAME = Code(
    "knative/reserved-name",
    Severity.ERROR,
    "a name that Knative keeps for itself",
    "Knative sets PORT, K_SERVICE, K_CONFIGURATION and K_REVISION in the container that serves, and calls its own "
    "container queue-proxy.",
)
FORBIDDEN = Code(
    "knative/forbidden-field",
    Severity.ERROR,
    "a field or value that Knative refuses",
    "Knative takes a part of what a pod can have. Its webhook refuses the rest.",
)

IMAGE = Code(
    "knative/image",
    Severity.ERROR,
    "an image that Knative cannot read",
    "Knative asks the registry which digest a tag stands for, so it refuses an image whose name cannot be one: with "
    "capital letters or spaces in it, or with a place-holder that nobody filled in. In Standard mode such a pod starts "
    "and stays in InvalidImageName; `pod/image` warns of it.",
)

SPEC: Path = ("spec", "template", "spec")
RESERVED_PORTS = frozenset({8008, 8012, 8013, 8022, 9090, 9091})
PORT_NAMES = ("", "http1", "h2c")
RESERVED_VARIABLES = ("K_SERVICE", "K_CONFIGURATION", "K_REVISION")
PORT_VARIABLE = "PORT"
QUEUE_PROXY = "queue-proxy"
RESERVED_PATHS = ("/", "/dev", "/dev/log")
MEDIA = ("", "Memory")
is_image = Pattern(
    r"((localhost|[^/@\s]*[.:][^/@\s]*)/)?[a-z0-9_./-]{2,255}(:[A-Za-z0-9_.-]{0,128})?(@sha256:[0-9a-f]{64})?"
).fullmatch
IMAGE_FORM = "[REGISTRY/]NAME[:TAG][@sha256:DIGEST], the name in lower case and of two characters at least"
"""What Knative takes for an image. Go: go-containerregistry, pkg/name, ParseReference with weak validation."""

POD_SECURITY = frozenset({
    "fsGroup", "runAsGroup", "runAsNonRoot", "runAsUser", "seccompProfile", "supplementalGroups",
})  # fmt: skip
INIT_FIELDS = frozenset({
    "args", "command", "env", "envFrom", "image", "imagePullPolicy", "name", "ports", "resources", "securityContext",
    "terminationMessagePath", "terminationMessagePolicy", "volumeMounts", "workingDir",
})  # fmt: skip
CONTAINER_SECURITY = frozenset({
    "allowPrivilegeEscalation", "capabilities", "privileged", "readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot",
    "runAsUser", "seccompProfile",
})  # fmt: skip


def knative_faults(body: Json) -> Iterator[Fault]:
    """Everything that Knative refuses in a service's pods."""
    pod = body["spec"]["template"]["spec"]
    containers: list[Json] = pod["containers"]
    inits: list[Json] = pod.get("initContainers") or []
    ports = [f"{p['containerPort']} ({c['name']})" for c in containers for p in c.get("ports") or ()]
    if len(ports) > 1:
        numbers = ", ".join(ports)
        last = next(c for c in reversed(containers) if c.get("ports"))
        path = ("containers", last["name"], "ports", last["ports"][-1]["containerPort"])
        yield below(Fault(SEVERAL_PORTS, path, f"the containers list ports {numbers}", help="keep one of them"))
    for container in containers:
        serves = bool(container.get("ports")) or len(containers) == 1
        for fault in container_faults(container, pod, serves=serves):
            yield below(fault, "containers", container["name"])
    for container in inits:
        for fault in (*init_faults(container, pod), *container_faults(container, pod, serves=False)):
            yield below(fault, "initContainers", container["name"])
    for fault in pod_faults(pod, [*containers, *inits]):
        yield below(fault)


def below(fault: Fault, *at: str) -> Fault:
    """The fault with its path made one below the object."""
    return fault.below(*SPEC, *at)


def pod_faults(pod: Json, containers: list[Json]) -> Iterator[Fault]:
    """Volumes that nothing mounts, and settings of the pod that are refused."""
    mounted = {m["name"] for c in containers for m in c.get("volumeMounts") or ()}
    for volume in pod.get("volumes") or ():
        if not sources_of(volume):
            message = f"volume {volume['name']} has no source, which Knative takes for none"
            yield Fault(VOLUME, ("volumes", volume["name"]), message, help="write emptyDir: {}, or what is meant")
        if volume["name"] not in mounted:
            message = f"no container mounts volume {volume['name']}"
            yield Fault(VOLUME, ("volumes", volume["name"]), message, help="mount it, or remove it")
        medium = (volume.get("emptyDir") or {}).get("medium") or ""
        if medium not in MEDIA:
            at = ("volumes", volume["name"], "emptyDir", "medium")
            yield Fault(VOLUME, at, f"volume {volume['name']} is on {medium}", help="use Memory, or remove the field")
    yield from stray(pod.get("securityContext") or {}, POD_SECURITY, ("securityContext",), "the pod's securityContext")


def stray(value: Json, allowed: frozenset[str], path: Path, owner: str) -> Iterator[Fault]:
    """Fields that are not among those allowed."""
    for name in value:
        if name not in allowed:
            yield Fault(FORBIDDEN, (*path, name), f"Knative takes no {name} in {owner}", help="remove it")


def init_faults(container: Json, pod: Json) -> Iterator[Fault]:
    """What an init container may not have: Knative makes the mounts of other containers read-only by itself."""
    owner = f"init container {container['name']}"
    for name in PROBES:
        if container.get(name):
            yield Fault(PROBE, (name,), f"{owner} has a {name}", help="remove it")
    yield from stray(container, INIT_FIELDS | set(PROBES), (), owner)
    yield from stray(container.get("securityContext") or {}, CONTAINER_SECURITY, ("securityContext",), owner)
    writable = {v["name"] for v in pod.get("volumes") or () if any(v.get(source) is not None for source in WRITABLE)}
    for mount in container.get("volumeMounts") or ():
        if mount["name"] not in writable and not mount.get("readOnly"):
            message = f"mount {mount['mountPath']} of {owner} is not readOnly, and its volume cannot be written to"
            yield Fault(VOLUME, ("volumeMounts", mount["mountPath"]), message, help="set readOnly of the mount")


def container_faults(container: Json, pod: Json, *, serves: bool) -> Iterator[Fault]:
    """Names, ports, probes, mounts and privileges that are refused. `serves`: requests come to the container."""
    name = container["name"]
    if name == QUEUE_PROXY:
        yield Fault(RESERVED_NAME, ("name",), f"container {name} has the name of Knative's own", help="rename it")
    for entry in container.get("env") or ():
        if entry["name"] in RESERVED_VARIABLES or (serves and entry["name"] == PORT_VARIABLE):
            message = f"container {name} sets {entry['name']}, which Knative sets"
            yield Fault(RESERVED_NAME, ("env", entry["name"]), message, help="remove it")
    if (container.get("securityContext") or {}).get("privileged"):
        path: Path = ("securityContext", "privileged")
        yield Fault(FORBIDDEN, path, f"container {name} is privileged", help="use Standard mode, or remove it")
    image = container.get("image") or ""
    if image and not is_image(image):
        message = f"container {name} has the image {image!r}"
        yield Fault(IMAGE, ("image",), message, help=f"write it as {IMAGE_FORM}", once=image)
    ports: list[Json] = container.get("ports") or []
    for port in ports:
        yield from port_faults(port, name)
    if serves:
        yield from probe_faults(container, (ports[0].get("name") if ports else "") or "http")
    yield from mount_faults(container, pod)


def port_faults(port: Json, container: str) -> Iterator[Fault]:
    """What is wrong with a port."""
    number, name = port["containerPort"], port.get("name") or ""
    at: Path = ("ports", number)
    if name not in PORT_NAMES:
        hint = "name it h2c for HTTP/2 or gRPC, http1 for HTTP/1, or leave the name out"
        yield Fault(PORT, (*at, "name"), f"port {number} of container {container} is named {name}", help=hint)
    if (port.get("protocol") or "TCP") != "TCP":
        message = f"port {number} of container {container} is for {port['protocol']}"
        yield Fault(PORT, (*at, "protocol"), message, help="use TCP")
    if number in RESERVED_PORTS:
        message = f"port {number} of container {container} is one of Knative's own"
        yield Fault(PORT, (*at, "containerPort"), message, help="let the server listen on another port")


def probe_faults(container: Json, port: str) -> Iterator[Fault]:
    """What is wrong with the probes of the container that serves; `port` is the name of its port."""
    for name in PROBES:
        probe = container.get(name) or {}
        for handler in ("httpGet", "tcpSocket"):
            target = (probe.get(handler) or {}).get("port")
            if isinstance(target, str) and target != port:
                message = f"{name} of container {container['name']} is for port {target}, but the port is named {port}"
                yield Fault(PROBE, (name, handler, "port"), message, help="give the number of the port")
    probe = container.get("readinessProbe") or {}
    for name in ("timeoutSeconds", "failureThreshold"):
        if probe.get(name) and not probe.get("periodSeconds"):
            message = f"readinessProbe of container {container['name']} has {name} without periodSeconds"
            yield Fault(PROBE, ("readinessProbe", name), message, help="set periodSeconds too")


def mount_faults(container: Json, pod: Json) -> Iterator[Fault]:
    """Mounts in reserved places, and mounts that differ from their volume in whether they can be written to."""
    volumes = {v["name"]: v for v in pod.get("volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        at: Path = ("volumeMounts", mount["mountPath"])
        volume = volumes.get(mount["name"], {})
        place = f"mount {mount['mountPath']} of container {container['name']}"
        if posixpath.normpath(mount["mountPath"]) in RESERVED_PATHS:
            yield Fault(VOLUME, at, f"{place} is in a place of the system", help="mount it elsewhere")
        if mount.get("mountPropagation") == "Bidirectional":
            message = f"{place} is {mount['mountPropagation']}"
            yield Fault(VOLUME, (*at, "mountPropagation"), message, help="use None or HostToContainer")
        claim = volume.get("persistentVolumeClaim") or {}
        if claim.get("readOnly") and not mount.get("readOnly"):
            yield Fault(VOLUME, at, f"{place} is not readOnly, but its volume is", help="set readOnly of the mount")
