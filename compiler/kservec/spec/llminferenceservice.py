"""LLMInferenceService v1alpha2 (serving.kserve.io), KServe 0.21.

The spec stays JSON: most of it is laid over presets before anybody reads it.
KServe: pkg/apis/serving/v1alpha2/llm_inference_service_types.go
"""

from __future__ import annotations

from collections.abc import Mapping

from kservec.spec.base import Json, Resource


class LLMInferenceService(Resource):
    """An LLMInferenceService."""

    spec: Mapping[str, Json]
