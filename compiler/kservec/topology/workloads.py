"""Workloads: what is told of the pods of an object, and of how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.shapes import map_at, maps_at
from kservec.compare.workloads import Bounds, accelerators, workload_of
from kservec.core.llm.names import COMPONENT_LABEL as LLM_COMPONENT
from kservec.core.llm.names import MAIN, ROLE_LABEL
from kservec.core.names import COMPONENT_LABEL, INFERENCEGRAPH_LABEL, KSERVE_CONTAINER
from kservec.report.words import plural
from kservec.topology.inventory import templates
from kservec.topology.names import KNATIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.paths import Json
    from kservec.topology.inventory import Inventory, Item

SERVING = (KSERVE_CONTAINER, MAIN)
"""What the containers that serve are called; else the first one does."""
AUTOSCALERS = {"HorizontalPodAutoscaler": "HPA", "ScaledObject": "KEDA"}
"""What autoscalers are called in short."""
EVERY_NODE = "DaemonSet"
ROUTER, EVERY_ROLE = "router", "both"
SCHEDULER = "scheduler"
DIGEST = "@sha256:"
DIGEST_SHOWN = 12


class Size(NamedTuple):
    """How many replicas a workload has, how many pods each of them, and how many GPUs each of them."""

    replicas: Bounds
    members: int
    gpus: int


def size_of(item: Item, inventory: Inventory) -> Size | None:
    """The size of a workload; None if an object is none. Without a number and an autoscaler there is one replica."""
    kind = workload_of(item.ref)
    if kind is None or not is_workload(item):
        return None
    namespace, name = item.ref.namespace, item.ref.name
    replicas = kind.bounds(item.value) or inventory.scalers.bounds.get((namespace, name)) or Bounds(1, 1)
    groups = kind.groups(item.value)
    claims = inventory.devices.get(namespace, {})
    gpus = sum(accelerators(group.template, claims) * group.members for group in groups)
    return Size(replicas, sum(group.members for group in groups), gpus)


def is_workload(item: Item) -> bool:
    """Whether an object runs pods, so that it has a size."""
    return workload_of(item.ref) is not None and any(True for _ in templates(item))


def told_of(item: Item, inventory: Inventory) -> Iterator[str]:
    """Lines about a workload, without its name: what it is for, how many there are, its GPUs, and its image."""
    size = size_of(item, inventory)
    role = role_of(item)
    yield f"{kind_of(item)}, {role}" if role else kind_of(item)
    if size is not None:
        yield f"{copies(item, size)}{scaled_by(item, inventory)}"
        if size.gpus:
            yield f"{plural(size.gpus, 'GPU')} {'a group' if size.members > 1 else 'a replica'}"
    container = serving_container(item)
    if container.get("image"):
        yield short_image(str(container["image"]))


def kind_of(item: Item) -> str:
    """The kind of an object, with whose it is where two groups have it."""
    return f"Knative {item.ref.kind}" if item.ref.group == KNATIVE else item.ref.kind


def copies(item: Item, size: Size) -> str:
    """How many replicas there are, in words."""
    if item.ref.kind == EVERY_NODE:
        return "one on every node"
    noun = "replica" if size.members == 1 else "group"
    least, most = size.replicas
    number = plural(least, noun) if least == most else f"{size.replicas} {noun}s"
    return number if size.members == 1 else f"{number} of {size.members} pods"


def scaled_by(item: Item, inventory: Inventory) -> str:
    """Which autoscaler decides the number of replicas, if there is one that may change it."""
    kind = inventory.autoscalers.get((item.ref.namespace, item.ref.name), "")
    return f" ({AUTOSCALERS.get(kind, kind)})" if kind else ""


def role_of(item: Item) -> str:
    """What a workload is for, by the labels that KServe gives it; empty if they do not say."""
    labels = {**map_at(item.value, "metadata", "labels")}
    for _, template in templates(item):
        labels |= map_at(template, "metadata", "labels")
    if INFERENCEGRAPH_LABEL in labels:
        return ROUTER
    if SCHEDULER in str(labels.get(LLM_COMPONENT)):
        return SCHEDULER
    role = str(labels.get(ROLE_LABEL) or labels.get(COMPONENT_LABEL) or "")
    return "" if role == EVERY_ROLE else role


def serving_container(item: Item) -> dict[str, Json]:
    """The container that answers requests."""
    found = [container for _, template in templates(item) for container in maps_at(template, "spec", "containers")]
    return next((c for name in SERVING for c in found if c.get("name") == name), found[0] if found else {})


def short_image(image: str) -> str:
    """An image without its registry and folders, and with the beginning of its digest."""
    name, mark, digest = image.partition(DIGEST)
    return name.rpartition("/")[2] + (f"@{digest[:DIGEST_SHOWN]}" if mark else "")


def words_of(container: dict[str, Json]) -> list[str]:
    """The words of the command line of a container."""
    return [text for field in ("command", "args") for text in listed_texts(container.get(field))]


def option_values(words: Sequence[str], option: str) -> Iterator[str]:
    """The values of an option of a command line, as `--option value` or `--option=value`."""
    for i, word in enumerate(words):
        if word == option and i + 1 < len(words):
            yield words[i + 1]
        elif word.startswith(f"{option}="):
            yield word.partition("=")[2]


def listed_texts(value: Json) -> list[str]:
    """The texts in a list; none if it is none."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
