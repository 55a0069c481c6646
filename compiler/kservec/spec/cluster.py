"""kservec's own document `Cluster`: facts about the target cluster that no Kubernetes object states.

Unknown fields are refused: here a misspelt one would be a fact silently lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from kservec.spec.checked import Json


class Part(BaseModel):
    """A part of the document: frozen, strict, without unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


class Assumed(Part):
    """An object that the cluster is said to have."""

    name: str = Field(min_length=1, description="Its name.")
    namespace: str = Field(default="default", description="Its namespace.")


class AssumedSecret(Assumed):
    """A Secret by its keys. `settings` and `entries` take only what KServe itself copies out of it in plain text."""

    keys: Sequence[str] = Field(default=(), description="The names of its keys.")
    annotations: Mapping[str, str] = Field(
        default_factory=dict, description="Its annotations, such as KServe's settings for S3."
    )
    settings: Mapping[str, str] = Field(
        default_factory=dict,
        description="Values that are no secrets, since KServe copies them into pods: S3_ENDPOINT and the like.",
    )
    entries: Mapping[str, Mapping[str, str]] = Field(
        default_factory=dict,
        description="Entries of a storage Secret, each by its type, bucket and cabundle_configmap.",
    )


class AssumedServiceAccount(Assumed):
    """A ServiceAccount with the names of the Secrets that it lists."""

    annotations: Mapping[str, str] = Field(
        default_factory=dict, description="Its annotations, such as the role of a cloud."
    )
    secrets: Sequence[str] = Field(default=(), description="The names of the Secrets that it lists.")
    image_pull_secrets: Sequence[str] = Field(
        default=(), description="The names of the Secrets that it lists for pulling images."
    )


class AssumedConfigMap(Assumed):
    """A ConfigMap with its content, such as a CA bundle."""

    data: Mapping[str, str] = Field(default_factory=dict, description="Its content, such as a CA bundle.")


class AssumedNamespace(Part):
    """A namespace."""

    labels: Mapping[str, str] = Field(default_factory=dict, description="Its labels.")


class Knative(Part):
    """The data of Knative's config maps, each without its `config-` prefix."""

    autoscaler: Mapping[str, str] = Field(default_factory=dict, description="The data of config-autoscaler.")
    defaults: Mapping[str, str] = Field(default_factory=dict, description="The data of config-defaults.")
    deployment: Mapping[str, str] = Field(default_factory=dict, description="The data of config-deployment.")
    domain: Mapping[str, str] = Field(default_factory=dict, description="The data of config-domain.")
    features: Mapping[str, str] = Field(default_factory=dict, description="The data of config-features.")
    network: Mapping[str, str] = Field(default_factory=dict, description="The data of config-network.")


class Issuer(Part):
    """An issuer of cert-manager."""

    name: str = Field(min_length=1, description="Its name.")
    kind: str = Field(default="Issuer", description="Its kind: Issuer, ClusterIssuer or one of another group.")
    group: str = Field(default="cert-manager.io", description="Its API group.")


class Certificates(Part):
    """Who issues the certificates of LLM servers; without an issuer they are self-signed."""

    issuer: Issuer | None = Field(default=None, description="The issuer; without one certificates are self-signed.")


def written_as_quantity(value: Json) -> Json:
    """A value that may be a quantity; whether it is one is not known here.

    Raises:
        PydanticCustomError: it is no text and no number.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        said = {"remedy": "write a quantity, such as 64 or 512Gi"}
        raise PydanticCustomError("kservec_quantity", "not a quantity", said)
    return value


Quantity = Annotated[str | int | float, BeforeValidator(written_as_quantity)]
Count = Annotated[int, Field(ge=0, le=65000)]
"""A number of nodes; no cluster has more."""


class Gpus(Part):
    """The GPUs of a node, as pods ask for them: whole ones. What MIG has divided is under `migProfiles`."""

    resource: str = Field(
        default="nvidia.com/gpu", pattern=r"^[^/\s]+/[^/\s]+$", description="The resource that pods ask for."
    )
    count: Annotated[int, Field(ge=1)] = Field(description="How many whole GPUs a node has.")
    memory: Quantity | None = Field(default=None, description="The memory of one GPU; without it nobody knows.")
    kind: str = Field(default="", description="What its maker calls it; the label nvidia.com/gpu.product of the nodes.")


class MigProfile(Part):
    """Partitions of GPUs of one size, as the mixed strategy of NVIDIA's device plugin offers them."""

    profile: str = Field(
        pattern=r"^[1-9][0-9]*(c\.[1-9][0-9]*)?g\.[1-9][0-9]*gb(\+[a-z.]+)?$",
        description="The profile, such as 1g.10gb; pods ask for nvidia.com/mig-1g.10gb.",
    )
    count: Annotated[int, Field(ge=1)] = Field(description="How many of them a node has.")
    memory: Quantity | None = Field(default=None, description="The memory of one of them; without it nobody knows.")


class NodeTaint(Part):
    """A taint of the nodes of a pool."""

    key: str = Field(min_length=1, description="Its key.")
    value: str = Field(default="", description="Its value.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(description="What it does to pods.")


class NodePool(Part):
    """Nodes that are alike: how many there are, what pods may use of each, and which pods come to them."""

    name: str = Field(min_length=1, description="A name of your own.")
    count: Count | None = Field(default=None, description="How many nodes there are.")
    min: Count | None = Field(default=None, description="The fewest nodes that an autoscaler of nodes keeps.")
    max: Count | None = Field(default=None, description="The most nodes that an autoscaler of nodes adds up to.")
    allocatable: Mapping[str, Quantity] = Field(
        description="What pods may use of a node: status.allocatable, which is less than its capacity; 110 pods unless "
        "it says otherwise."
    )
    system_pods: Mapping[str, Quantity] = Field(
        default_factory=dict, description="What pods that are not in this tree use of each node."
    )
    gpus: Gpus | None = Field(default=None, description="The whole GPUs of a node.")
    mig_profiles: Sequence[MigProfile] = Field(default=(), description="The partitions of GPUs of a node.")
    labels: Mapping[str, str] = Field(default_factory=dict, description="Labels of the nodes.")
    taints: Sequence[NodeTaint] = Field(default=(), description="Taints of the nodes.")


class Cluster(Part):
    """The whole document. `inference_service_config` lays single fields over sections of KServe's configuration."""

    api_version: Literal["kservec.dev/v1alpha1"] = Field(description="The version of this document.")
    kind: Literal["Cluster"] = Field(description="The kind of this document.")
    metadata: Json = Field(default=None, description="Names and labels of your own; kservec does not look at them.")
    cluster_domain: str | None = Field(
        default=None, description="The domain of Services in the cluster; cluster.local if it is left out."
    )
    kubernetes_version: str | None = Field(
        default=None,
        pattern=r"^v?[0-9]+\.[0-9]+(\.[0-9]+)?$",
        description="The version of Kubernetes, in quotes.",
        examples=["1.35"],
    )
    absent: Sequence[str] = Field(
        default=(), description="Kinds that the cluster lacks: Kind, Kind.group or group/version/Kind."
    )
    inference_service_config: Mapping[str, Mapping[str, Json]] = Field(
        default_factory=dict, description="Single fields laid over the sections of KServe's inferenceservice-config."
    )
    knative: Knative = Field(default_factory=Knative, description="What is laid over the config maps of Knative.")
    namespaces: Mapping[str, AssumedNamespace | None] = Field(default_factory=dict, description="Namespaces by name.")
    secrets: Sequence[AssumedSecret] = Field(default=(), description="Secrets by their shape.")
    service_accounts: Sequence[AssumedServiceAccount] = Field(default=(), description="ServiceAccounts by their shape.")
    gateways: Sequence[Assumed] = Field(default=(), description="Gateways that routes may attach to.")
    config_maps: Sequence[AssumedConfigMap] = Field(default=(), description="ConfigMaps with their content.")
    certificates: Certificates = Field(
        default_factory=Certificates, description="Who issues the certificates of LLM servers."
    )
    node_pools: Sequence[NodePool] = Field(
        default=(), description="The nodes of the cluster, for what is said about whether pods fit onto them."
    )
