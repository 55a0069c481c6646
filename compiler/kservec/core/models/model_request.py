"""A component's wish for models, with everything that decides how it is met.

Holds the wish together and answers questions about it. Must not know how models are mounted or downloaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.models.credentials import Holder
from kservec.core.models.storage_config import StorageKey
from kservec.core.models.storage_containers import Asked, choose_container
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Role

if TYPE_CHECKING:
    from collections.abc import Callable

    from kservec.core.catalog import StorageContainer
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import ModelIntent
    from kservec.core.registry import Env
    from kservec.core.tree import Path, Tree
    from kservec.core.unit import Component, Unit

BY = "attach_models"


class Changed(NamedTuple):
    """A pod after a change, and what was found on the way."""

    pod: Tree
    diagnostics: tuple[Diagnostic, ...] = ()


class Pods(NamedTuple):
    """The pods of a component, which get the same models."""

    pod: Tree
    worker: Tree | None = None

    def changed(self, change: Callable[[Tree], Changed]) -> tuple[Pods, tuple[Diagnostic, ...]]:
        """Both pods changed alike, and what was found, once each."""
        pod, found = change(self.pod)
        if self.worker is None:
            return self if pod is self.pod else Pods(pod), found
        worker, found_too = change(self.worker)
        return Pods(pod, worker), tuple(dict.fromkeys((*found, *found_too)))


class ModelRequest(NamedTuple):
    """The models that one intent wants in the pods of one component.

    `origin` is that of what is added for them: the place that asks for them, in the name of the pass.
    """

    unit: Unit
    component: Component
    intent: ModelIntent
    origin: Origin
    env: Env

    def holder(self, pod: Tree) -> Holder:
        """The pod as one that needs credentials."""
        return Holder(self.unit.ref, pod, self.component.annotations, self.origin)

    def storage_key(self) -> StorageKey | None:
        """The storage spec that gives the credentials, or None.

        For `storageUris` it counts only with both key and parameters. KServe: CommonStorageInitialization
        """
        storage = self.intent.storage
        if storage is None or (self.intent.several and None in (storage.key, storage.parameters)):
            return None
        path: Path = self.component.path if self.component.role is Role.PREDICTOR else ("spec", "predictor")
        span = self.unit.source.span(*path, "model", "storage", *(("key",) if storage.key else ()))
        return StorageKey(key=storage.key or "", parameters=storage.parameters or {}, span=span)

    def container_for(self, uri: str) -> tuple[StorageContainer | None, tuple[Diagnostic, ...]]:
        """The ClusterStorageContainer that downloads a URI, if any, and what was found.

        Raises:
            Reject: the component names one that cannot.
        """
        named = self.intent.container_name
        origin = self.intent.origin
        if named:
            origin = self.unit.source.origin(*self.component.path, "storageContainerName")
        return choose_container(uri, Asked(named, origin, self.unit.ref), self.env.catalog)


def attached(origin: Origin) -> Origin:
    """The same place, as the origin of what this pass adds because of it."""
    return Origin(Layer.PASS, BY, origin.doc, origin.at)
