"""Models: what the pods of a workload serve, and how it comes to them: by download, image, claim, or list.

Decides from pods alone. KServe: pkg/webhook/admission/pod/storage_initializer_injector.go
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.shapes import map_at, maps_at
from kservec.core.models.node_download import VOLUME as CLAIM_VOLUME
from kservec.core.names import MODEL_PATH, STORAGE_INITIALIZER
from kservec.topology.inventory import templates
from kservec.topology.names import CORE, Name
from kservec.topology.workloads import listed_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.paths import Json, Path
    from kservec.topology.inventory import Inventory, Item

MODEL_CONTAINER = "modelcar"
LISTS, LIST_FILE = "modelconfig-", "models.json"
"""ConfigMaps that list the models that an agent pulls, and the file in them."""


class Model(NamedTuple):
    """A model of a workload: what it is called where it lies, how it gets to the pods, where in the object it says so.

    `path` is empty for one that another object lists.
    """

    place: str
    way: str
    path: Path = ()


def models_of(item: Item, inventory: Inventory) -> Iterator[Model]:
    """The models of a workload, each once."""
    seen: set[tuple[str, str]] = set()
    for at, template in templates(item):
        for model in models_in(template, (*at, "spec"), item, inventory):
            if (model.place, model.way) not in seen:
                seen.add((model.place, model.way))
                yield model


def models_in(template: Json, at: Path, item: Item, inventory: Inventory) -> Iterator[Model]:
    """The models of one template of pods, whose spec stands at a path."""
    for container in maps_at(template, "spec", "initContainers"):
        if str(container.get("name", "")).startswith(STORAGE_INITIALIZER):
            uris = listed_texts(container.get("args"))[::2]
            path = (*at, "initContainers", str(container["name"]), "args")
            yield from (Model(uri, "downloaded", (*path, 2 * i)) for i, uri in enumerate(uris))
    for container in maps_at(template, "spec", "containers"):
        name = str(container.get("name", ""))
        if name.startswith(MODEL_CONTAINER):
            yield Model(str(container.get("image", "")), "image beside the server", (*at, "containers", name, "image"))
    for volume in maps_at(template, "spec", "volumes"):
        yield from models_on(volume, template, at, item, inventory)


def models_on(volume: Json, template: Json, at: Path, item: Item, inventory: Inventory) -> Iterator[Model]:
    """The models on one volume: an image, a claim that is mounted where models are, or those that a list names."""
    name = str(volume.get("name", ""))
    path = (*at, "volumes", name)
    image, claim = map_at(volume, "image"), map_at(volume, "persistentVolumeClaim")
    if image:
        yield Model(str(image.get("reference", "")), "mounted image", (*path, "image", "reference"))
    if claim:
        folders = dict.fromkeys(mounted_folders(name, template))
        for folder in folders:
            place = f"{claim.get('claimName')}/{folder}" if folder else str(claim.get("claimName"))
            yield Model(place, "volume claim", (*path, "persistentVolumeClaim", "claimName"))
    listing = str(map_at(volume, "configMap").get("name", ""))
    if listing.startswith(LISTS):
        yield from listed_models(inventory.items.get(Name(CORE, "ConfigMap", item.ref.namespace, listing)))


def mounted_folders(volume: str, template: Json) -> Iterator[str]:
    """The folders of a claim that containers have mounted as models."""
    for container in maps_at(template, "spec", "containers"):
        for mount in maps_at(container, "volumeMounts"):
            is_model = volume.startswith(CLAIM_VOLUME) or str(mount.get("mountPath", "")).startswith(MODEL_PATH)
            if mount.get("name") == volume and is_model:
                yield str(mount.get("subPath", ""))


def listed_models(listing: Item | None) -> Iterator[Model]:
    """The models that a ConfigMap lists for the agent that pulls them."""
    text = map_at(listing.value, "data").get(LIST_FILE) if listing is not None else None
    for entry in maps_at({"models": json_of(text)}, "models"):
        uri = map_at(entry, "modelSpec").get("storageUri")
        yield Model(str(uri or entry.get("modelName")), f"pulled as {entry.get('modelName')}")


def json_of(text: Json) -> Json:
    """What a text says as JSON; None if it is none."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
