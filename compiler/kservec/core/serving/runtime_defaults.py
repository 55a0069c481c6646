"""What a chosen runtime's kind of server changes in the service: protocol, environment, arguments, labels.

KServe: pkg/apis/serving/v1beta1/inference_service_defaults.go, SetRuntimeDefaults; pkg/constants/constants.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.catalog import PROTOCOL_RANK
from kservec.core.names import MODEL_PATH, SERVER_TYPE

if TYPE_CHECKING:
    from kservec.core.catalog import Runtime
    from kservec.core.tree import Json
    from kservec.spec.inferenceservice import ModelSpec

MLSERVER_CLASSES = {
    "xgboost": "mlserver_xgboost.XGBoostModel",
    "lightgbm": "mlserver_lightgbm.LightGBMModel",
    "mlflow": "mlserver_mlflow.MLflowRuntime",
}
MLSERVER_DEFAULT_CLASS = "mlserver_sklearn.SKLearnModel"

SERVER_TYPES_BY_NAME = {
    "kserve-mlserver": "mlserver",
    "kserve-torchserve": "torchserve",
    "kserve-tritonserver": "tritonserver",
    "kserve-tensorflow-serving": "tensorflow-serving",
    "kserve-huggingfaceserver": "huggingfaceserver",
    "kserve-vllmserver": "vllmserver",
}
RANKED = {rank: protocol for protocol, rank in PROTOCOL_RANK.items()}
"""Protocols by their rank."""


class ServerDefaults(NamedTuple):
    """The protocol to use if none was asked for, the model container with its additions, and labels for the service."""

    protocol: str
    container: Json
    labels: Mapping[str, str] = {}


def server_type(runtime: Runtime, *, empty_counts: bool) -> str:
    """The kind of server a runtime runs: its annotation, or what its name says.

    `empty_counts` tells whether an annotation that is empty hides the name, as it does for defaults but not for image
    tags. KServe: inference_service_defaults.go, SetRuntimeDefaults; utils.go, UpdateImageTag
    """
    annotated = runtime.annotations.get(SERVER_TYPE)
    if annotated or (annotated is not None and empty_counts):
        return annotated
    return SERVER_TYPES_BY_NAME.get(runtime.name, "")


def with_missing_env(container: Json, *variables: tuple[str, str]) -> Json:
    """A container with those variables appended that it does not name yet."""
    env = container.get("env") or []
    present = {e["name"] for e in env}
    added = [{"name": n, "value": v} for n, v in variables if n not in present]
    return {**container, "env": [*env, *added]} if added else container


def mlserver_defaults(model: ModelSpec, container: Json, service: str) -> ServerDefaults:
    """MLServer: protocol v2, the model's name and place as environment, its class as a label."""
    if model.storage_uri is None and model.storage is None:
        container = with_missing_env(container, ("MLSERVER_LOAD_MODELS_AT_STARTUP", "false"))
    else:
        named = (("MLSERVER_MODEL_NAME", service), ("MLSERVER_MODEL_URI", MODEL_PATH))
        container = with_missing_env(container, *named)
    model_class = MLSERVER_CLASSES.get(model.model_format.name, MLSERVER_DEFAULT_CLASS)
    return ServerDefaults(model.protocol_version or "v2", container, {"modelClass": model_class})


def torchserve_defaults(model: ModelSpec, container: Json, service: str) -> ServerDefaults:
    """TorchServe: protocol v1, and the envelope that fits it. The variable is appended even if it is there."""
    del service
    protocol = model.protocol_version or "v1"
    envelope = "kservev2" if protocol in ("v2", "grpc-v2") else "kserve"
    env = [*(container.get("env") or []), {"name": "PROTOCOL_VERSION", "value": protocol}]
    return ServerDefaults(protocol, {**container, "env": env}, {"serviceEnvelope": envelope})


def triton_defaults(model: ModelSpec, container: Json, service: str) -> ServerDefaults:
    """Triton: protocol v2; without a model it waits to be told which to load."""
    del service
    if model.storage_uri is None and model.storage is None:
        container = {**container, "args": [*(container.get("args") or []), "--model-control-mode=explicit"]}
    return ServerDefaults(model.protocol_version or "v2", container)


DEFAULTS: Mapping[str, Callable[[ModelSpec, Json, str], ServerDefaults]] = {
    "mlserver": mlserver_defaults,
    "torchserve": torchserve_defaults,
    "tritonserver": triton_defaults,
}


def runtime_defaults(runtime: Runtime, model: ModelSpec, container: Json, service: str) -> ServerDefaults:
    """What the runtime's kind of server adds to a model's container and to the service.

    The protocol falls back to the best that the runtime lists, or none. KServe: components/predictor.go, reconcileModel
    """
    defaults = DEFAULTS.get(server_type(runtime, empty_counts=True))
    if defaults is not None:
        return defaults(model, container, service)
    return ServerDefaults(model.protocol_version or RANKED.get(runtime.rank, ""), container)
