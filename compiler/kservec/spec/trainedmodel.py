"""TrainedModel v1alpha1 (serving.kserve.io), KServe 0.21.

KServe: pkg/apis/serving/v1alpha1/trained_model.go
"""

from __future__ import annotations

from kservec.spec.base import Model, Resource


class ModelSpec(Model):
    """The model: where it lies, what serves it, and how much memory it takes."""

    storage_uri: str
    framework: str
    memory: str | int


class TrainedModelSpec(Model):
    """`spec` of a TrainedModel."""

    inference_service: str
    model: ModelSpec


class TrainedModel(Resource):
    """One more model for the server of an InferenceService."""

    spec: TrainedModelSpec
