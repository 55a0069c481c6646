"""Names that KServe gives to objects, containers, volumes, labels and annotations.

Generated names come from here alone. KServe: pkg/constants/constants.go
"""

from __future__ import annotations

GROUP = "serving.kserve.io"
INTERNAL = "internal.serving.kserve.io/"

KSERVE_CONTAINER = "kserve-container"
TRANSFORMER_CONTAINER = "transformer-container"
WORKER_CONTAINER = "worker-container"
STORAGE_INITIALIZER = "storage-initializer"
AGENT_CONTAINER = "agent"
QUEUE_PROXY = "queue-proxy"
KNATIVE_CONTAINER = "user-container"
"""What Knative calls a container without a name."""

PULL_KEYS = (".dockerconfigjson", ".dockercfg")
"""The keys of pull secrets, of which either will do."""
GRAPH_VOLUME = "graph"

MODEL_PATH = "/mnt/models"
DEFAULT_PORT = 8080
SERVICE_PORT = 80
AGENT_PORT = 9081

INFERENCESERVICE_LABEL = f"{GROUP}/inferenceservice"
INFERENCEGRAPH_LABEL = f"{GROUP}/inferencegraph"
WORKLOAD_KIND_LABEL = f"{GROUP}/kind"
COMPONENT_LABEL = "component"
APP_LABEL = "app"
GENERATION_LABEL = "isvc.generation"
ROLE_LABEL = "multinode/role"
CLUSTER_LOCAL_LABEL = "networking.kserve.io/visibility"
CLUSTER_LOCAL = "cluster-local"
KNATIVE_VISIBILITY_LABEL = "networking.knative.dev/visibility"

DEPLOYMENT_MODE = f"{GROUP}/deploymentMode"
AUTOSCALER_CLASS = f"{GROUP}/autoscalerClass"
STOP = f"{GROUP}/stop"
SERVER_TYPE = f"{GROUP}/server-type"
GKE_ACCELERATOR = f"{GROUP}/gke-accelerator"
READ_ONLY = "storage.kserve.io/readonly"
STORAGE_INITIALIZER_UID = f"{GROUP}/storage-initializer-uid"
EXECUTOR_BACKEND = "multinode/executor-backend"
GPU_RESOURCE_TYPES = f"{GROUP}/gpu-resource-types"
DISABLE_LOCAL_MODEL = f"{GROUP}/disable-localmodel"
NODE_GROUP = f"{GROUP}/nodegroup"
ENABLE_METRIC_AGGREGATION = f"{GROUP}/enable-metric-aggregation"
ENABLE_PROMETHEUS_SCRAPING = f"{GROUP}/enable-prometheus-scraping"
PROMETHEUS_PORT = "prometheus.kserve.io/port"
PROMETHEUS_PATH = "prometheus.kserve.io/path"
MODEL_FORMAT = "modelFormat"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

DISALLOWED_ANNOTATIONS = (
    "autoscaling.knative.dev/min-scale",
    "autoscaling.knative.dev/max-scale",
    f"{INTERNAL}storage-initializer-sourceuri",
    LAST_APPLIED,
    MODEL_FORMAT,
)
DISALLOWED_LABELS = (KNATIVE_VISIBILITY_LABEL,)


def predictor_name(service: str, predictor: str = "") -> str:
    """The name of a predictor's workload and Service."""
    return f"{service}-{predictor}-predictor" if predictor else f"{service}-predictor"


def transformer_name(service: str) -> str:
    """The name of a transformer's workload and Service."""
    return f"{service}-transformer"


def explainer_name(service: str) -> str:
    """The name of an explainer's workload and Service."""
    return f"{service}-explainer"


def worker_name(name: str) -> str:
    """What the `app` label of a component's workers names them."""
    return f"{name}-worker"


def worker_workload_name(service: str) -> str:
    """The name of the workload of a predictor's workers, whatever name the predictor has."""
    return worker_name(predictor_name(service))


def head_service_name(name: str, generation: str) -> str:
    """The Service by which workers find the head of a component."""
    return f"{name.removesuffix('-predictor')}-head-{generation}"


def workers_service_name(name: str, generation: str) -> str:
    """The Service by which the workers of a component are found."""
    return f"{name.removesuffix('-predictor')}-workers-{generation}"


def app_label(name: str) -> str:
    """The value of the `app` label that ties Service and pods together."""
    return f"isvc.{name}"


def model_config_name(service: str) -> str:
    """The ConfigMap that lists a service's trained models; KServe has one shard, 0."""
    return f"modelconfig-{service}-0"


def graph_config_name(graph: str) -> str:
    """The ConfigMap that holds a graph which is too long for an argument."""
    return f"{graph}-graph"
