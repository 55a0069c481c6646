"""The sections of KServe's ConfigMap `inferenceservice-config`, each the JSON text of one data key.

Unknown keys are ignored and keys match without regard to case, as Go's decoder does: the caller lower-cases them.
KServe: pkg/apis/serving/v1beta1/configmap.go, pkg/types/config.go, pkg/credentials/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import ClassVar, TypeVar

from kservec.spec.base import EMPTY, Json, Model, camel_case

S = TypeVar("S", bound="Section")

LISTS = "Mapping[str, Sequence[str]]"
KINDS: Mapping[str, tuple[type, str]] = {
    "str": (str, "a text"),
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "Mapping[str, str]": (dict, "a map of texts"),
    "Sequence[str]": (list, "a list of texts"),
    LISTS: (dict, "a map of lists of texts"),
}
"""The type of a field as it is written -> what JSON must hold, and in words."""


class SettingError(ValueError):
    """A setting has another value than KServe takes. `keys` lead to it; the text names it."""

    def __init__(self, reason: str, *keys: str) -> None:
        super().__init__(f"{'.'.join(keys)}: {reason}" if keys else reason)
        self.reason = reason
        self.keys = keys


class Section(Model):
    """A section: deaf to unknown keys, strict about types."""

    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Fields that take certain texts only."""

    @classmethod
    def json_name(cls, name: str) -> str:
        """The key of an attribute, as the caller spells keys."""
        return name.replace("_", "")

    @classmethod
    def checked(cls: type[S], json: Json) -> S:
        """The section in a JSON value.

        Raises:
            SettingError: a value has another type than KServe takes.
        """
        if not isinstance(json, dict):
            raise SettingError("no JSON object")
        section = cls.read(json)
        for name, field in cls.fields.items():
            value = json.get(field.key)
            if value is None:
                continue
            if field.read is not None:
                try:
                    type(field.read({})).checked(value)
                except SettingError as error:
                    raise SettingError(error.reason, camel_case(name), *error.keys) from None
            elif name in cls.choices and value not in cls.choices[name]:
                raise SettingError(f"one of {', '.join(filter(None, cls.choices[name]))} is due", camel_case(name))
            else:
                check(camel_case(name), value, field.kind.partition(" | ")[0])
        return section


def check(name: str, value: Json, kind: str) -> None:
    """Check the type of a field's value.

    Raises:
        SettingError: it has another type.
    """
    due, words = KINDS[kind]
    if type(value) is not due or not all(isinstance(item, str) for item in items_of(value, kind)):
        raise SettingError(f"{words} is due", name)


def items_of(value: Json, kind: str) -> Iterable[Json]:
    """The parts of a value that must be texts. A list that is null counts as empty."""
    items: Iterable[Json] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if kind != LISTS:
        return items
    return chain.from_iterable(item if isinstance(item, list) else (None,) for item in items if item is not None)


class ArtImage(Section):
    """Image of the ART explainer."""

    image: str = ""
    default_image_version: str = ""


class Explainers(Section):
    """`explainers`."""

    art: ArtImage = ArtImage()


class ResourceDefaults(Section):
    """Resources for containers of custom components that set none."""

    cpu_limit: str = ""
    memory_limit: str = ""
    cpu_request: str = ""
    memory_request: str = ""


class InferenceServiceSection(Section):
    """`inferenceService`."""

    service_annotation_disallowed_list: Sequence[str] = ()
    service_label_disallowed_list: Sequence[str] = ()
    resource: ResourceDefaults = ResourceDefaults()


class Ingress(Section):
    """`ingress`."""

    enable_gateway_api: bool = False
    kserve_ingress_gateway: str = ""
    ingress_gateway: str = ""
    knative_local_gateway_service: str = ""
    local_gateway: str = ""
    local_gateway_service: str = ""
    ingress_domain: str = ""
    ingress_class_name: str | None = None
    additional_ingress_domains: Sequence[str] | None = None
    domain_template: str = ""
    url_scheme: str = ""
    disable_istio_virtual_host: bool = False
    path_template: str = ""
    disable_ingress_creation: bool = False
    disable_http_route_timeout: bool = False
    model_based_routing_header_name: str = ""
    model_based_routing_mode: str = ""
    enable_llm_inference_service_tls: bool = False


class DefaultRollout(Section):
    """Rolling update numbers, as text."""

    max_surge: str = ""
    max_unavailable: str = ""


class RolloutStrategy(Section):
    """Rollout of Deployments in Standard mode."""

    default_rollout: DefaultRollout | None = None


class Deploy(Section):
    """`deploy`."""

    default_deployment_mode: str = ""
    deployment_rollout_strategy: RolloutStrategy | None = None


class LocalModel(Section):
    """`localModel`."""

    enabled: bool = False
    job_namespace: str = ""
    default_job_image: str = ""
    fs_group: int | None = None
    job_ttl_seconds_after_finished: int | None = None
    reconcilation_frequency_in_secs: int | None = None
    disable_volume_management: bool = False


class Security(Section):
    """`security`."""

    auto_mount_service_account_token: bool = False


class ServiceSection(Section):
    """`service`."""

    service_cluster_ip_none: bool = False


class MultiNode(Section):
    """`multiNode`."""

    custom_gpu_resource_type_list: Sequence[str] | None = None


class Autoscaler(Section):
    """`autoscaler`."""

    scale_up_stabilization_window_seconds: str = ""
    scale_down_stabilization_window_seconds: str = ""


class ContainerResources(Section):
    """Image and resources of a container that KServe injects."""

    image: str = ""
    cpu_request: str = ""
    cpu_limit: str = ""
    memory_request: str = ""
    memory_limit: str = ""


class StorageInitializer(ContainerResources):
    """`storageInitializer`."""

    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"oci_model_mode": ("", "modelcar", "native", "fetch")}

    ca_bundle_config_map_name: str = ""
    ca_bundle_volume_mount_path: str = ""
    cpu_modelcar: str = ""
    memory_modelcar: str = ""
    enable_modelcar: bool = False
    enable_oci_model_support: bool = False
    oci_insecure_registry: bool = False
    uid_modelcar: int | None = None
    oci_model_mode: str = ""


class GcsCredentials(Section):
    """Google Cloud Storage part of `credentials`."""

    gcs_credential_file_name: str = ""


class S3Credentials(Section):
    """S3 part of `credentials`."""

    s3_access_key_id_name: str = ""
    s3_secret_access_key_name: str = ""
    s3_endpoint: str = ""
    s3_use_https: str = ""
    s3_region: str = ""
    s3_verify_ssl: str = ""
    s3_use_virtual_bucket: str = ""
    s3_use_accelerate: str = ""
    s3_use_anonymous_credential: str = ""
    s3_ca_bundle_config_map: str = ""
    s3_ca_bundle: str = ""


class Credentials(Section):
    """`credentials`."""

    storage_spec_secret_name: str = ""
    storage_secret_name_annotation: str = ""
    gcs: GcsCredentials = GcsCredentials()
    s3: S3Credentials = S3Credentials()


class LoggerStorage(Section):
    """Where payload logs go unless a service says otherwise."""

    path: str | None = None
    parameters: Mapping[str, str] | None = None
    key: str | None = None
    service_account_name: str | None = None


class Logger(ContainerResources):
    """`logger`."""

    default_url: str = ""
    ca_bundle: str = ""
    ca_cert_file: str = ""
    marshaller_url: str = ""
    batch_interval: str = ""
    tls_skip_verify: bool = False
    batch_size: int | None = None
    storage: LoggerStorage | None = None


class Batcher(ContainerResources):
    """`batcher`. The two numbers are texts, and nothing reads them."""

    max_batch_size: str = ""
    max_latency: str = ""


class Router(ContainerResources):
    """`router`: the service that runs InferenceGraphs. `headers` has patterns of headers to hand on, as `propagate`."""

    image_pull_policy: str = ""
    headers: Mapping[str, Sequence[str]] = EMPTY
    image_pull_secrets: Sequence[str] = ()


class MetricsAggregator(Section):
    """`metricsAggregator`: the two switches are the texts "true" and "false"."""

    enable_metric_aggregation: str = ""
    enable_prometheus_scraping: str = ""


class Prometheus(Section):
    """Where KEDA asks for the replicas that the workload variant autoscaler wants."""

    url: str = ""
    tls_insecure_skip_verify: bool = False
    auth_modes: str = ""
    trigger_auth_name: str = ""
    trigger_auth_kind: str = ""


class VariantAutoscaling(Section):
    """`autoscaling-wva-controller-config`: what LLMInferenceServices scaled by KEDA on WVA's wishes need."""

    prometheus: Prometheus = Prometheus()


class Scheduler(Section):
    """`scheduler`: which annotations say when a certificate of KServe's own making expires."""

    expiration_annotations: Sequence[str] = ()


class OpenTelemetryCollector(Section):
    """`opentelemetryCollector`."""

    scrape_interval: str = ""
    metric_receiver_endpoint: str = ""
    metric_scaler_endpoint: str = ""
    resource: ResourceDefaults = ResourceDefaults()
