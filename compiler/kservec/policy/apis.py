"""Versions of APIs that the target's Kubernetes no longer serves, does not serve yet, or will stop serving."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Severity
from kservec.core.schemas.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.policy.scene import Scene

API_NOT_SERVED = Code(
    "policy/api-not-served",
    Severity.ERROR,
    "an object of an API version that the target's Kubernetes does not serve",
    "The version was removed, or comes with a later release than the target has (kubernetesVersion of a Cluster "
    "document). Write the object in a version that is served.",
)
API_DEPRECATED = Code(
    "policy/api-deprecated",
    Severity.WARNING,
    "an object of an API version that Kubernetes will stop serving",
    "A later release of Kubernetes removes the version. Write the object in the newer one before the cluster is "
    "upgraded.",
)
ANY = "*"


class Served(NamedTuple):
    """From which minor release of Kubernetes 1 a version is served, deprecated and removed; what stands for it then."""

    since: int = 0
    deprecated: int = 0
    removed: int = 0
    instead: str = ""


VERSIONS: dict[tuple[str, str], Served] = {
    ("admissionregistration.k8s.io/v1beta1", ANY): Served(0, 16, 22, "admissionregistration.k8s.io/v1"),
    ("apiextensions.k8s.io/v1beta1", ANY): Served(0, 16, 22, "apiextensions.k8s.io/v1"),
    ("apiregistration.k8s.io/v1beta1", ANY): Served(0, 19, 22, "apiregistration.k8s.io/v1"),
    ("apps/v1beta1", ANY): Served(0, 9, 16, "apps/v1"),
    ("apps/v1beta2", ANY): Served(0, 9, 16, "apps/v1"),
    ("authentication.k8s.io/v1beta1", ANY): Served(0, 16, 22, "authentication.k8s.io/v1"),
    ("authorization.k8s.io/v1beta1", ANY): Served(0, 16, 22, "authorization.k8s.io/v1"),
    ("autoscaling/v2", ANY): Served(23),
    ("autoscaling/v2beta1", ANY): Served(0, 22, 25, "autoscaling/v2"),
    ("autoscaling/v2beta2", ANY): Served(0, 23, 26, "autoscaling/v2"),
    ("batch/v1", "CronJob"): Served(21),
    ("batch/v1beta1", ANY): Served(0, 21, 25, "batch/v1"),
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest"): Served(0, 19, 22, "certificates.k8s.io/v1"),
    ("coordination.k8s.io/v1beta1", ANY): Served(0, 19, 22, "coordination.k8s.io/v1"),
    ("discovery.k8s.io/v1beta1", ANY): Served(0, 21, 25, "discovery.k8s.io/v1"),
    ("events.k8s.io/v1beta1", ANY): Served(0, 22, 25, "events.k8s.io/v1"),
    ("extensions/v1beta1", "Ingress"): Served(0, 14, 22, "networking.k8s.io/v1"),
    ("extensions/v1beta1", ANY): Served(0, 9, 16, "apps/v1, networking.k8s.io/v1 or policy/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", ANY): Served(0, 23, 26, "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", ANY): Served(0, 26, 29, "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", ANY): Served(0, 29, 32, "flowcontrol.apiserver.k8s.io/v1"),
    ("networking.k8s.io/v1", "Ingress"): Served(19),
    ("networking.k8s.io/v1beta1", "Ingress"): Served(0, 19, 22, "networking.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", "IngressClass"): Served(0, 19, 22, "networking.k8s.io/v1"),
    ("node.k8s.io/v1beta1", ANY): Served(0, 22, 25, "node.k8s.io/v1"),
    ("policy/v1", ANY): Served(21),
    ("policy/v1beta1", "PodDisruptionBudget"): Served(0, 21, 25, "policy/v1"),
    ("policy/v1beta1", "PodSecurityPolicy"): Served(0, 21, 25, "Pod Security admission"),
    ("rbac.authorization.k8s.io/v1alpha1", ANY): Served(0, 17, 22, "rbac.authorization.k8s.io/v1"),
    ("rbac.authorization.k8s.io/v1beta1", ANY): Served(0, 17, 22, "rbac.authorization.k8s.io/v1"),
    ("resource.k8s.io/v1", ANY): Served(34),
    ("scheduling.k8s.io/v1alpha1", ANY): Served(0, 14, 22, "scheduling.k8s.io/v1"),
    ("scheduling.k8s.io/v1beta1", ANY): Served(0, 14, 22, "scheduling.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", "CSIStorageCapacity"): Served(0, 24, 27, "storage.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", ANY): Served(0, 19, 22, "storage.k8s.io/v1"),
    ("v1", "ComponentStatus"): Served(0, 19),
}
"""When built-in versions came and went. Kubernetes: the deprecation guide, and +k8s:prerelease-lifecycle-gen tags."""


def check_api(scene: Scene) -> Iterator[Fault]:
    """The version of an object against those that the target serves."""
    version, kind = scene.ref.api_version, scene.ref.kind
    served = VERSIONS.get((version, kind)) or VERSIONS.get((version, ANY))
    if served is None:
        return
    target = scene.site.kubernetes_version
    minor = minor_of(target)
    hint = f"write it as {served.instead}" if served.instead else ""
    if served.removed and minor >= served.removed:
        message = f"{kind} of {version} is not served since Kubernetes 1.{served.removed}; the target has {target}"
        yield Fault(API_NOT_SERVED, ("apiVersion",), message, help=hint)
    elif minor < served.since:
        message = f"{kind} of {version} comes with Kubernetes 1.{served.since}; the target has {target}"
        hint = "upgrade the cluster, or correct kubernetesVersion of the Cluster document"
        yield Fault(API_NOT_SERVED, ("apiVersion",), message, help=hint)
    elif served.deprecated and minor >= served.deprecated:
        until = f"until 1.{served.removed}" if served.removed else "for now"
        message = f"{kind} of {version} is deprecated since Kubernetes 1.{served.deprecated}, and served {until}"
        yield Fault(API_DEPRECATED, ("apiVersion",), message, help=hint)


def minor_of(version: str) -> int:
    """The minor release of a version such as `1.35` or `v1.35.2`."""
    return int(version.removeprefix("v").split(".")[1])
