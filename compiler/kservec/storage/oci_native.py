"""oci_native: an image with the model, mounted by the kubelet as an image volume.

KServe: pkg/utils/storage.go, ConfigureOciNativeToContainer; pkg/utils/imagevolume.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.digits import natural
from kservec.core.models.storage_scheme import Attached, Delivery, Placement, Scheme, SchemeTrait
from kservec.core.pods.mounts import add_mounts, add_volume, mount, volume_name

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Tree

FIRST_WITH_SUB_PATH, FIRST_BY_DEFAULT = 33, 35

NO_IMAGE_VOLUMES = Code(
    "storage/no-image-volumes",
    Severity.ERROR,
    "the cluster cannot mount images as volumes",
    "Image volumes with a path inside them need Kubernetes 1.33. Choose another mode for the image, or correct "
    "kubernetesVersion of the Cluster document.",
)
IMAGE_VOLUMES_GATED = Code(
    "storage/image-volumes-gated",
    Severity.WARNING,
    "image volumes must be switched on in the cluster",
    "In Kubernetes 1.33 and 1.34 image volumes work only with the feature gate ImageVolume.",
)


def attach(pod: Tree, placement: Placement, env: Env) -> Attached:
    """Mount the directory `models` of the image; modelcar images have it there."""
    found = version_findings(placement, env.platform.kubernetes_version)
    name = volume_name(placement.mount_path, "oci-model")
    image = {"pullPolicy": "IfNotPresent", "reference": placement.uri.partition("://")[2]}
    pod = add_volume(pod, {"name": name, "image": image}, placement.origin)
    wanted = mount(name, placement.mount_path, sub_path="models", read_only=True)
    return Attached(add_mounts(pod, placement.targets, wanted, placement.origin, placement.subject), found)


def version_findings(placement: Placement, kubernetes_version: str) -> tuple[Diagnostic, ...]:
    """What the cluster's version means for image volumes.

    Raises:
        Reject: it has none, or none with a path inside.
    """
    minor = minor_version(kubernetes_version)
    if minor is None or minor >= FIRST_BY_DEFAULT:
        return ()
    if minor >= FIRST_WITH_SUB_PATH:
        message = f"Kubernetes {kubernetes_version} mounts images only with the feature gate ImageVolume"
        return (report(IMAGE_VOLUMES_GATED, message, "switch the gate on, or use Kubernetes 1.35", placement),)
    message = f"Kubernetes {kubernetes_version} cannot mount the path models of an image"
    raise Reject(report(NO_IMAGE_VOLUMES, message, "use another mode for the image", placement))


def report(code: Code, message: str, help: str, placement: Placement) -> Diagnostic:  # noqa: A002
    """A diagnostic about the model's URI."""
    return Diagnostic(code=code, message=message, span=placement.origin.span(), help=help, subject=placement.subject)


def minor_version(version: str) -> int | None:
    """The second number of a version, or None if there is none."""
    digits = version.partition(".")[2].partition(".")[0].removesuffix("+")
    return natural(digits)


SCHEME = Scheme(
    name="oci+native",
    prefixes=("oci+native://",),
    delivery=Delivery.IMAGE,
    attach=attach,
    traits=frozenset((SchemeTrait.LLM,)),
)
