"""Predictors: the component that a predictor's spec makes, be it the stable one's or a canary's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.intents import ModelIntent, ModelSource, ParallelIntent, PullerIntent, RuntimeIntent
from kservec.core.names import KSERVE_CONTAINER, MODEL_PATH
from kservec.core.pods.containers import variable
from kservec.core.pods.strategic import omit_empty
from kservec.core.serving.written import bare_component, custom_model, storage_container

if TYPE_CHECKING:
    from kservec.core.intents import Intent
    from kservec.core.registry import Env
    from kservec.core.serving.written import Written
    from kservec.core.tree import Origin
    from kservec.core.unit import Component
    from kservec.spec.inferenceservice import ModelSpec, PredictorSpec

ANY_SCHEME = "<scheme-placeholder>"
MODEL = "model"


def predictor_component(written: Written[PredictorSpec], env: Env) -> Component:
    """The predictor: a model for a runtime, or the user's own containers."""
    served_by = MODEL if written.spec.model is not None else "containers"
    return bare_component(written, env, predictor_intents(written), (*written.path, served_by))


def predictor_intents(written: Written[PredictorSpec]) -> list[Intent]:
    """What a predictor wants beyond what every component may want."""
    spec, model = written.spec, written.spec.model
    found: list[Intent] = []
    if pulls_models(spec):
        found.append(PullerIntent(origin=written.at()))
    if model is not None:
        container = omit_empty(model.rest)
        found.append(
            RuntimeIntent(origin=written.at(MODEL), model=model, container=container, source=written.source(MODEL))
        )
        found += model_intents(written, *storing(spec, model))
    else:
        found += custom_model(written, KSERVE_CONTAINER)
    if spec.worker_spec is not None:
        found.append(ParallelIntent(origin=written.at("workerSpec"), worker_spec=spec.worker_spec))
    return found


def storing(spec: PredictorSpec, model: ModelSpec) -> tuple[str, ModelSpec]:
    """The field that says where the model lies, and its value.

    A framework does, if there is one beside the model, as canaries can have it.
    KServe: pkg/apis/serving/v1beta1/predictor.go, GetImplementations
    """
    return spec.frameworks[0] if spec.frameworks else (MODEL, model)


def model_intents(written: Written[PredictorSpec], field: str, model: ModelSpec) -> list[ModelIntent]:
    """The model that `storageUri` or `storage.path` names.

    With both, the place of `storage.path` comes first; attach_models refuses the two together, as KServe does.
    """
    places: list[tuple[str, Origin]] = []
    if model.storage is not None and model.storage.path is not None:
        uri = f"{ANY_SCHEME}://{model.storage.path.removeprefix('/')}"
        places.append((uri, written.at(field, "storage", "path")))
    if model.storage_uri is not None:
        places.append((model.storage_uri, written.at(field, "storageUri")))
    container_name = storage_container(written) if model.storage_uri is not None else ""
    return [
        ModelIntent(
            origin=origin,
            sources=(ModelSource(uri=uri, mount_path=MODEL_PATH, origin=origin),),
            storage=model.storage,
            container_name=container_name,
            confidential=model.confidential,
        )
        for uri, origin in places
    ]


def pulls_models(spec: PredictorSpec) -> bool:
    """Whether the predictor serves models that an agent pulls later, for it names none itself.

    KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, IsMMSPredictor
    """
    if spec.containers:
        return variable(spec.containers[0], "MULTI_MODEL_SERVER") == "true"
    if spec.model is None:
        return False
    _, model = storing(spec, spec.model)
    if model.storage_uri is not None or model.storage is not None or spec.storage_uris:
        return False
    return spec.model.model_format.name != "huggingface" and spec.huggingface is None
