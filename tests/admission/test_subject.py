"""What KServe counts as a component's implementation, and where its storage URI is."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.admission.subject import parts_of, predictor_implementations, storage_uri

MODEL = {"modelFormat": {"name": "sklearn"}}


@pytest.mark.parametrize(
    ("predictor", "expected"),
    [
        ({}, []),
        ({"containers": []}, []),
        ({"model": MODEL}, [("model",)]),
        ({"model": None}, []),
        ({"model": MODEL, "containers": [{"name": "side"}]}, [("model",)]),
        ({"model": MODEL, "containers": [{"name": "kserve-container"}]}, [("model",), ("containers", 0)]),
        ({"containers": [{"name": "a"}, {"name": "b"}]}, [("containers", 0)]),
        ({"containers": [{"name": "a"}, {"name": "kserve-container"}]}, [("containers", 1)]),
        ({"model": MODEL, "xgboost": {}, "sklearn": {}}, [("sklearn",), ("xgboost",), ("model",)]),
    ],
    ids=[
        "nothing", "no containers", "model", "null", "sidecar", "model and container", "first container",
        "named container", "three models",
    ],
)  # fmt: skip
def test_implementations_of_a_predictor(predictor: dict[str, Any], expected: list[Any]) -> None:
    """Models, frameworks and containers named kserve-container count; other containers only where nothing else does."""
    assert list(predictor_implementations(predictor)) == expected


def env(value: str | None) -> dict[str, Any]:
    """A container with the variable STORAGE_URI."""
    entry = {"name": "STORAGE_URI"} if value is None else {"name": "STORAGE_URI", "value": value}
    return {"name": "kserve-container", "env": [entry]}


@pytest.mark.parametrize(
    ("spec", "index", "expected"),
    [
        ({"predictor": {"model": {"storageUri": "s3://a"}}}, 0, "s3://a"),
        ({"predictor": {"model": {}}}, 0, None),
        ({"predictor": {"containers": [env("s3://a")]}}, 0, "s3://a"),
        ({"predictor": {"containers": [env(None)]}}, 0, ""),
        ({"predictor": {"containers": [{**env("s3://a"), "name": "other"}]}}, 0, None),
        ({"predictor": {}, "transformer": {"containers": [env("s3://a")]}}, 1, "s3://a"),
        ({"predictor": {}, "explainer": {"art": {"storageUri": "s3://a"}}}, 1, "s3://a"),
        ({"predictor": {}, "explainer": {"art": {"storageUri": ""}}}, 1, None),
        ({"predictor": {"sklearn": {"storageUri": "s3://a"}, "onnx": {"storageUri": "s3://b"}}}, 0, None),
    ],
    ids=[
        "model", "model without", "variable", "variable without value", "another container", "transformer", "art",
        "art with an empty one", "two implementations",
    ],
)  # fmt: skip
def test_storage_uri_of_a_component(spec: dict[str, Any], index: int, expected: str | None) -> None:
    """A model has a field, a container a variable; a component with several implementations has none."""
    uri = storage_uri(parts_of(spec)[index])
    assert (uri.uri if uri is not None else None) == expected
