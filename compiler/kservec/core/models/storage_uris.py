"""storageUris: several models in one pod, each at a path of its own.

Decides which of them come as images, which are mounted and which are downloaded together, and refuses lists that cannot
all be had. Must not know any storage scheme by name.

KServe: pkg/webhook/admission/pod/storage_initializer_injector.go, CommonStorageInitialization
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.models.model_request import Changed, attached
from kservec.core.models.model_uri import settled_scheme
from kservec.core.models.storage_initializer import Download, add_download
from kservec.core.models.storage_scheme import Delivery, Placement
from kservec.core.names import STORAGE_INITIALIZER
from kservec.core.pods.mounts import common_parent, model_readers, volume_name
from kservec.core.unit import Mode, finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import ModelSource
    from kservec.core.models.model_request import ModelRequest
    from kservec.core.models.storage_scheme import Scheme
    from kservec.core.tree import Origin, Tree

MOST_IMAGES = 10
SHARE_A_FOLDER = "mount them below one folder, such as /mnt/models"

CLAIMS_SHARE_PATH = Code(
    "storage/claims-share-path",
    Severity.ERROR,
    "a claim at the path of another model",
    "Two entries of storageUris have the same mountPath, and one of them is mounted from a claim: only one could be "
    "seen there. Give each a path of its own.",
)
IMAGES_SHARE_PATH = Code(
    "storage/images-share-path",
    Severity.ERROR,
    "an image at the path of another model",
    "Two entries of storageUris have the same mountPath, and one of them is an image: only one could be seen there. "
    "Give each a path of its own.",
)
TOO_MANY_IMAGES = Code(
    "storage/too-many-images",
    Severity.ERROR,
    "too many models that come as images",
    "KServe allows ten models that come as images in one pod.",
)
NO_COMMON_PARENT = Code(
    "storage/no-common-parent",
    Severity.ERROR,
    "models whose mount paths share no folder",
    "Models that are downloaded go into one volume, which is mounted at the folder that all their mount paths share; "
    "that cannot be the root folder.",
)
ONE_AT_A_TIME = Code(
    "storage/one-at-a-time",
    Severity.ERROR,
    "the ClusterStorageContainer downloads one model only",
    "storageUris need a ClusterStorageContainer with supportsMultiModelDownload: true, even for one entry.",
)
TWO_INITIALIZERS = Code(
    "storage/two-initializers",
    Severity.ERROR,
    "models from a registry and from elsewhere in one list",
    "Models that are fetched from a container registry and models that are downloaded from elsewhere need two storage "
    "initializers, and a pod can have one. Use another mode for the images.",
)


class Model(NamedTuple):
    """One entry: where it is written, its URI with the mode settled, and how it comes."""

    source: ModelSource
    uri: str
    scheme: Scheme | None

    @property
    def delivery(self) -> Delivery:
        """How the model comes; the storage initializer is handed what no scheme knows."""
        return self.scheme.delivery if self.scheme is not None else Delivery.DOWNLOAD


def attach_list(pod: Tree, request: ModelRequest) -> Changed:
    """Bring all models of the intent into a pod: images first, then volumes, then downloads.

    Raises:
        Reject: the list cannot be had, or one of its entries cannot.
    """
    models = [Model(s, *settled_scheme(s.uri, request.env)) for s in request.intent.sources]
    by_delivery = {d: [m for m in models if m.delivery is d] for d in Delivery}
    refuse_overlaps(by_delivery, request)
    readers = model_readers(pod, request.origin, request.unit.ref)
    own_initializer = pod.get("initContainers", STORAGE_INITIALIZER) is not None
    found: list[Diagnostic] = []
    for index, model in enumerate((*by_delivery[Delivery.IMAGE], *by_delivery[Delivery.MOUNT])):
        pod, more = placed(pod, model, index, readers, request)
        found.extend(more)
    if by_delivery[Delivery.DOWNLOAD] and not own_initializer:
        pod, more = downloaded(pod, by_delivery[Delivery.DOWNLOAD], readers, request)
        found.extend(more)
    return Changed(pod, tuple(found))


def placed(pod: Tree, model: Model, index: int, readers: tuple[str, ...], request: ModelRequest) -> Changed:
    """A pod with one model that a scheme attaches."""
    if model.scheme is None or model.scheme.attach is None:
        return Changed(pod)
    placement = Placement(
        uri=model.uri,
        mount_path=model.source.mount_path,
        origin=attached(model.source.origin),
        subject=request.unit.ref,
        targets=readers,
        several=True,
        read_only=request.intent.read_only,
        index=index,
        pull_policy="IfNotPresent" if request.unit.mode is Mode.STANDARD else "",
    )
    return Changed(*model.scheme.attach(pod, placement, request.env))


def downloaded(pod: Tree, models: list[Model], readers: tuple[str, ...], request: ModelRequest) -> Changed:
    """A pod with one storage initializer for all models that are downloaded, into the directory that holds them.

    KServe chooses the ClusterStorageContainer by the first URI of the whole list.

    Raises:
        Reject: it downloads one model only; something else took the initializer's name; no folder holds all models.
    """
    if pod.get("initContainers", STORAGE_INITIALIZER) is not None:
        message = "images cannot be fetched beside other downloads"
        raise refusal(TWO_INITIALIZERS, message, "use another mode for the images", models[0].source.origin, request)
    container, found = request.container_for(request.intent.sources[0].uri)
    if container is not None and not container.spec.supports_multi_model_download:
        message = f"ClusterStorageContainer {container.name} does not download several models"
        remedy = f"set supportsMultiModelDownload: true in {container.name}, if its program takes several models"
        raise refusal(ONE_AT_A_TIME, message, remedy, models[0].source.origin, request)
    paths = [m.source.mount_path for m in models]
    path = common_parent(paths)
    if path == "/":
        raise refusal(NO_COMMON_PARENT, no_common_parent(paths), SHARE_A_FOLDER, place_of(models[0]), request)
    wanted = Download(
        arguments=tuple(text for m in models for text in (m.source.uri, m.source.mount_path)),
        volume=volume_name(path, "models"),
        path=path,
        holder=request.holder(pod),
        read_only=request.intent.read_only,
        storage=request.storage_key(),
        container=container,
        confidential=request.intent.confidential,
    )
    pod, more = add_download(pod, wanted, readers, request.env)
    return Changed(pod, (*found, *more))


def no_common_parent(paths: Sequence[str]) -> str:
    """The message about mount paths that only the root folder has in common."""
    return f"the models go into one volume, but their mount paths share no folder: {', '.join(paths)}"


def refuse_overlaps(models: dict[Delivery, list[Model]], request: ModelRequest) -> None:
    """Refuse what would hide one model behind another, and more images than KServe allows.

    Downloads may share a path: their files end up side by side.

    Raises:
        Reject: there is such a thing.
    """
    images = models[Delivery.IMAGE]
    if len(images) > MOST_IMAGES:
        message = f"{len(images)} models come as images, {MOST_IMAGES} are allowed"
        remedy = "put several models into one image"
        raise refusal(TOO_MANY_IMAGES, message, remedy, images[MOST_IMAGES].source.origin, request)
    seen = {m.source.mount_path for m in models[Delivery.DOWNLOAD]}
    for code, mounted in ((IMAGES_SHARE_PATH, images), (CLAIMS_SHARE_PATH, models[Delivery.MOUNT])):
        for model in mounted:
            path = model.source.mount_path
            if path in seen:
                message = f"two models are mounted at {path}"
                raise refusal(code, message, "give each a mountPath of its own", place_of(model), request)
            seen.add(path)


def place_of(model: Model) -> Origin:
    """Where it is written at which path a model is mounted."""
    return model.source.mounted or model.source.origin


def refusal(code: Code, message: str, remedy: str, origin: Origin, request: ModelRequest) -> Reject:
    """The refusal of an entry."""
    return Reject(finding(request.unit, code, message, origin.span(), remedy))
