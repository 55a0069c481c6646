"""Which ClusterStorageContainer downloads a URI: the one that is named, else the first by name that takes it.

Decides the choice and says what is wrong with a named one. Must not know what the container is used for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Needed, Reject, Severity
from kservec.core.listing import listed_near
from kservec.core.spelling import meant_name
from kservec.spec.clusterstoragecontainer import INIT_CONTAINER

if TYPE_CHECKING:
    from kservec.core.catalog import Catalog, StorageContainer
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Origin

CONTAINER_UNFIT = Code(
    "storage/container-unfit",
    Severity.ERROR,
    "the named ClusterStorageContainer cannot download the model",
    "storageContainerName must name a ClusterStorageContainer that exists, is not disabled, runs as an init container "
    "(workloadType) and takes the URI (supportedUriFormats).",
)
CONTAINERS_COMPETE = Code(
    "storage/containers-compete",
    Severity.WARNING,
    "several ClusterStorageContainers take one URI",
    "KServe takes any of them; here it is always the first by name. Name the right one in "
    "predictor.storageContainerName, or narrow supportedUriFormats.",
)


class Asked(NamedTuple):
    """Who asks for a container: the name if one was given, where it or else the URI is written, and the object."""

    name: str
    origin: Origin
    subject: ObjectRef


def choose_container(
    uri: str, asked: Asked, catalog: Catalog
) -> tuple[StorageContainer | None, tuple[Diagnostic, ...]]:
    """The storage container for a URI, None if the platform's own settings do, and what was found.

    Raises:
        Reject: one is named that cannot download the URI.

    KServe: pkg/webhook/admission/pod/storage_initializer_injector.go, GetStorageContainerSpec
    """
    if asked.name:
        named = catalog.storage_container(asked.name)
        problem = unfit(named, uri)
        if problem:
            raise Reject(unfit_container(problem, asked, catalog))
        return named, ()
    fitting = [c for c in catalog.storage_containers if c.downloads_at_start and c.supports(uri)]
    if len(fitting) > 1:
        remedy = "name one in predictor.storageContainerName"
        return fitting[0], (competing(uri, fitting, asked, remedy),)
    return (fitting[0] if fitting else None), ()


def unfit(container: StorageContainer | None, uri: str) -> str:
    """Why a container cannot download a URI; empty if it can."""
    if container is None:
        return "does not exist"
    if container.disabled:
        return "is disabled"
    if container.spec.workload_type != INIT_CONTAINER:
        return f"has the workload type {container.spec.workload_type}, not {INIT_CONTAINER}"
    return "" if container.supports(uri) else f"does not take {uri}"


def unfit_container(problem: str, asked: Asked, catalog: Catalog) -> Diagnostic:
    """The diagnostic for a named container that cannot be used."""
    known = [c.name for c in catalog.storage_containers if c.downloads_at_start]
    others, meant = listed_near(asked.name, known), meant_name(asked.name, known)
    if others:
        remedy = f"did you mean {meant}?" if meant else f"the platform has {others}"
    else:
        remedy = "the platform has no ClusterStorageContainer"
    return Diagnostic(
        code=CONTAINER_UNFIT,
        message=f"ClusterStorageContainer {asked.name} {problem}",
        span=asked.origin.span(),
        help=remedy,
        subject=asked.subject,
        rests_on=(Needed("ClusterStorageContainer", "", asked.name),),
    )


def choose_for_nodes(
    uri: str, asked: Asked, catalog: Catalog
) -> tuple[StorageContainer | None, tuple[Diagnostic, ...]]:
    """The storage container that copies a URI onto nodes, None if the platform's own settings do, and what was found.

    KServe: pkg/controller/v1alpha1/localmodelnode/controller.go, getContainerSpecForStorageUri
    """
    fitting = [c for c in catalog.storage_containers if c.downloads_to_nodes and c.supports(uri)]
    if len(fitting) > 1:
        return fitting[0], (competing(uri, fitting, asked, "narrow their supportedUriFormats"),)
    return (fitting[0] if fitting else None), ()


def competing(uri: str, fitting: list[StorageContainer], asked: Asked, remedy: str) -> Diagnostic:
    """The warning about a URI that several containers take."""
    names = ", ".join(c.name for c in fitting)
    return Diagnostic(
        code=CONTAINERS_COMPETE,
        message=f"the ClusterStorageContainers {names} all take {uri}; {fitting[0].name} is used",
        span=asked.origin.span(),
        help=remedy,
        subject=asked.subject,
    )
