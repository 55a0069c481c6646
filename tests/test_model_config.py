"""The list of models that the agent pulls."""

from __future__ import annotations

from kservec.core.intents import PulledModel
from kservec.core.sidecars.model_config import models_json


def test_models_are_listed_by_name_as_go_writes_them() -> None:
    """The order does not depend on that of the input, and quantities are canonical."""
    models = [PulledModel("b", "s3://b?x=1&y", "onnx", "512Mi"), PulledModel("a", "gs://a", "sklearn", "1.5Gi")]
    assert models_json(models) == (
        '[{"modelName":"a","modelSpec":{"storageUri":"gs://a","framework":"sklearn","memory":"1536Mi"}},'
        '{"modelName":"b","modelSpec":{"storageUri":"s3://b?x=1\\u0026y","framework":"onnx","memory":"512Mi"}}]'
    )
