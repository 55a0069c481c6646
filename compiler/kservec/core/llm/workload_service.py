"""The Service in front of the servers of an LLMInferenceService.

KServe: pkg/controller/v1alpha2/llmisvc/workload.go, reconcileWorkloadService
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.names import MODEL_PORT, WORKLOAD_SERVICE, child_name
from kservec.core.llm.resolved import workload_selector
from kservec.core.llm.settings import scheme
from kservec.core.llm.workload_labels import COMPONENT, base_labels, of_spec, without_routing
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "workload_service")


def workload_service(unit: Unit, env: Env) -> Manifest:
    """The Service: all pods that take requests, whatever they do with them, on the one port that KServe knows."""
    protocol = scheme(env.platform)
    labels = Tree.union((base_labels(unit.name, COMPONENT), MADE), of_spec(unit, ("labels",)))
    written, origin = of_spec(unit, ("annotations",))
    annotations = without_routing(written)
    ref = ObjectRef("v1", "Service", unit.namespace, child_name(unit.name, WORKLOAD_SERVICE))
    port = {
        "name": protocol, "appProtocol": protocol, "protocol": "TCP", "port": MODEL_PORT, "targetPort": MODEL_PORT,
    }  # fmt: skip
    body = {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {
            "name": ref.name,
            "namespace": ref.namespace,
            "labels": labels.value,
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": {"type": "ClusterIP", "selector": workload_selector(unit.name), "ports": [port]},
    }
    places = ((("metadata", "labels"), labels), (("metadata", "annotations"), origin))
    return Manifest(ref, Tree.built(body, ((), MADE), *places))
