"""split_inferenceservice: an InferenceService becomes components, each a pod and what is wanted of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kservec.core.arguments import Facts, art_container, explainer_arguments, transformer_arguments
from kservec.core.containers import find, set_variable, variable
from kservec.core.intents import (
    BatcherIntent,
    CanaryIntent,
    ExposeIntent,
    Intent,
    LoggerIntent,
    ModelIntent,
    ModelSource,
    ParallelIntent,
    PullerIntent,
    RuntimeIntent,
    ScaleIntent,
)
from kservec.core.metadata import component_labels, passed_on
from kservec.core.names import KSERVE_CONTAINER, MODEL_PATH, explainer_name, predictor_name, transformer_name
from kservec.core.tree import Concat, Layer, Origin, Tree
from kservec.core.unit import Component, Role, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.env import Env
    from kservec.core.tree import Path
    from kservec.core.unit import Unit
    from kservec.spec.inferenceservice import ComponentExtension, ModelSpec, PredictorSpec, StorageSpec

BY = "split_inferenceservice"
PREDICTOR: Path = ("spec", "predictor")
TRANSFORMER: Path = ("spec", "transformer")
EXPLAINER: Path = ("spec", "explainer")
STORAGE_URI = "STORAGE_URI"
ANY_SCHEME = "<scheme-placeholder>"


def split_inferenceservice(unit: Unit, env: Env) -> Step:
    """Make the components of an InferenceService.

    Takes:   nothing
    Writes:  components: predictor, transformer, explainer; the whole unit's ExposeIntent
    Reports: nothing; what the webhooks would refuse was reported before
    KServe:  controller.go, Reconcile; components/{predictor,transformer,explainer}.go, Reconcile
    """
    spec = unit.spec.spec
    components = [split_predictor(unit, env)]
    if spec.transformer is not None:
        components.append(split_transformer(unit, env))
    if spec.explainer is not None:
        components.append(split_explainer(unit, env))
    exposed = ExposeIntent(origin=unit.source.origin("metadata", "name"))
    return Step(replace(unit, components=tuple(components), intents=(exposed,)))


def facts_of(unit: Unit, extension: ComponentExtension) -> Facts:
    """What the arguments of a transformer or explainer say of the service."""
    host = f"{predictor_name(unit.name, unit.spec.spec.predictor.name)}.{unit.namespace}"
    return Facts(unit.name, host, extension.container_concurrency)


def bare_component(unit: Unit, env: Env, role: Role, name: str, path: Path) -> Component:
    """A component with its metadata, its pod as the user wrote it, and the intents that every component may have."""
    extension = getattr(unit.spec.spec, role.value)
    own = unit.source.origin("metadata", "annotations"), unit.source.origin(*path, "annotations")
    return Component(
        role=role,
        name=name,
        path=path,
        extension=extension,
        labels=component_labels(
            unit.name,
            role,
            (unit.labels, unit.source.origin("metadata", "labels")),
            (extension.labels, unit.source.origin(*path, "labels")),
        ),
        annotations=Tree.union(
            (passed_on(unit.annotations, env.platform), own[0]), (passed_on(extension.annotations, env.platform), own[1])
        ),
        pod=Tree.of(extension.rest, unit.source.origin(*path)),
        intents=tuple(extension_intents(unit, role, extension, path)),
    )


def extension_intents(unit: Unit, role: Role, extension: ComponentExtension, path: Path) -> Iterator[Intent]:
    """The intents that predictor, transformer and explainer have in common."""
    at = unit.source.origin
    yield ScaleIntent(
        origin=at(*path),
        min_replicas=extension.min_replicas,
        max_replicas=extension.max_replicas,
        target=extension.scale_target,
        metric=extension.scale_metric,
        auto_scaling=extension.auto_scaling,
    )
    if extension.logger is not None:
        yield LoggerIntent(origin=at(*path, "logger"), logger=extension.logger)
    if extension.batcher is not None:
        yield BatcherIntent(origin=at(*path, "batcher"), batcher=extension.batcher)
    if extension.canary_traffic_percent is not None:
        origin = at(*path, "canaryTrafficPercent")
        yield CanaryIntent(origin=origin, percent=extension.canary_traffic_percent)
    if extension.storage_uris:
        yield several_models(unit, role, extension, path)


def several_models(unit: Unit, role: Role, extension: ComponentExtension, path: Path) -> ModelIntent:
    """`storageUris` as one intent. The credentials are those of the predictor's model for every component.

    KServe: components/transformer.go, reconcileTransformerRawDeployment (the storage spec is the predictor's)
    """
    at = unit.source.origin
    predictor = unit.spec.spec.predictor
    sources = tuple(
        ModelSource(uri=s.uri, mount_path=s.mount_path, origin=at(*path, "storageUris", i))
        for i, s in enumerate(extension.storage_uris)
    )
    named = (predictor.storage_container_name or "") if role is Role.PREDICTOR else ""
    storage = predictor.model.storage if predictor.model is not None else None
    return ModelIntent(
        origin=at(*path, "storageUris"), sources=sources, several=True, storage=storage, container_name=named
    )


def split_predictor(unit: Unit, env: Env) -> Component:
    """The predictor: a model for a runtime, or the user's own containers."""
    spec = unit.spec.spec.predictor
    component = bare_component(unit, env, Role.PREDICTOR, predictor_name(unit.name, spec.name), PREDICTOR)
    intents = [*component.intents, *predictor_intents(unit, spec)]
    if spec.worker_spec is not None:
        intents.append(ParallelIntent(origin=unit.source.origin(*PREDICTOR, "workerSpec"), worker_spec=spec.worker_spec))
    at: Path = (*PREDICTOR, "model") if spec.model is not None else (*PREDICTOR, "containers")
    return replace(component, intents=tuple(intents), implementation=at)


def predictor_intents(unit: Unit, spec: PredictorSpec) -> Iterator[Intent]:
    """What a predictor wants beyond what every component may want."""
    at = unit.source.origin
    if pulls_models(spec):
        yield PullerIntent(origin=at(*PREDICTOR))
    if spec.model is not None:
        yield RuntimeIntent(origin=at(*PREDICTOR, "model"), model=spec.model, container=spec.model.rest)
        yield from model_intents(unit, spec, spec.model)
    else:
        yield from custom_model(unit, spec.containers, KSERVE_CONTAINER, PREDICTOR)


def model_intents(unit: Unit, predictor: PredictorSpec, model: ModelSpec) -> Iterator[ModelIntent]:
    """The model that `storageUri` or `storage.path` names.

    With both, the place of `storage.path` comes first; attach_models refuses the two together, as KServe does.
    """
    places: list[tuple[str, Path]] = []
    if model.storage is not None and model.storage.path is not None:
        places.append((f"{ANY_SCHEME}://{model.storage.path.removeprefix('/')}", ("storage", "path")))
    if model.storage_uri is not None:
        places.append((model.storage_uri, ("storageUri",)))
    for uri, rest in places:
        origin = unit.source.origin(*PREDICTOR, "model", *rest)
        yield ModelIntent(
            origin=origin,
            sources=(ModelSource(uri=uri, mount_path=MODEL_PATH, origin=origin),),
            storage=model.storage,
            container_name=predictor.storage_container_name or "" if model.storage_uri is not None else "",
            confidential=model.confidential,
        )


def custom_model(
    unit: Unit, containers: list[dict[str, object]], name: str | None, path: Path, storage: StorageSpec | None = None
) -> Iterator[ModelIntent]:
    """The model that a custom container's STORAGE_URI names. `name` None means the first container."""
    container = (containers[0] if containers else None) if name is None else find(containers, name)
    uri = variable(container, STORAGE_URI) if container is not None else None
    if uri is None or container is None:
        return
    index = containers.index(container)
    env = container.get("env")
    entry = next(i for i, e in enumerate(env if isinstance(env, list) else []) if e["name"] == STORAGE_URI)
    origin = unit.source.origin(*path, "containers", index, "env", entry)
    sources = (ModelSource(uri=uri, mount_path=MODEL_PATH, origin=origin),)
    container_name = getattr(unit.spec.spec.predictor, "storage_container_name", None) if path == PREDICTOR else None
    yield ModelIntent(origin=origin, sources=sources, storage=storage, container_name=container_name or "")


def pulls_models(spec: PredictorSpec) -> bool:
    """Whether the predictor serves models that an agent pulls later, for it names none itself.

    KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, IsMMSPredictor
    """
    if spec.containers:
        return variable(spec.containers[0], "MULTI_MODEL_SERVER") == "true"
    model = spec.model
    if model is None or model.model_format.name == "huggingface":
        return False
    return model.storage_uri is None and model.storage is None and not spec.storage_uris


def split_transformer(unit: Unit, env: Env) -> Component:
    """The transformer: the user's containers, the first of which is told where the predictor is."""
    component = bare_component(unit, env, Role.TRANSFORMER, transformer_name(unit.name), TRANSFORMER)
    containers = component.extension.containers
    added = transformer_arguments(containers[0].get("args") or [], facts_of(unit, component.extension))
    pod = with_arguments(component.pod, added)
    pod = set_variable(pod, containers[0]["name"], "INFERENCE_SERVICE_NAME", unit.name, Origin(Layer.KSERVE_DEFAULT, BY))
    model = custom_model(unit, containers, None, TRANSFORMER)
    intents = (*component.intents, *model)
    return replace(component, pod=pod, intents=intents, implementation=(*TRANSFORMER, "containers", 0))


def with_arguments(pod: Tree, added: list[str]) -> Tree:
    """A pod whose first container gets more arguments after its own."""
    first = pod.value["containers"][0]
    own = list(first.get("args") or [])
    if not added:
        return pod
    containers = [{**first, "args": [*own, *added]}, *pod.value["containers"][1:]]
    origin = Origin(Layer.KSERVE_DEFAULT, BY)
    changed = pod.put(("containers",), containers, pod.sub("containers"))
    kept = pod.sub("containers", first.get("name", 0), "args")
    return changed.note(("containers", first.get("name", 0), "args"), Concat(len(own), kept, origin))


def split_explainer(unit: Unit, env: Env) -> Component:
    """The explainer: ART, or the user's containers."""
    component = bare_component(unit, env, Role.EXPLAINER, explainer_name(unit.name), EXPLAINER)
    art = unit.spec.spec.explainer.art if unit.spec.spec.explainer is not None else None
    facts = facts_of(unit, component.extension)
    if art is None:
        containers = component.extension.containers
        added = explainer_arguments(containers[0].get("args") or [], facts)
        intents = (*component.intents, *custom_model(unit, containers, None, EXPLAINER))
        pod = with_arguments(component.pod, added)
        return replace(component, pod=pod, intents=intents, implementation=(*EXPLAINER, "containers", 0))
    container = art_container(art, facts, env.platform.explainers.art.image)
    at = unit.source.origin(*EXPLAINER, "art")
    pod = component.pod.put(("containers",), [container, *component.extension.containers[1:]], at)
    intents = component.intents
    if art.storage_uri:
        origin = unit.source.origin(*EXPLAINER, "art", "storageUri")
        source = ModelSource(uri=art.storage_uri, mount_path=MODEL_PATH, origin=origin)
        intents = (*intents, ModelIntent(origin=origin, sources=(source,)))
    return replace(component, pod=pod, intents=intents, implementation=(*EXPLAINER, "art"))
