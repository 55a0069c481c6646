"""Written: one component as it stands in a spec, and the component with its intents that this makes.

Decides what every component has, whatever its role. Must not know runtimes, arguments or what a predictor serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from kservec.core.intents import (
    BatcherIntent,
    CanaryIntent,
    Intent,
    LoggerIntent,
    ModelIntent,
    ModelSource,
    ScaleIntent,
)
from kservec.core.names import KSERVE_CONTAINER, MODEL_PATH
from kservec.core.pods.containers import find, variable
from kservec.core.pods.strategic import omit_empty
from kservec.core.records import record
from kservec.core.serving.metadata import component_labels, passed_on
from kservec.core.tree import Layers, Tree, lookup
from kservec.core.unit import Component, Role
from kservec.spec.inferenceservice import ComponentExtension, InferenceService

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.registry import Env
    from kservec.core.tree import Json, Origin, Path, Source
    from kservec.core.unit import Unit

STORAGE_URI = "STORAGE_URI"

Part_co = TypeVar("Part_co", bound=ComponentExtension, covariant=True)


@record
class Written(Generic[Part_co]):
    """One component as it is written in the spec of a unit.

    `path` is where it stands. `inherited` is for what is laid together from two places: the values that stand at `path`
    itself, the values that come from elsewhere, and where those stand.
    """

    unit: Unit
    role: Role
    name: str
    spec: Part_co
    path: Path
    inherited: tuple[Json, Json, Path] | None = None

    def at(self, *rest: str | int) -> Origin:
        """The origin of the value at a path below the component."""
        origin = self.unit.source.origin
        if self.inherited is not None:
            own, other, path = self.inherited
            if lookup(own, rest) is None and lookup(other, rest) is not None:
                return origin(*path, *rest)
        return origin(*self.path, *rest)

    def source(self, *rest: str | int) -> Source:
        """The origin of all that lies at a path below the component."""
        origin = self.unit.source.origin
        if self.inherited is None:
            return origin(*self.path, *rest)
        own, other, path = self.inherited
        layers = ((lookup(own, rest), origin(*self.path, *rest)), (lookup(other, rest), origin(*path, *rest)))
        return Layers(layers)


def bare_component(
    written: Written[ComponentExtension], env: Env, more: Iterable[Intent] = (), implementation: Path = ()
) -> Component:
    """A component with its metadata, its pod as the user wrote it, the intents that every component may have, and more.

    Empty fields of the pod go, as they do where a server takes it through Go's types.
    """
    unit, spec = written.unit, written.spec
    return Component(
        role=written.role,
        name=written.name,
        path=written.path,
        extension=spec,
        labels=component_labels(
            unit.name,
            written.role,
            (unit.labels, unit.source.origin("metadata", "labels")),
            (spec.labels, written.source("labels")),
        ),
        annotations=Tree.union(
            (passed_on(unit.annotations, env.platform), unit.source.origin("metadata", "annotations")),
            (passed_on(spec.annotations, env.platform), written.source("annotations")),
        ),
        pod=written_pod(written),
        implementation=implementation,
        intents=(*extension_intents(written), *more),
    )


def written_pod(written: Written[ComponentExtension]) -> Tree:
    """The pod of a component as the user wrote it, where values of a container that KServe renames are found, too."""
    value, serving = omit_empty(written.spec.rest), ("containers", KSERVE_CONTAINER)
    if written.unit.source.moved and lookup(value, serving) is not None:
        return Tree.built(value, ((), written.source()), (serving, written.source(*serving)))
    return Tree.of(value, written.source())


def extension_intents(written: Written[ComponentExtension]) -> list[Intent]:
    """The intents that predictor, transformer and explainer have in common."""
    spec = written.spec
    scale = ScaleIntent(
        origin=written.at(),
        min_replicas=spec.min_replicas,
        max_replicas=spec.max_replicas,
        target=spec.scale_target,
        metric=spec.scale_metric,
        auto_scaling=spec.auto_scaling,
    )
    found: list[Intent] = [scale]
    if spec.logger is not None:
        found.append(LoggerIntent(origin=written.at("logger"), logger=spec.logger))
    if spec.batcher is not None and written.role is not Role.EXPLAINER:
        found.append(BatcherIntent(origin=written.at("batcher"), batcher=spec.batcher))
    if spec.canary_traffic_percent is not None:
        found.append(CanaryIntent(origin=written.at("canaryTrafficPercent"), percent=spec.canary_traffic_percent))
    if spec.storage_uris:
        found.append(several_models(written))
    return found


def several_models(written: Written[ComponentExtension]) -> ModelIntent:
    """`storageUris` as one intent. The credentials are those of the predictor's model for every component.

    KServe: components/transformer.go, reconcileTransformerRawDeployment (the storage spec is the predictor's)
    """
    stable = written.unit.spec_as(InferenceService).spec.predictor
    predictor = getattr(written.spec, "model", None) if written.role is Role.PREDICTOR else stable.model
    sources = tuple(
        ModelSource(
            uri=s.uri,
            mount_path=s.mount_path,
            origin=written.at("storageUris", i, "uri"),
            mounted=written.at("storageUris", i, "mountPath"),
        )
        for i, s in enumerate(written.spec.storage_uris)
    )
    return ModelIntent(
        origin=written.at("storageUris"),
        sources=sources,
        several=True,
        storage=predictor.storage if predictor is not None else None,
        container_name=storage_container(written),
    )


def storage_container(written: Written[ComponentExtension]) -> str:
    """The storage container that a component names; only predictors can."""
    return getattr(written.spec, "storage_container_name", None) or ""


def custom_model(written: Written[ComponentExtension], name: str | None = None) -> Iterator[ModelIntent]:
    """The model that STORAGE_URI of the container `name` names. None means the first container."""
    containers = written.spec.containers
    container = (containers[0] if containers else None) if name is None else find(containers, name)
    uri = variable(container, STORAGE_URI) if container is not None else None
    if uri is None or container is None:
        return
    origin = written.at("containers", container["name"], "env", STORAGE_URI, "value")
    sources = (ModelSource(uri=uri, mount_path=MODEL_PATH, origin=origin),)
    yield ModelIntent(origin=origin, sources=sources, container_name=storage_container(written))
