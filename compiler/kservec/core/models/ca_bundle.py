"""CA bundle: certificates of private authorities for the containers that download models.

Decides which ConfigMap a container mounts and where, and makes the copy of the platform's bundle that a namespace
needs. Must not know who downloads what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import Manifest, manifest
from kservec.core.diagnostics import Code, Diagnostic, Needed, Reject, Severity
from kservec.core.pods.containers import variable
from kservec.core.pods.mounts import mount, parent_directory
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json

BUNDLE_CONFIG_MAP_VARIABLE = "AWS_CA_BUNDLE_CONFIGMAP"
BUNDLE_FILE_VARIABLE = "AWS_CA_BUNDLE"

VOLUME = "cabundle-cert"
FILE = "cabundle.crt"
NAMESPACE_COPY = "global-ca-bundle"
DIRECTORY = "/etc/ssl/custom-certs"

MISSING_BUNDLE = Code(
    "platform/ca-bundle",
    Severity.ERROR,
    "the platform's CA bundle is not there",
    "caBundleConfigMapName in the storageInitializer section of inferenceservice-config names a ConfigMap in KServe's "
    "namespace with the key cabundle.crt. Declare that ConfigMap among the platform files, or empty the setting.",
)


class CaBundle(NamedTuple):
    """The ConfigMap with the certificates, and the directory that it is mounted at."""

    config_map: str
    directory: str

    @property
    def volume(self) -> Json:
        """The volume of the pod."""
        return {"name": VOLUME, "configMap": {"name": self.config_map}}

    @property
    def env(self) -> tuple[Json, ...]:
        """The variables that tell a container of the bundle."""
        return (
            {"name": "CA_BUNDLE_CONFIGMAP_NAME", "value": self.config_map},
            {"name": "CA_BUNDLE_VOLUME_MOUNT_POINT", "value": self.directory},
        )

    def mounted(self, container: Json) -> Json:
        """A container that has the bundle, told of it by the variables that it does not set itself."""
        env = container.get("env") or []
        set_already = {entry["name"] for entry in env}
        return {
            **container,
            "env": [*env, *(entry for entry in self.env if entry["name"] not in set_already)],
            "volumeMounts": [*(container.get("volumeMounts") or ()), mount(VOLUME, self.directory, read_only=True)],
        }


def platform_bundle(namespace: str, platform: PlatformConfig) -> CaBundle | None:
    """The bundle that every download container of a namespace gets; None where the platform has none."""
    config = platform.storage_initializer
    if not config.ca_bundle_config_map_name:
        return None
    home = namespace == platform.kserve_namespace
    name = config.ca_bundle_config_map_name if home else NAMESPACE_COPY
    return CaBundle(name, config.ca_bundle_volume_mount_path or DIRECTORY)


def bundle_for(container: Json, namespace: str, platform: PlatformConfig) -> CaBundle | None:
    """The bundle of a container: the platform's, changed by what its credentials say of bundles.

    KServe: pkg/webhook/admission/pod/storage_initializer_injector.go, needCaBundleMount
    """
    bundle = platform_bundle(namespace, platform)
    own, file = variable(container, BUNDLE_CONFIG_MAP_VARIABLE), variable(container, BUNDLE_FILE_VARIABLE)
    if own is not None:
        directory = platform.storage_initializer.ca_bundle_volume_mount_path or DIRECTORY
        bundle = CaBundle(own, directory)
    if bundle is not None and file is not None:
        bundle = bundle._replace(directory=parent_directory(file))
    return bundle


def namespace_copy(namespace: str, env: Env, subject: ObjectRef) -> Manifest | None:
    """The copy of the platform's bundle in a namespace; None where the platform has none.

    Raises:
        Reject: the platform's ConfigMap, or the file in it, is not declared.

    KServe: reconcilers/cabundleconfigmap/cabundle_configmap_reconciler.go, getCabundleConfigMapForUserNS
    """
    name = env.platform.storage_initializer.ca_bundle_config_map_name
    if not name:
        return None
    source = env.cluster.config_maps.get((env.platform.kserve_namespace, name)) or {}
    text = source.get(FILE)
    if not text:
        raise Reject(missing_bundle(name, env.platform, subject))
    metadata = {"name": NAMESPACE_COPY, "namespace": namespace}
    made = manifest("v1", "ConfigMap", metadata, {"data": {FILE: text}}, Origin(Layer.PLATFORM, "ca_bundle"))
    return made._replace(shared=True)


def missing_bundle(name: str, platform: PlatformConfig, subject: ObjectRef) -> Diagnostic:
    """The diagnostic for a bundle that nothing declares."""
    section = platform.texts.get("storageInitializer")
    return Diagnostic(
        code=MISSING_BUNDLE,
        message=f"ConfigMap {platform.kserve_namespace}/{name} has no {FILE}, or is not declared",
        span=section.setting("caBundleConfigMapName") if section is not None else None,
        help=f"declare ConfigMap {platform.kserve_namespace}/{name} with the key {FILE} among the platform files",
        subject=subject,
        rests_on=(Needed("ConfigMap", platform.kserve_namespace, name),),
    )
