"""kservec's own document `Cluster`: facts about the target cluster that no Kubernetes object states.

Unknown fields are refused: here a misspelt one would be a fact silently lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from kservec.spec.checked import Json


class Part(BaseModel):
    """A part of the document: frozen, strict, without unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


class Assumed(Part):
    """An object that the cluster is said to have."""

    name: str = Field(min_length=1)
    namespace: str = "default"


class AssumedSecret(Assumed):
    """A Secret by its keys. `settings` and `entries` take only what KServe itself copies out of it in plain text."""

    keys: Sequence[str] = ()
    annotations: Mapping[str, str] = Field(default_factory=dict)
    settings: Mapping[str, str] = Field(default_factory=dict)
    entries: Mapping[str, Mapping[str, str]] = Field(default_factory=dict)


class AssumedServiceAccount(Assumed):
    """A ServiceAccount with the names of the Secrets that it lists."""

    annotations: Mapping[str, str] = Field(default_factory=dict)
    secrets: Sequence[str] = ()
    image_pull_secrets: Sequence[str] = ()


class AssumedConfigMap(Assumed):
    """A ConfigMap with its content, such as a CA bundle."""

    data: Mapping[str, str] = Field(default_factory=dict)


class AssumedNamespace(Part):
    """A namespace."""

    labels: Mapping[str, str] = Field(default_factory=dict)


class Knative(Part):
    """The data of Knative's config maps, each without its `config-` prefix."""

    autoscaler: Mapping[str, str] = Field(default_factory=dict)
    defaults: Mapping[str, str] = Field(default_factory=dict)
    deployment: Mapping[str, str] = Field(default_factory=dict)
    domain: Mapping[str, str] = Field(default_factory=dict)
    features: Mapping[str, str] = Field(default_factory=dict)
    network: Mapping[str, str] = Field(default_factory=dict)


class Issuer(Part):
    """An issuer of cert-manager."""

    name: str = Field(min_length=1)
    kind: str = "Issuer"
    group: str = "cert-manager.io"


class Certificates(Part):
    """Who issues the certificates of LLM servers; without an issuer they are self-signed."""

    issuer: Issuer | None = None


class Cluster(Part):
    """The whole document. `inference_service_config` lays single fields over sections of KServe's configuration."""

    api_version: Literal["kservec.dev/v1alpha1"]
    kind: Literal["Cluster"]
    metadata: Json = None
    cluster_domain: str | None = None
    kubernetes_version: str | None = Field(default=None, pattern=r"^v?[0-9]+\.[0-9]+(\.[0-9]+)?$")
    absent: Sequence[str] = ()
    inference_service_config: Mapping[str, Mapping[str, Json]] = Field(default_factory=dict)
    knative: Knative = Field(default_factory=Knative)
    namespaces: Mapping[str, AssumedNamespace | None] = Field(default_factory=dict)
    secrets: Sequence[AssumedSecret] = ()
    service_accounts: Sequence[AssumedServiceAccount] = ()
    gateways: Sequence[Assumed] = ()
    config_maps: Sequence[AssumedConfigMap] = ()
    certificates: Certificates = Field(default_factory=Certificates)
