"""Settings: what the platform's configuration says to all LLMInferenceServices.

KServe: pkg/controller/v1alpha2/llmisvc/config_loader.go, NewConfig
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.llm.names import MODEL_PORT, WORKLOAD_SERVICE, child_name
from kservec.core.models.storage_initializer import settings
from kservec.core.routing.domains import checked_ingress

if TYPE_CHECKING:
    from kservec.core.platform import PlatformConfig
    from kservec.core.unit import Unit


class Gateway(NamedTuple):
    """The Gateway that routes are attached to unless a service names another."""

    namespace: str
    name: str


def default_gateway(platform: PlatformConfig) -> Gateway:
    """The Gateway of `kserveIngressGateway`; in KServe's namespace if that names none."""
    written = platform.ingress.kserve_ingress_gateway
    parts = written.split("/")
    return Gateway(*parts) if len(parts) == 2 else Gateway(platform.kserve_namespace, written)


@lru_cache(maxsize=8)
def require_settings(platform: PlatformConfig) -> None:
    """Refuse a configuration that KServe cannot read: it reads all sections of it before it looks at a service.

    Raises:
        Reject: a section is no JSON, or a setting is missing or malformed.

    KServe: config_loader.go, toConfig
    """
    checked_ingress(platform)
    settings(platform)
    for section in (platform.credentials, platform.scheduler, platform.variant_autoscaling):
        assert section is not None


def model_header(platform: PlatformConfig) -> str:
    """The header of requests that names the model which they are for. KServe: configmap.go, NewIngressConfig."""
    return platform.ingress.model_based_routing_header_name or "X-Gateway-Model-Name"


def scheme(platform: PlatformConfig) -> str:
    """How servers are spoken to inside the cluster."""
    return "https" if platform.ingress.enable_llm_inference_service_tls else "http"


def service_url(unit: Unit, platform: PlatformConfig) -> str:
    """Where a service is reached inside the cluster. The addresses of Gateways are known in a cluster only.

    KServe names no port, and so one that nothing listens at. KServe: router.go, updateRoutingStatus
    """
    service = f"{child_name(unit.name, WORKLOAD_SERVICE)}.{unit.namespace}.svc.{platform.cluster_domain}"
    return f"{scheme(platform)}://{service}:{MODEL_PORT}"
