"""The sample service that templates of a config are tried on before any service uses the config.

It has what KServe's sample has, so that a template which reads a field of it is taken here if it is taken there.
KServe: pkg/controller/v1alpha2/llmisvc/sample.go, LLMInferenceServiceSample
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.names import COMPONENT_LABEL, NAME_LABEL, PART_OF
from kservec.core.llm.templates import data_of, filled
from kservec.core.names import GROUP

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.golang.formatting import GoValue
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json

TEMPLATE = Code(
    "llm/config-template",
    Severity.ERROR,
    "a config with a template that fails",
    "Templates in a config are Go templates over the service that uses it (.Name, .Namespace, .Spec...) and "
    ".GlobalConfig. KServe fills in a config with a sample service before it takes it, so a template that fails there "
    "makes the config unusable for all services.",
)

NAME: Final = "test-llm-preset"
NAMESPACE: Final = "test-llm-preset-test"
POD_PORTS: Final = [{"containerPort": 8000, "name": "http", "protocol": "TCP"}]


def pod(resources: Json, **more: Json) -> Json:
    """A pod of the sample."""
    container = {
        "name": "kserve-container",
        "image": "ghcr.io/llm-d/llm-d:v0.2.0",
        "resources": {"limits": resources, "requests": resources},
    }
    return {"containers": [{**container, **more}]}


METADATA: Final = {
    "name": NAME,
    "namespace": NAMESPACE,
    "labels": {
        NAME_LABEL: PART_OF,
        "app.kubernetes.io/instance": NAME,
        COMPONENT_LABEL: "llminferenceservice",
    },
    "annotations": {f"{GROUP}/model-uri": "llama"},
}
SPEC: Final = {
    "model": {"name": "llama", "uri": "llama"},
    "replicas": 2,
    "parallelism": {"data": 4, "dataLocal": 2, "tensor": 1, "expert": True},
    "template": {
        **pod(
            {"cpu": "4", "memory": "8Gi"},
            ports=POD_PORTS,
            env=[
                {"name": "MODEL_NAME", "value": "facebook/opt-125m"},
                {"name": "VLLM_LOGGING_LEVEL", "value": "INFO"},
            ],
        ),
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "nodeSelector": {"node.kubernetes.io/instance-type": "gpu-node"},
    },
    "worker": pod({"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "1"}),
    "prefill": {
        "replicas": 1,
        "parallelism": {"tensor": 1, "pipeline": 1},
        "template": pod({"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": "2"}, ports=POD_PORTS),
    },
    "router": {
        "route": {"http": {"refs": [{"name": "custom-http-route"}]}},
        "gateway": {"refs": [{"name": "kserve-ingress-gateway", "namespace": "kserve"}]},
        "scheduler": {
            "pool": {"ref": {"name": "custom-inference-pool"}},
            "template": {"containers": [{"name": "scheduler"}]},
        },
    },
}
SETTINGS: Final[Mapping[str, GoValue]] = {
    "SystemNamespace": "kserve",
    "IngressGatewayName": "kserve-ingress-gateway",
    "IngressGatewayNamespace": "kserve",
    "EnableTLS": True,
    "ModelBasedRoutingHeaderName": "X-Gateway-Model-Name",
    "InferencePoolNamespacedName": f"{NAMESPACE}/{NAME}-inference-pool",
}


def check_templates(subject: Subject) -> Iterator[Diagnostic]:
    """A config's templates, in its metadata as in its spec."""
    if "{{" not in repr(subject.value):
        return
    for error in filled(subject.value, data_of(METADATA, SPEC, SETTINGS)).errors:
        help_text = "say it without that" if error.unsupported else "correct the text between {{ and }}"
        yield subject.finding(
            TEMPLATE, f"a template fails on a sample service: {error.message}", error.where, help_text
        )
