"""InferenceService v1beta1 (serving.kserve.io), KServe 0.21.

Fields that KServe inlines from Kubernetes (a component's PodSpec, a model's Container) are in `Model.rest`.
KServe: pkg/apis/serving/v1beta1/{inference_service,predictor,component,transformer,explainer}.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kservec.spec.base import EMPTY, Json, Model, Resource

FRAMEWORKS = (
    "sklearn", "tensorflow", "xgboost", "pytorch", "triton", "onnx", "huggingface", "pmml", "lightgbm", "paddle",
)  # fmt: skip
_FRAMEWORKS = frozenset(FRAMEWORKS)


class StorageSpec(Model):
    """Where a model lies, by a key of the storage Secret instead of a URI."""

    path: str | None = None
    schema_path: str | None = None
    parameters: Mapping[str, str] | None = None
    key: str | None = None


class StorageUri(Model):
    """One of several models, and where it is mounted."""

    uri: str
    mount_path: str = "/mnt/models"


class ModelFormat(Model):
    """The format a model is stored in."""

    name: str = ""
    version: str | None = None


class Confidential(Model):
    """Serving of encrypted models."""

    enabled: bool = False
    resource_id: str | None = None


class ModelSpec(Model):
    """`predictor.model`, and each framework shorthand; the rest is a Container."""

    model_format: ModelFormat = ModelFormat()
    runtime: str | None = None
    storage_uri: str | None = None
    storage: StorageSpec | None = None
    runtime_version: str | None = None
    protocol_version: str | None = None
    confidential: Confidential | None = None
    name: str = ""


class ArtExplainer(Model):
    """The Adversarial Robustness Toolbox explainer; the rest is a Container."""

    type: str = ""
    storage_uri: str | None = None
    storage: StorageSpec | None = None
    runtime_version: str | None = None
    config: Mapping[str, str] | None = None
    name: str = ""


class LoggerStorage(Model):
    """Where the agent stores payload logs."""

    path: str | None = None
    parameters: Mapping[str, str] | None = None
    key: str | None = None
    service_account_name: str | None = None


class Logger(Model):
    """Payload logging."""

    url: str | None = None
    mode: str = ""
    metadata_headers: Sequence[str] | None = None
    metadata_annotations: Sequence[str] | None = None
    storage: LoggerStorage | None = None
    marshaller_url: str | None = None
    batch_size: int | None = None
    batch_interval: str | None = None


class Batcher(Model):
    """Request batching."""

    max_batch_size: int | None = None
    max_latency: int | None = None
    timeout: int | None = None


class MetricTarget(Model):
    """What an autoscaling metric is held at. Quantities keep the user's spelling."""

    type: str = ""
    value: Json = None
    average_value: Json = None
    average_utilization: int | None = None


class ResourceMetric(Model):
    """A cpu or memory metric."""

    name: str = ""
    target: MetricTarget = MetricTarget()


class MetricQuery(Model):
    """Where an external or pod metric is read, and what is asked."""

    backend: str = ""
    server_address: str = ""
    query: str = ""
    namespace: str = ""
    metric_names: Sequence[str] = ()
    operation_over_time: str = ""


class SecretName(Model):
    """A reference by name alone."""

    name: str = ""


class AuthenticationRef(Model):
    """How KEDA authenticates at an external metric's server."""

    auth_modes: str = ""
    authentication_ref: SecretName = SecretName()


class ExternalMetric(Model):
    """A metric of prometheus or graphite."""

    metric: MetricQuery = MetricQuery()
    authentication_ref: AuthenticationRef | None = None
    target: MetricTarget = MetricTarget()


class PodMetric(Model):
    """A metric that an OpenTelemetry collector takes from the pod."""

    metric: MetricQuery = MetricQuery()
    target: MetricTarget = MetricTarget()


class MetricsSpec(Model):
    """One entry of `autoScaling.metrics`; `type` says which member counts."""

    type: str = ""
    resource: ResourceMetric | None = None
    external: ExternalMetric | None = None
    podmetric: PodMetric | None = None


class AutoScaling(Model):
    """Metrics and behaviour of an autoscaler. `behavior` is an autoscaling/v2 structure."""

    metrics: Sequence[MetricsSpec] = ()
    behavior: Mapping[str, Json] | None = None


class ComponentExtension(Model):
    """What predictor, transformer and explainer have in common; the rest is a PodSpec."""

    min_replicas: int | None = None
    max_replicas: int = 0
    scale_target: int | None = None
    scale_metric: str | None = None
    scale_metric_type: str | None = None
    auto_scaling: AutoScaling | None = None
    container_concurrency: int | None = None
    timeout: int | None = None
    canary_traffic_percent: int | None = None
    logger: Logger | None = None
    batcher: Batcher | None = None
    labels: Mapping[str, str] = EMPTY
    annotations: Mapping[str, str] = EMPTY
    deployment_strategy: Mapping[str, Json] | None = None
    storage_uris: Sequence[StorageUri] = ()

    @property
    def containers(self) -> list[dict[str, Json]]:
        """The containers that the user wrote in the pod spec."""
        return self.rest.get("containers") or []


class WorkerSpec(Model):
    """The pods that share the work of a multi-node predictor; the rest is a PodSpec."""

    pipeline_parallel_size: int | None = None
    tensor_parallel_size: int | None = None


class PredictorSpec(ComponentExtension):
    """`spec.predictor`. After defaulting a framework shorthand is gone and `model` stands in its place."""

    name: str = ""
    model: ModelSpec | None = None
    sklearn: ModelSpec | None = None
    tensorflow: ModelSpec | None = None
    xgboost: ModelSpec | None = None
    pytorch: ModelSpec | None = None
    triton: ModelSpec | None = None
    onnx: ModelSpec | None = None
    huggingface: ModelSpec | None = None
    pmml: ModelSpec | None = None
    lightgbm: ModelSpec | None = None
    paddle: ModelSpec | None = None
    worker_spec: WorkerSpec | None = None
    storage_container_name: str | None = None

    @property
    def frameworks(self) -> tuple[tuple[str, ModelSpec], ...]:
        """The framework shorthands that are set, in KServe's order."""
        if _FRAMEWORKS.isdisjoint(self.json):
            return ()
        return tuple([(name, getattr(self, name)) for name in FRAMEWORKS if self.json.get(name) is not None])


class TransformerSpec(ComponentExtension):
    """`spec.transformer`."""


class ExplainerSpec(ComponentExtension):
    """`spec.explainer`."""

    art: ArtExplainer | None = None


class CanarySpec(Model):
    """One entry of `spec.canary`."""

    predictor: PredictorSpec
    traffic_percent: int


class InferenceServiceSpec(Model):
    """`spec` of an InferenceService."""

    predictor: PredictorSpec
    transformer: TransformerSpec | None = None
    explainer: ExplainerSpec | None = None
    canary: Sequence[CanarySpec] = ()


class InferenceService(Resource):
    """An InferenceService after defaulting."""

    spec: InferenceServiceSpec
