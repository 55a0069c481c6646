"""Intents: what a component still wants done to it.

The split passes read a spec and leave intents; each later pass takes the kinds it honours. What nobody
took is reported by `seal`, so nothing the user wrote is dropped silently. An intent says *what* is wanted
and where that was written, never how it is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import fresh, record
from kservec.core.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json, Origin, Source
    from kservec.spec.inferenceservice import (
        AutoScaling,
        Batcher,
        Confidential,
        Logger,
        ModelSpec,
        StorageSpec,
        WorkerSpec,
    )


@record
class Intent:
    """What every intent has: the place in the user's file that asks for it."""

    origin: Origin


@record
class RuntimeIntent(Intent):
    """A predictor that needs a serving runtime. `model` is `predictor.model` after defaulting.

    `container` is the model's container, with what the chosen runtime's kind of server adds to it. `source` is the
    origin of the model and container where they do not come from one place.
    """

    model: ModelSpec
    container: Mapping[str, Json] = fresh(factory=dict)
    source: Source | None = None

    @property
    def own_container(self) -> Tree:
        """The container with its origins."""
        return Tree.of(self.container, self.source or self.origin)

    def place(self, name: str) -> Origin:
        """The origin of a field of the model."""
        found = self.own_container.origin((name,))
        return found[0]._replace(at=found[0].at + found[1]) if found is not None else self.origin


@record
class ModelSource:
    """One model: where it lies and where containers find it.

    `origin` is that of its URI, `mounted` that of the path, None where nobody can write one.
    """

    uri: str
    mount_path: str
    origin: Origin
    mounted: Origin | None = None


@record
class ModelIntent(Intent):
    """Models to bring into the component's pods.

    `several` marks `storageUris`: KServe's controller attaches those to the workload itself, with its own rules
    for names and mounts, while one `storageUri` is attached by the pod webhook at /mnt/models.
    `storage` is the storage spec whose key and parameters give the credentials. `container_name` names the
    ClusterStorageContainer that must download.
    """

    sources: tuple[ModelSource, ...]
    several: bool = False
    storage: StorageSpec | None = None
    container_name: str = ""
    read_only: bool = True
    confidential: Confidential | None = None


@record
class LoggerIntent(Intent):
    """Payload logging by the agent."""

    logger: Logger


@record
class BatcherIntent(Intent):
    """Request batching by the agent."""

    batcher: Batcher


@record
class PullerIntent(Intent):
    """Models that the agent pulls at run time (a service for trained models)."""


class PulledModel(NamedTuple):
    """A model that the agent pulls: its name, where it lies, what serves it and how much memory it takes."""

    name: str
    uri: str
    framework: str
    memory: str | int | float


@record
class TrainedModelIntent(Intent):
    """One more model for the server, which the agent of the unit pulls while it runs."""

    model: PulledModel


@record
class ScaleIntent(Intent):
    """How many replicas, and by which rule. `scaler` is the name that the user gave, empty for the default."""

    scaler: str = ""
    min_replicas: int | None = None
    max_replicas: int = 0
    target: int | None = None
    metric: str | None = None
    auto_scaling: AutoScaling | None = None


@record
class ParallelIntent(Intent):
    """A predictor spread over several nodes."""

    worker_spec: WorkerSpec


@record
class CanaryIntent(Intent):
    """A share of traffic, in percent, for another version.

    `revision` is set in Knative mode, `name` in Standard mode.
    """

    percent: int
    name: str = ""
    revision: str = ""


@record
class ExposeIntent(Intent):
    """The unit wants to be reached from outside. `settings` are the user's annotations and labels that bear on it."""

    settings: Mapping[str, Json] = fresh(factory=dict)
