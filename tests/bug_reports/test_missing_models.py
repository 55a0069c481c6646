"""Predictors that name no model: whether their servers can do without."""

from __future__ import annotations

from typing import Any

import pytest

from .making import SERVER, built, found, model, runtime, service

NAME = "storage/no-model-named"
PATH = "/mnt/models"
MOUNTED = {"volumeMounts": [{"name": "own", "mountPath": "/mnt"}]}
OWN_VOLUME = {"volumes": [{"name": "own", "emptyDir": {}}]}
TRAINED = {
    "apiVersion": "serving.kserve.io/v1alpha1",
    "kind": "TrainedModel",
    "metadata": {"name": "one", "namespace": "ml"},
    "spec": {
        "inferenceService": "churn",
        "model": {"storageUri": "s3://models/one", "framework": "sklearn", "memory": "1Gi"},
    },
}
MEMORY = {"resources": {"limits": {"memory": "2Gi"}}}


@pytest.mark.parametrize(
    ("predictor", "remedy"),
    [
        (model("sklearn", None), "add storageUri, or compile the TrainedModels of this service in the same run"),
        ({"sklearn": {}}, "add storageUri, or compile the TrainedModels of this service in the same run"),
        (model("tensorflow", None), "add storageUri, or compile the TrainedModels of this service in the same run"),
        (model("sklearn", None, model={"storage": {"key": "a"}}), "add storageUri"),
        (model("huggingface", None), "add storageUri, or name the model in args: --model_id=OWNER/MODEL"),
        (model("vLLM", None), "add storageUri, or name the model in args: --model=OWNER/MODEL"),
        (
            model("vLLM", None, model={"args": ["--dtype=half"]}),
            "add storageUri, or name the model in args: --model=OWNER/MODEL",
        ),
    ],
)
def test_a_server_that_needs_a_model(predictor: dict[str, Any], remedy: str) -> None:
    """The warning stands at the model and says what can be done for this kind of server."""
    result = built(service(predictor))
    (warning,) = [d for d in result.diagnostics if d.code.slug == NAME]
    assert result.ok
    assert warning.help == remedy
    assert warning.span is not None
    assert warning.span.line > 0


@pytest.mark.parametrize(
    "predictor",
    [
        model("sklearn"),
        model("sklearn", None, storageUris=[{"uri": "s3://a/b", "mountPath": f"{PATH}/b"}]),
        model("sklearn", None, model={"storage": {"path": "a", "parameters": {"type": "s3", "bucket": "b"}}}),
        model("triton", None),
        model("mlflow", None),
        model("huggingface", None, model={"args": ["--model_id=acme/tiny"]}),
        model("huggingface", None, model={"args": ["--model_id", "acme/tiny"]}),
        model("huggingface", None, model={"env": [{"name": "MODEL_ID", "value": "acme/tiny"}]}),
        model("huggingface", None, model={"image": "registry.example.com/baked-in:1"}),
        model("huggingface", None, model={"command": ["serve"]}),
        model("sklearn", None, model={"image": "registry.example.com/baked-in:1"}),
        model("vLLM", None, model={"command": ["python", "serve.py"]}),
        model("huggingface", None, model=MOUNTED, **OWN_VOLUME),
        model("vLLM", None, model={"args": ["--model=acme/tiny"]}),
        model("vLLM", None, model={"args": ["--model", "acme/tiny"]}),
        {"containers": [{"name": SERVER, "image": "server:1", "args": [f"--model_dir={PATH}"]}]},
    ],
)
def test_a_server_that_can_do_without(predictor: dict[str, Any]) -> None:
    """Nothing is said of models that are named in any way, of servers that wait for some, and of own containers."""
    assert NAME not in found(built(service(predictor)))


def test_trained_models_are_models() -> None:
    """Whoever compiles a TrainedModel for the service has a server of several models."""
    assert NAME not in found(built(service(model("sklearn", None, model=MEMORY)), TRAINED))


@pytest.mark.parametrize(("args", "said"), [([f"--weights={PATH}/a"], True), (["--weights=/opt/weights"], False)])
def test_runtimes_of_users_say_it_by_their_arguments(args: list[str], said: bool) -> None:
    """A runtime of any name needs a model where it is told to look for one; an image may bring its own elsewhere."""
    assert (NAME in found(built(service(model(uri=None)), runtime(args=args)))) is said
