"""ServingRuntime and ClusterServingRuntime v1alpha1 (serving.kserve.io), KServe 0.21.

KServe: pkg/apis/serving/v1alpha1/servingruntime_types.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from kservec.spec.base import Json, Model


class SupportedModelFormat(Model):
    """A format that a runtime serves."""

    name: str = ""
    version: str | None = None
    auto_select: bool = False
    priority: int | None = None


class ServingRuntimePod(Model):
    """The parts of a pod that a runtime may give."""

    containers: Sequence[Mapping[str, Json]] = ()
    volumes: Sequence[Mapping[str, Json]] = ()
    node_selector: Mapping[str, str] = Field(default_factory=dict)
    affinity: Mapping[str, Json] | None = None
    tolerations: Sequence[Mapping[str, Json]] = ()
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)
    image_pull_secrets: Sequence[Mapping[str, Json]] = ()
    scheduler_name: str = ""
    resource_claims: Sequence[Mapping[str, Json]] = ()
    host_ipc: bool = Field(default=False, alias="hostIPC")


class RuntimeWorkerSpec(ServingRuntimePod):
    """The worker pods of a multi-node runtime."""

    pipeline_parallel_size: int | None = None
    tensor_parallel_size: int | None = None


class ServingRuntimeSpec(ServingRuntimePod):
    """`spec` of both runtime kinds."""

    supported_model_formats: Sequence[SupportedModelFormat] = ()
    multi_model: bool = False
    disabled: bool = False
    protocol_versions: Sequence[str] = ()
    worker_spec: RuntimeWorkerSpec | None = None
