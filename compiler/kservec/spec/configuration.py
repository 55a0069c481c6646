"""The sections of KServe's ConfigMap `inferenceservice-config`, each the JSON text of one data key.

Unknown keys are ignored and keys match without regard to case, as Go's decoder does: the caller lower-cases them.
KServe: pkg/apis/serving/v1beta1/configmap.go, pkg/types/config.go, pkg/credentials/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


def lower_case(name: str) -> str:
    """The alias of a field: its camelCase name in lower case."""
    return name.replace("_", "")


class Section(BaseModel):
    """A section: frozen, strict about types, deaf to unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=lower_case, populate_by_name=True, defer_build=True
    )


class ArtImage(Section):
    """Image of the ART explainer."""

    image: str = ""
    default_image_version: str = ""


class Explainers(Section):
    """`explainers`."""

    art: ArtImage = Field(default_factory=ArtImage)


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
    resource: ResourceDefaults = Field(default_factory=ResourceDefaults)


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

    ca_bundle_config_map_name: str = ""
    ca_bundle_volume_mount_path: str = ""
    cpu_modelcar: str = ""
    memory_modelcar: str = ""
    enable_modelcar: bool = False
    enable_oci_model_support: bool = False
    oci_insecure_registry: bool = False
    uid_modelcar: int | None = None
    oci_model_mode: Literal["", "modelcar", "native", "fetch"] = ""


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
    gcs: GcsCredentials = Field(default_factory=GcsCredentials)
    s3: S3Credentials = Field(default_factory=S3Credentials)


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


class MetricsAggregator(Section):
    """`metricsAggregator`: the two switches are the texts "true" and "false"."""

    enable_metric_aggregation: str = ""
    enable_prometheus_scraping: str = ""


class OpenTelemetryCollector(Section):
    """`opentelemetryCollector`."""

    scrape_interval: str = ""
    metric_receiver_endpoint: str = ""
    metric_scaler_endpoint: str = ""
    resource: ResourceDefaults = Field(default_factory=ResourceDefaults)
