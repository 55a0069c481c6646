"""InferenceGraph v1alpha1 (serving.kserve.io), KServe 0.21.

The router reads the same models as the compiler. Kubernetes structures (resources, affinity, tolerations) stay JSON.
KServe: pkg/apis/serving/v1alpha1/inference_graph.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from kservec.spec.checked import Json, Model, Resource

ROOT = "root"

RouterType = Literal["Sequence", "Splitter", "Ensemble", "Switch"]
Dependency = Literal["Soft", "Hard", ""]
ScaleMetric = Literal["cpu", "memory", "concurrency", "rps"]


class InferenceStep(Model):
    """One step of a node: where it goes, when, with what input, and whether its failure is the graph's."""

    name: str = ""
    node_name: str = ""
    service_name: str = ""
    service_url: str = ""
    data: str = ""
    map_predictions_to_instances: bool = False
    weight: int | None = None
    condition: str = ""
    dependency: Dependency = ""


class InferenceRouter(Model):
    """A node: how it routes, and its steps."""

    router_type: RouterType
    steps: Sequence[InferenceStep] = ()


class RouterTimeouts(Model):
    """Time limits of the router, in seconds."""

    server_read: int | None = None
    server_write: int | None = None
    server_idle: int | None = None
    service_client: int | None = None


class InferenceGraphSpec(Model):
    """`spec` of an InferenceGraph; `timeout` is in seconds."""

    nodes: Mapping[str, InferenceRouter]
    resources: Mapping[str, Json] = Field(default_factory=dict)
    affinity: Mapping[str, Json] | None = None
    timeout: int | None = None
    router_timeouts: RouterTimeouts | None = None
    min_replicas: int | None = None
    max_replicas: int = 0
    scale_target: int | None = None
    scale_metric: ScaleMetric | None = None
    tolerations: Sequence[Mapping[str, Json]] = ()
    node_selector: Mapping[str, str] = Field(default_factory=dict)
    node_name: str = ""
    service_account_name: str = ""


class InferenceGraph(Resource):
    """An InferenceGraph object."""

    spec: InferenceGraphSpec
