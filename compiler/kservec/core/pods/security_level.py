"""The strictest level of the Pod Security Standards that a pod passes, and what keeps it from stricter ones.

Decides as the admission of Kubernetes 1.35 does for a namespace whose labels name no version. Must not know kinds, nor
which level anybody wants.
Kubernetes: k8s.io/pod-security-admission/policy, one file for each check here
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from jsonschema_rs import Draft202012Validator

from kservec.core.pods.containers import HOOKS, PROBES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kservec.core.tree import Json, Path


class Level(StrEnum):
    """The levels, the strictest first."""

    RESTRICTED = "restricted"
    BASELINE = "baseline"
    PRIVILEGED = "privileged"


class Shortfall(NamedTuple):
    """Why a pod does not pass a level: that level, where in the pod's spec it shows, and what would be right.

    `message` goes on with the name of what is at fault: "container web must not set privileged". Findings about an
    annotation have an empty path.
    """

    level: Level
    path: Path
    message: str


class Standing(NamedTuple):
    """The strictest level that a pod passes, and all that keeps it from stricter ones, in the order of the checks."""

    level: Level
    shortfalls: tuple[Shortfall, ...] = ()

    def passes(self, level: Level) -> bool:
        """Whether the pod passes a level."""
        return STRICTNESS[level] <= STRICTNESS[self.level]


STRICTNESS = {Level.PRIVILEGED: 0, Level.BASELINE: 1, Level.RESTRICTED: 2}

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
CONTEXT = "securityContext"
SAFE_CAPABILITIES = frozenset((
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
))  # fmt: skip
LOW_PORTS = "NET_BIND_SERVICE"
SAFE_SYSCTLS = frozenset((
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem",
))  # fmt: skip
SELINUX_TYPES = frozenset(("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"))
PROFILES = ("RuntimeDefault", "Localhost")
APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
VOLUMES = frozenset((
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
))  # fmt: skip
HANDLERS = ("httpGet", "tcpSocket")
HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")

NOT_ROOT: Json = {"runAsNonRoot": {"const": True}, "runAsUser": {"minimum": 1}}
PROFILED: Json = {"seccompProfile": {"required": ["type"], "properties": {"type": {"enum": list(PROFILES)}}}}
NO_HOST: Json = {"properties": {handler: {"properties": {"host": {"const": ""}}} for handler in HANDLERS}}
PLAIN_CONTEXT: Json = {
    "required": ["allowPrivilegeEscalation", "capabilities", "runAsNonRoot", "seccompProfile"],
    "properties": {
        **NOT_ROOT,
        **PROFILED,
        "allowPrivilegeEscalation": {"const": False},
        "capabilities": {
            "required": ["drop"],
            "properties": {"drop": {"contains": {"const": "ALL"}}, "add": {"maxItems": 0}},
        },
        "privileged": {"const": False},
        "readOnlyRootFilesystem": True,
        "runAsGroup": True,
    },
    "additionalProperties": False,
}
PLAIN_CONTAINERS: Json = {
    "items": {
        "required": [CONTEXT],
        "properties": {
            CONTEXT: PLAIN_CONTEXT,
            "ports": {"items": {"properties": {"hostPort": {"const": 0}}}},
            "lifecycle": {"additionalProperties": NO_HOST},
            **dict.fromkeys(PROBES, NO_HOST),
        },
    },
}
PLAIN_POD: Json = {
    "properties": {
        **dict.fromkeys(CONTAINER_LISTS, PLAIN_CONTAINERS),
        **{field: {"const": False} for field in HOST_NAMESPACES},
        CONTEXT: {
            "properties": {**NOT_ROOT, **PROFILED, "fsGroup": True, "fsGroupChangePolicy": True, "runAsGroup": True},
            "additionalProperties": False,
        },
        "volumes": {
            "items": {
                "anyOf": [{"required": [kind], "properties": {kind: {"type": "object"}}} for kind in sorted(VOLUMES)]
            }
        },
    },
}
"""The JSON Schema of pods that surely pass the strictest level, as nearly all pods do. Others may pass it, too."""


@cache
def surely_restricted() -> Callable[[Json], bool]:
    """Tells pods that surely pass the strictest level, in a twentieth of the time that all checks take."""
    return Draft202012Validator(PLAIN_POD).is_valid


def pod_security_level(pod: Json, annotations: Mapping[str, str] | None = None) -> Standing:
    """The strictest level that a pod passes, and why not a stricter one.

    Args:
        pod: the spec of the pod.
        annotations: those of the pod, or of its template.
    """
    annotations = annotations or {}
    if not any(key.startswith(APPARMOR_ANNOTATION) for key in annotations) and surely_restricted()(pod):
        return Standing(Level.RESTRICTED)
    found = tuple(shortfalls(pod, annotations))
    missed = {shortfall.level for shortfall in found}
    if Level.BASELINE in missed:
        return Standing(Level.PRIVILEGED, found)
    return Standing(Level.BASELINE if missed else Level.RESTRICTED, found)


def shortfalls(pod: Json, annotations: Mapping[str, str]) -> Iterator[Shortfall]:
    """Everything that keeps a pod from one of the levels."""
    for check in BASELINE_CHECKS:
        yield from (Shortfall(Level.BASELINE, path, message) for path, message in check(pod))
    for key, profile in annotations.items():
        if key.startswith(APPARMOR_ANNOTATION) and profile and not is_known_profile(profile):
            yield Shortfall(Level.BASELINE, (), f"annotation {key} must not be {profile}")
    for check in RESTRICTED_CHECKS:
        yield from (Shortfall(Level.RESTRICTED, path, message) for path, message in check(pod))


def is_known_profile(profile: str) -> bool:
    """Whether the value of an AppArmor annotation is one that baseline takes."""
    return profile == "runtime/default" or profile.startswith("localhost/")


def containers(pod: Json) -> Iterator[tuple[Path, Json]]:
    """Every container of a pod, and where it stands."""
    for field in CONTAINER_LISTS:
        for container in pod.get(field) or ():
            yield (field, container["name"]), container


def contexts(pod: Json) -> Iterator[tuple[Path, str, Json]]:
    """The security settings of the pod and of its containers: where they stand, and whose they are."""
    yield (CONTEXT,), "the pod", pod.get(CONTEXT) or {}
    for at, container in containers(pod):
        yield (*at, CONTEXT), f"container {container['name']}", container.get(CONTEXT) or {}


def host_processes(pod: Json) -> Iterator[tuple[Path, str]]:
    """Windows containers that run as processes of the host."""
    for at, owner, context in contexts(pod):
        if (context.get("windowsOptions") or {}).get("hostProcess"):
            yield (*at, "windowsOptions", "hostProcess"), f"{owner} must not set windowsOptions.hostProcess"


def host_namespaces(pod: Json) -> Iterator[tuple[Path, str]]:
    """Namespaces of the host."""
    for name in HOST_NAMESPACES:
        if pod.get(name):
            yield (name,), f"the pod must not set {name}"


def privileged(pod: Json) -> Iterator[tuple[Path, str]]:
    """Privileged containers."""
    for at, container in containers(pod):
        if (container.get(CONTEXT) or {}).get("privileged"):
            yield (*at, CONTEXT, "privileged"), f"container {container['name']} must not set privileged"


def added_capabilities(pod: Json) -> Iterator[tuple[Path, str]]:
    """Capabilities beyond those that containers have anyway."""
    for at, container in containers(pod):
        added = ((container.get(CONTEXT) or {}).get("capabilities") or {}).get("add") or ()
        if beyond := sorted(set(added) - SAFE_CAPABILITIES):
            message = f"container {container['name']} must not add capabilities {', '.join(beyond)}"
            yield (*at, CONTEXT, "capabilities", "add"), message


def host_paths(pod: Json) -> Iterator[tuple[Path, str]]:
    """Folders of the node."""
    for volume in pod.get("volumes") or ():
        if volume.get("hostPath") is not None:
            yield ("volumes", volume["name"]), f"volume {volume['name']} must not be a hostPath"


def host_ports(pod: Json) -> Iterator[tuple[Path, str]]:
    """Ports of the node."""
    for at, container in containers(pod):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                message = f"container {container['name']} must not set hostPort {port['hostPort']}"
                yield (*at, "ports", port["containerPort"], "hostPort"), message


def hosts_of_calls(pod: Json) -> Iterator[tuple[Path, str]]:
    """Probes and hooks that the kubelet sends to another host."""
    for at, container in containers(pod):
        lifecycle = container.get("lifecycle") or {}
        calls = [((probe,), container.get(probe)) for probe in PROBES]
        for path, call in (*calls, *((("lifecycle", hook), lifecycle.get(hook)) for hook in HOOKS)):
            for handler in HANDLERS:
                if ((call or {}).get(handler) or {}).get("host"):
                    message = f"container {container['name']} must not name a host in {path[-1]}"
                    yield (*at, *path, handler, "host"), message


def apparmor(pod: Json) -> Iterator[tuple[Path, str]]:
    """AppArmor profiles other than the container runtime's or the node's own."""
    for at, owner, context in contexts(pod):
        profile = context.get("appArmorProfile")
        if profile is not None and profile.get("type") not in PROFILES:
            yield (*at, "appArmorProfile"), f"{owner} must not set appArmorProfile {profile.get('type')}"


def selinux(pod: Json) -> Iterator[tuple[Path, str]]:
    """SELinux users, roles and odd types."""
    for at, owner, context in contexts(pod):
        options = context.get("seLinuxOptions") or {}
        if options.get("type", "") not in SELINUX_TYPES or options.get("user") or options.get("role"):
            yield (*at, "seLinuxOptions"), f"{owner} must not set seLinuxOptions but for a type of containers"


def proc_mounts(pod: Json) -> Iterator[tuple[Path, str]]:
    """A /proc that is not masked, outside of a user namespace."""
    return iter(()) if has_own_users(pod) else any_proc_mounts(pod)


def any_proc_mounts(pod: Json) -> Iterator[tuple[Path, str]]:
    """A /proc that is not masked."""
    for at, container in containers(pod):
        kind = (container.get(CONTEXT) or {}).get("procMount")
        if kind is not None and kind != "Default":
            yield (*at, CONTEXT, "procMount"), f"container {container['name']} must not set procMount {kind}"


def seccomp(pod: Json) -> Iterator[tuple[Path, str]]:
    """Seccomp profiles that let everything through."""
    for at, owner, context in contexts(pod):
        profile = context.get("seccompProfile")
        if profile is not None and profile.get("type") not in PROFILES:
            yield (*at, "seccompProfile"), f"{owner} must not set seccompProfile {profile.get('type')}"


def sysctls(pod: Json) -> Iterator[tuple[Path, str]]:
    """Settings of the kernel that reach beyond the pod."""
    for i, setting in enumerate((pod.get(CONTEXT) or {}).get("sysctls") or ()):
        if setting.get("name") not in SAFE_SYSCTLS:
            yield (CONTEXT, "sysctls", i), f"the pod must not set sysctl {setting.get('name')}"


def escalation(pod: Json) -> Iterator[tuple[Path, str]]:
    """Containers whose processes may gain privileges."""
    for at, container in containers(pod) if not is_windows(pod) else ():
        if (container.get(CONTEXT) or {}).get("allowPrivilegeEscalation") is not False:
            message = f"container {container['name']} must set allowPrivilegeEscalation: false"
            yield (*at, CONTEXT, "allowPrivilegeEscalation"), message


def capabilities(pod: Json) -> Iterator[tuple[Path, str]]:
    """Containers that keep capabilities."""
    for at, container in containers(pod) if not is_windows(pod) else ():
        own = (container.get(CONTEXT) or {}).get("capabilities") or {}
        where = (*at, CONTEXT, "capabilities")
        if "ALL" not in (own.get("drop") or ()):
            yield (*where, "drop"), f"container {container['name']} must drop capabilities ALL"
        if beyond := sorted(set(own.get("add") or ()) - {LOW_PORTS}):
            yield (*where, "add"), f"container {container['name']} must not add capabilities {', '.join(beyond)}"


def volumes(pod: Json) -> Iterator[tuple[Path, str]]:
    """Volumes of other kinds than those that pods are given by the cluster."""
    for volume in pod.get("volumes") or ():
        if not any(volume.get(source) is not None for source in VOLUMES):
            kinds = sorted(volume.keys() - {"name"}) or ["unknown"]
            yield ("volumes", volume["name"]), f"volume {volume['name']} must not be of kind {', '.join(kinds)}"


def root(pod: Json) -> Iterator[tuple[Path, str]]:
    """Containers that may run as root, or are told to."""
    if has_own_users(pod):
        return
    own = (pod.get(CONTEXT) or {}).get("runAsNonRoot")
    if own is False:
        yield (CONTEXT, "runAsNonRoot"), "the pod must not set runAsNonRoot: false"
    for at, owner, context in contexts(pod):
        is_pod = at == (CONTEXT,)
        if context.get("runAsUser") == 0:
            yield (*at, "runAsUser"), f"{owner} must not set runAsUser: 0"
        if is_pod:
            continue
        if context.get("runAsNonRoot") is False:
            yield (*at, "runAsNonRoot"), f"{owner} must not set runAsNonRoot: false"
        elif not context.get("runAsNonRoot") and not own:
            yield (*at, "runAsNonRoot"), f"{owner} must set runAsNonRoot: true"


def unconfined(pod: Json) -> Iterator[tuple[Path, str]]:
    """Containers without a seccomp profile, unless their pod has one."""
    if is_windows(pod) or ((pod.get(CONTEXT) or {}).get("seccompProfile") or {}).get("type") in PROFILES:
        return
    for at, container in containers(pod):
        if (container.get(CONTEXT) or {}).get("seccompProfile") is None:
            message = f"container {container['name']} must set seccompProfile.type: RuntimeDefault"
            yield (*at, CONTEXT, "seccompProfile"), message


def has_own_users(pod: Json) -> bool:
    """Whether users of the pod are others than those of the node."""
    return pod.get("hostUsers") is False


def is_windows(pod: Json) -> bool:
    """Whether the pod is for Windows, which knows none of these settings."""
    return bool((pod.get("os") or {}).get("name") == "windows")


BASELINE_CHECKS: tuple[Callable[[Json], Iterator[tuple[Path, str]]], ...] = (
    host_processes, host_namespaces, privileged, added_capabilities, host_paths, host_ports, hosts_of_calls, apparmor,
    selinux, proc_mounts, seccomp, sysctls,
)  # fmt: skip
RESTRICTED_CHECKS: tuple[Callable[[Json], Iterator[tuple[Path, str]]], ...] = (
    any_proc_mounts, escalation, capabilities, volumes, root, unconfined,
)  # fmt: skip
