"""What a revision demands of Knative's configuration: features that are off by default, and limits that must be wide.

Decides which settings the emitted pods need and whether the platform's documents grant them. Knative's webhook refuses
a service otherwise. KServe needs few of them, for its own webhook changes pods behind Knative's back.

Knative: pkg/apis/config/{features,defaults}.go; pkg/apis/serving/{fieldmask,k8s_validation}.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Severity
from kservec.core.digits import integer, natural
from kservec.core.knative.annotations import FALSE, MAX_SCALE, is_whole, written
from kservec.core.pods.containers import PROBES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json, Path

FEATURES, DEFAULTS, AUTOSCALER = "config-features", "config-defaults", "config-autoscaler"
ENABLED, ALLOWED, DISABLED = "enabled", "allowed", "disabled"
ZERO_CONCURRENCY, MAX_SCALE_LIMIT = "allow-container-concurrency-zero", "max-scale-limit"
SECURE = "secure-pod-defaults"
SECURE_STATES = (ENABLED, "allowrootbounded")
LOW_PORTS = ["NET_BIND_SERVICE"]
SAFE_PROFILES = ("RuntimeDefault", "Unconfined")
ON_BY_DEFAULT = frozenset({"multi-container", "kubernetes.podspec-volumes-emptydir"})

POD_FIELDS: Mapping[str, str] = {
    "affinity": "kubernetes.podspec-affinity",
    "dnsConfig": "kubernetes.podspec-dnsconfig",
    "dnsPolicy": "kubernetes.podspec-dnspolicy",
    "hostAliases": "kubernetes.podspec-hostaliases",
    "hostIPC": "kubernetes.podspec-hostipc",
    "hostNetwork": "kubernetes.podspec-hostnetwork",
    "hostPID": "kubernetes.podspec-hostpid",
    "initContainers": "kubernetes.podspec-init-containers",
    "nodeSelector": "kubernetes.podspec-nodeselector",
    "priorityClassName": "kubernetes.podspec-priorityclassname",
    "runtimeClassName": "kubernetes.podspec-runtimeclassname",
    "schedulerName": "kubernetes.podspec-schedulername",
    "securityContext": "kubernetes.podspec-securitycontext",
    "shareProcessNamespace": "kubernetes.podspec-shareprocessnamespace",
    "tolerations": "kubernetes.podspec-tolerations",
    "topologySpreadConstraints": "kubernetes.podspec-topologyspreadconstraints",
}
"""Fields of a pod, and the feature that each needs."""

VOLUME_SOURCES: Mapping[str, str] = {
    "csi": "kubernetes.podspec-volumes-csi",
    "emptyDir": "kubernetes.podspec-volumes-emptydir",
    "hostPath": "kubernetes.podspec-volumes-hostpath",
    "image": "kubernetes.podspec-volumes-image",
    "persistentVolumeClaim": "kubernetes.podspec-persistent-volume-claim",
}
"""Sources of volumes, and the feature that each needs."""

WRITABLE_CLAIM = "kubernetes.podspec-persistent-volume-write"
MAY_BE_ALLOWED = frozenset({*POD_FIELDS.values(), "kubernetes.podspec-fieldref"}) - {POD_FIELDS["initContainers"]}
"""Features for which `Allowed` does; the others must be `Enabled`."""

FEATURE_DISABLED = Code(
    "knative/feature-disabled",
    Severity.ERROR,
    "a feature of Knative that the service needs is off",
    "Knative refuses pods that use more than its core fields, unless the feature for each further field is on in its "
    "ConfigMap config-features. In a cluster with KServe, KServe's webhook adds many of these fields to the running "
    "pods; here they are part of the service, so that Knative sees them. Turn the feature on, or do without the field.",
)
LIMIT_EXCEEDED = Code(
    "knative/limit-exceeded",
    Severity.ERROR,
    "a value beyond what Knative takes",
    "Knative's ConfigMap config-defaults limits how long a request may take and how many a pod takes at a time, and "
    "config-autoscaler may limit maxReplicas.",
)
DEMANDED = Code(
    "knative/settings-undeclared",
    Severity.WARNING,
    "settings of Knative that services need, and that nothing declares",
    "The services need features of Knative that are off by default, or wider limits than its defaults, and Knative's "
    "config maps are among none of the platform's documents. Declare them, so that it is checked that they are set: "
    "where they are not, Knative refuses the services.",
)


class Demand(NamedTuple):
    """A setting that a revision needs: the config map and key, what it must be, and where in the pod the need arises.

    `limit` is the least number that it must be, 0 for what is on or off.
    """

    config: str
    key: str
    path: Path
    limit: int = 0

    @property
    def value(self) -> str:
        """What the setting has to be at least."""
        return str(self.limit) if self.limit else ENABLED if self.config == FEATURES else "true"


INSTEAD: Mapping[str, str] = {
    ZERO_CONCURRENCY: "set containerConcurrency",
    MAX_SCALE_LIMIT: "lower maxReplicas",
}
"""What to do where a setting is not to be changed."""

LIMITS: Mapping[str, tuple[str, int]] = {
    "timeoutSeconds": ("max-revision-timeout-seconds", 600),
    "containerConcurrency": ("container-concurrency-max-limit", 1000),
}
"""Fields of a revision, the setting that limits each, and Knative's default for it."""


def demands(pod: Json, *, is_secured: bool = False) -> Iterator[Demand]:
    """Every setting that the spec of a revision needs, each once a place.

    Args:
        pod: the spec.
        is_secured: whether the platform fills in safe settings, and so takes those safe settings without a feature.
    """
    for name, feature in POD_FIELDS.items():
        if pod.get(name) and not (is_secured and name == "securityContext" and is_safe_profile(pod[name])):
            at: Path = (name, pod[name][0]["name"]) if name == "initContainers" else (name,)
            yield Demand(FEATURES, feature, at)
    if len(pod["containers"]) > 1:
        yield Demand(FEATURES, "multi-container", ("containers",))
    for volume in pod.get("volumes") or ():
        yield from volume_demands(volume)
    for field in ("initContainers", "containers"):
        for container in pod.get(field) or ():
            yield from container_demands(container, (field, container["name"]), is_secured=is_secured)
    yield from sidecar_demands(pod["containers"])
    for name, (setting, _) in LIMITS.items():
        if pod.get(name):
            yield Demand(DEFAULTS, setting, (name,), pod[name])
    if pod.get("containerConcurrency") == 0:
        yield Demand(DEFAULTS, ZERO_CONCURRENCY, ("containerConcurrency",))


def is_safe_profile(context: Json) -> bool:
    """Whether a pod's security settings are nothing but one of the seccomp profiles that need no feature."""
    return list(context) == ["seccompProfile"] and context["seccompProfile"].get("type") in SAFE_PROFILES


def scale_demands(annotations: Mapping[str, str]) -> Iterator[Demand]:
    """What the upper bound of a revision's pods needs; the path is below the template."""
    key = written(annotations, MAX_SCALE)
    if key and is_whole(annotations[key]) and integer(annotations[key]) > 0:
        yield Demand(AUTOSCALER, MAX_SCALE_LIMIT, ("metadata", "annotations", key), integer(annotations[key]))


def volume_demands(volume: Json) -> Iterator[Demand]:
    """What a volume needs."""
    for source, feature in VOLUME_SOURCES.items():
        if volume.get(source) is not None:
            yield Demand(FEATURES, feature, ("volumes", volume["name"], source))
    claim = volume.get("persistentVolumeClaim")
    if claim is not None and not claim.get("readOnly"):
        yield Demand(FEATURES, WRITABLE_CLAIM, ("volumes", volume["name"], "persistentVolumeClaim"))


def container_demands(container: Json, at: Path, *, is_secured: bool = False) -> Iterator[Demand]:
    """What a container needs, wherever it runs."""
    for entry in container.get("env") or ():
        source = entry.get("valueFrom") or {}
        if source.get("fieldRef") or source.get("resourceFieldRef"):
            yield Demand(FEATURES, "kubernetes.podspec-fieldref", (*at, "env", entry["name"]))
    added = ((container.get("securityContext") or {}).get("capabilities") or {}).get("add")
    if added and not (is_secured and added == LOW_PORTS):
        yield Demand(FEATURES, "kubernetes.containerspec-addcapabilities", (*at, "securityContext", "capabilities"))
    for mount in container.get("volumeMounts") or ():
        if mount.get("mountPropagation"):
            yield Demand(FEATURES, "kubernetes.podspec-volumes-mount-propagation", (*at, "volumeMounts"))


def sidecar_demands(containers: list[Json]) -> Iterator[Demand]:
    """What the containers that do not serve need: probes of theirs are a feature."""
    for container in containers if len(containers) > 1 else ():
        probe = next((p for p in PROBES if container.get(p)), None)
        if probe is not None and not container.get("ports"):
            yield Demand(FEATURES, "multi-container-probing", ("containers", container["name"], probe))


def is_granted(demand: Demand, settings: Mapping[str, str]) -> bool:
    """Whether a config map grants a demand; what it does not mention has Knative's default."""
    given = settings.get(demand.key, "")
    number = natural(given)
    if demand.key == ZERO_CONCURRENCY:
        return given not in FALSE
    if demand.key == MAX_SCALE_LIMIT:
        return not number or demand.limit <= number
    if demand.limit:
        default = next(number for key, number in LIMITS.values() if key == demand.key)
        return demand.limit <= (default if number is None else number)
    default_state = ENABLED if demand.key in ON_BY_DEFAULT else DISABLED
    state = given.lower() if given.lower() in (ENABLED, ALLOWED, DISABLED) else default_state
    return state == ENABLED or (state == ALLOWED and demand.key in MAY_BE_ALLOWED)


def unmet(template: Json, platform: PlatformConfig) -> Iterator[tuple[Demand, bool]]:
    """The demands of a revision that are not known to be granted, and whether the platform declares that they are not.

    Of several places that need one setting the first counts. Paths are below the template of the revision.
    """
    seen: set[str] = set()
    is_secured = platform.knative.get(FEATURES, {}).get(SECURE, "").lower() in SECURE_STATES
    of_pod = (d._replace(path=("spec", *d.path)) for d in demands(template["spec"], is_secured=is_secured))
    for demand in (*of_pod, *scale_demands(template["metadata"].get("annotations") or {})):
        settings = platform.knative.get(demand.config)
        if demand.key not in seen and not is_granted(demand, settings or {}):
            seen.add(demand.key)
            yield demand, settings is not None
