"""ServingRuntime and ClusterServingRuntime v1alpha1 (serving.kserve.io), KServe 0.21.

KServe: pkg/apis/serving/v1alpha1/servingruntime_types.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kservec.spec.base import EMPTY, Json, Model


class SupportedModelFormat(Model):
    """A format that a runtime serves."""

    name: str = ""
    version: str | None = None
    auto_select: bool = False
    priority: int | None = None


class ServingRuntimePod(Model):
    """The parts of a pod that a runtime may give."""

    json_names: ClassVar[Mapping[str, str]] = {"host_ipc": "hostIPC"}

    containers: Sequence[Mapping[str, Json]] = ()
    volumes: Sequence[Mapping[str, Json]] = ()
    node_selector: Mapping[str, str] = EMPTY
    affinity: Mapping[str, Json] | None = None
    tolerations: Sequence[Mapping[str, Json]] = ()
    labels: Mapping[str, str] = EMPTY
    annotations: Mapping[str, str] = EMPTY
    image_pull_secrets: Sequence[Mapping[str, Json]] = ()
    scheduler_name: str = ""
    resource_claims: Sequence[Mapping[str, Json]] = ()
    host_ipc: bool = False


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
