"""render_localmodelcache: a cache becomes volumes to download into, and the DaemonSets that download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.effects import without_effect
from kservec.core.models.ca_bundle import namespace_copy
from kservec.core.models.local_models import VOLUME_SPEC, LocalCache, claim, volume
from kservec.core.models.model_uri import is_local_path, meant_uri
from kservec.core.models.node_download import render_downloader
from kservec.core.models.node_placement import volume_terms
from kservec.core.models.storage_scheme import Delivery
from kservec.core.records import evolve
from kservec.core.sidecars.injection import missing_section
from kservec.core.unit import Step, finding
from kservec.core.validity.volume_binding import binding_faults
from kservec.spec.localmodel import LocalModelCache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Bundle
    from kservec.core.models.local_models import NodeGroup
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

SECTION = "localModel"
ON_NODES = ("hostPath", "local")
"""The kinds of volumes that are another one on each node."""

NOT_COPIED = Code(
    "localmodel/not-downloadable",
    Severity.ERROR,
    "a model that cannot be copied onto nodes",
    "The storage initializer copies what it can download. Claims and paths are no downloads; for other URIs declare a "
    "ClusterStorageContainer with the workloadType localModelDownloadJob that takes them.",
)
EVERYWHERE = Code(
    "localmodel/every-node",
    Severity.WARNING,
    "a node group whose volume is not tied to nodes",
    "The group's persistentVolumeSpec has no nodeAffinity, or a source that all nodes share. KServe finds no node for "
    "a group without nodeAffinity and never downloads; here every node of the cluster does. Into a source that is "
    "shared, several nodes write at once. Name the nodes in nodeAffinity, and use hostPath or local.",
)


def render_localmodelcache(unit: Unit, env: Env) -> Step:
    """Make, for each node group of a cache, a volume, a claim, and the DaemonSet that downloads the model into them.

    Takes:   nothing
    Writes:  PersistentVolume, PersistentVolumeClaim, DaemonSet; ConfigMap global-ca-bundle
    Reports: localmodel/*, spec/without-effect, platform/section-missing, platform/configuration, secret/*,
             serviceaccount/not-declared, storage/*, platform/ca-bundle
    KServe:  pkg/controller/v1alpha1/localmodel/reconcilers/{localmodelcache,localmodelnamespacecache}_reconciler.go
    """
    namespace = job_namespace(env.platform)
    spec = unit.spec_as(LocalModelCache).spec
    cache = LocalCache(name=unit.name, namespace=unit.namespace, spec=spec, document=unit.source.document)
    if not is_downloadable(spec.source_model_uri, env):
        message = f"{spec.source_model_uri!r} cannot be copied onto nodes"
        meant = meant_uri(spec.source_model_uri, env)
        remedy = f"did you mean {meant}?" if meant else "name a URI that can be downloaded"
        raise Reject(finding(unit, NOT_COPIED, message, ("spec", "sourceModelUri"), remedy))
    found = list(unread_fields(unit, cache))
    bundle = unit.bundle
    copy = namespace_copy(namespace, env, unit.ref)
    bundle = bundle.add(copy) if copy is not None else bundle
    for name in dict.fromkeys(spec.node_groups):
        bundle, more = with_group(bundle, cache, env.cluster.node_groups[name], env)
        found += more
    return Step(evolve(unit, bundle=bundle), tuple(found))


def job_namespace(platform: PlatformConfig) -> str:
    """The namespace that downloads run in.

    Raises:
        Reject: the platform's configuration does not name it.
    """
    if SECTION not in platform.texts:
        raise Reject(missing_section(platform, SECTION))
    if not platform.local_model.job_namespace:
        reason = "jobNamespace is missing, so nothing says where models are downloaded"
        raise Reject(platform.broken(SECTION, reason, "jobNamespace"))
    return platform.local_model.job_namespace


def is_downloadable(uri: str, env: Env) -> bool:
    """Whether the storage initializer, or a storage container for such downloads, takes a URI."""
    if any(c.downloads_to_nodes and c.supports(uri) for c in env.catalog.storage_containers):
        return True
    scheme = env.plugs.scheme(uri)
    return scheme is not None and scheme.supported and scheme.delivery is not Delivery.MOUNT and not is_local_path(uri)


def unread_fields(unit: Unit, cache: LocalCache) -> Iterator[Diagnostic]:
    """What the cache says of its storage and nothing reads."""
    storage = cache.spec.storage
    if storage is not None and storage.key is None and storage.parameters:
        reason = "parameters belong to a key, and none is named"
        yield without_effect(unit, ("spec", "storage", "parameters"), reason, "add storage.key")


def with_group(bundle: Bundle, cache: LocalCache, group: NodeGroup, env: Env) -> tuple[Bundle, list[Diagnostic]]:
    """The bundle with what a node group needs.

    Raises:
        Reject: the DaemonSet cannot be made.
    """
    namespace = env.platform.local_model.job_namespace
    name = cache.download_volume(group.name)
    downloader = render_downloader(cache, group, namespace, env)
    made = (
        volume(name, group, cache),
        claim((namespace, cache.download_claim(group.name)), name, group, cache),
        downloader.manifest,
    )
    return bundle.add(*made), [*binding_faults(group), *everywhere(group), *downloader.diagnostics]


def everywhere(group: NodeGroup) -> Iterator[Diagnostic]:
    """The warning about a volume that is not another one on each node of a group."""
    spec = group.spec.persistent_volume_spec
    unbound, shared = not volume_terms(spec), not any(kind in spec for kind in ON_NODES)
    if unbound or shared:
        reason = "has no nodeAffinity" if unbound else "is none of its nodes' own"
        yield Diagnostic(
            code=EVERYWHERE,
            message=f"the volume of LocalModelNodeGroup {group.name} {reason}",
            span=group.document.span(("spec", VOLUME_SPEC)),
            help="use hostPath or local, and name the nodes in nodeAffinity",
            subject=group.ref,
        )
