"""InferenceGraph v1alpha1 (serving.kserve.io), KServe 0.21, as the compiler reads it: views of JSON.

The router is handed graphs that no schema has checked; its models of the same fields are in `inferencegraph.py`.
KServe: pkg/apis/serving/v1alpha1/inference_graph.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from kservec.spec.base import EMPTY, Json, Model, Resource

ROOT = "root"
SEQUENCE, SPLITTER, ENSEMBLE, SWITCH = "Sequence", "Splitter", "Ensemble", "Switch"


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
    dependency: str = ""


class InferenceRouter(Model):
    """A node: how it routes, and its steps."""

    router_type: str = ""
    steps: Sequence[InferenceStep] = ()


class RouterTimeouts(Model):
    """Time limits of the router, in seconds."""

    server_read: int | None = None
    server_write: int | None = None
    server_idle: int | None = None
    service_client: int | None = None


class InferenceGraphSpec(Model):
    """`spec` of an InferenceGraph; `timeout` is in seconds."""

    nodes: Mapping[str, Json] = EMPTY
    resources: Mapping[str, Json] = EMPTY
    affinity: Mapping[str, Json] | None = None
    timeout: int | None = None
    router_timeouts: RouterTimeouts | None = None
    min_replicas: int | None = None
    max_replicas: int = 0
    scale_target: int | None = None
    scale_metric: str | None = None
    tolerations: Sequence[Json] = ()
    node_selector: Mapping[str, str] = EMPTY
    node_name: str = ""
    service_account_name: str = ""

    @cached_property
    def routers(self) -> dict[str, InferenceRouter]:
        """The nodes by name, in the order in which they are written."""
        return {name: InferenceRouter.read(node) for name, node in self.nodes.items()}


class InferenceGraph(Resource):
    """An InferenceGraph object."""

    spec: InferenceGraphSpec
