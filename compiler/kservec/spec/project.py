"""kservec's own document `Project`: what a repository compiles, for which environments, and what GitOps adds to it.

Unknown fields are refused: a misspelt one would be a wish silently lost. What an environment leaves out, it takes from
the project.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, field_validator, model_validator
from pydantic_core import PydanticCustomError

from kservec._version import KSERVE_PROFILE
from kservec.spec.checked import Json
from kservec.spec.cluster import Part
from kservec.spec.described import option
from kservec.spec.gitops import GitOps
from kservec.spec.network_policy import NetworkPolicy
from kservec.spec.policy import Policy
from kservec.spec.texts import (
    ImageKey,
    ImageName,
    LabelKey,
    LabelName,
    LabelValue,
    Namespace,
    ObjectName,
    Path,
    PathWithPlace,
    Release,
    SecretEntry,
    Selected,
    has_version,
)

SHARE = "^(100|[0-9]{1,2})%$"
is_share = re.compile(SHARE).fullmatch


def amount(value: Json) -> int | str:
    """A number of pods, or a share of them such as 50%.

    Raises:
        ValueError: it is neither.
    """
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if is_number or (isinstance(value, str) and is_share(value)):
        return value  # type: ignore[no-any-return]
    raise ValueError("neither a whole number nor a share such as 50%")


Amount = Annotated[
    Any,
    AfterValidator(amount),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]}
    ),
]
"""A number of pods, or a share of them."""


class Knative(Part):
    """Revisions of Knative services: named by a hash of what is in them, or numbered by the server."""

    revision_names: Literal["hash", "server"] | None = option(
        "hash",
        "How revisions are named: by a hash of what is in them, so that git can refer to them, or by the server.",
    )


class Images(Part):
    """Where images come from: beginnings of image names, and what stands there instead. The longest one that fits."""

    rewrite: Mapping[ImageKey, ImageName] = Field(
        default_factory=dict,
        description="Beginnings of image names, and what stands in their place. The longest one that fits counts.",
        examples=[{"docker.io/": "registry.example.com/docker/"}],
    )

    @model_validator(mode="after")
    def keeps_versions_apart(self) -> Images:
        """Refuse a tag or digest in place of a name: the image's own would come after it."""
        if any(has_version(new) and not has_version(old) for old, new in self.rewrite.items()):
            raise ValueError("only an image with a tag or digest can be replaced by one with a tag or digest")
        return self


class Security(Part):
    """What pods may do.

    `pod_security` is the level of the Pod Security Standards that kservec writes settings for where a spec leaves them
    out: in the containers that it adds, or in all. `namespace_labels` are the modes of Pod Security admission that
    namespaces are labelled with. Pods get no token of Kubernetes' API where nothing needs it, if
    `automount_service_account_token` is false.
    """

    pod_security: Literal["restricted", "baseline", "privileged"] | None = option(
        "restricted",
        "The level of the Pod Security Standards whose settings are written where specs and runtimes say nothing.",
    )
    security_contexts: Literal["added", "all"] | None = option(
        "added", "In which containers they are written: those that kservec adds, or all."
    )
    namespace_labels: Sequence[Literal["audit", "enforce", "warn"]] | None = Field(
        default=None,
        description="The modes of Pod Security admission that namespaces are labelled with; none without any.",
        examples=[["enforce", "warn"]],
    )
    automount_service_account_token: bool | None = option(
        True, "Whether pods that do not need it get a token of Kubernetes' API."
    )


class PodDisruptionBudget(Part):
    """How many pods of a workload may be missing, or have to be there, while nodes are drained: one of the two.

    Workloads of a single replica get none, unless `single_replica` says so.
    """

    min_available: Amount | None = Field(
        default=None,
        description="How many pods of a workload, or what share, have to be there while nodes are drained.",
        examples=[1],
    )
    max_unavailable: Amount | None = Field(
        default=None,
        description="How many pods of a workload, or what share, may be missing while nodes are drained.",
        examples=["50%"],
    )
    single_replica: bool | None = option(False, "Whether workloads of a single replica have a budget too.")

    @model_validator(mode="after")
    def says_one_thing(self) -> PodDisruptionBudget:
        """Refuse both numbers at once, as the API server does."""
        if self.min_available is not None and self.max_unavailable is not None:
            raise ValueError("a budget is either minAvailable or maxUnavailable")
        return self


class Spread(Part):
    """A topology spread constraint. Its selector is made of the labels of each workload."""

    topology_key: LabelName = Field(
        description="The label of nodes that tells the zones apart.",
        examples=["topology.kubernetes.io/zone"],
    )
    max_skew: int = Field(default=1, ge=1, description="How many more pods one zone may have than another.")
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = Field(
        default="ScheduleAnyway", description="What is done with a pod that does not fit."
    )


class SecretKey(Part):
    """A key of a Secret."""

    name: ObjectName = Field(description="The name of the Secret.")
    key: SecretEntry = Field(description="Its key.")


class PodMonitor(Part):
    """PodMonitors for every service whose pods offer metrics, if `enabled`.

    `labels` are those that Prometheus selects PodMonitors by. `token` is what it shows to the schedulers of LLM
    services, which answer nobody without one.
    """

    enabled: bool | None = option(False, "Whether there are PodMonitors for services whose pods offer metrics.")
    labels: Mapping[LabelKey, LabelValue] | None = Field(
        default=None, description="The labels that Prometheus selects PodMonitors by."
    )
    interval: Annotated[str, Field(pattern=r"^[0-9]+(ms|s|m|h)$")] | None = Field(
        default=None, description="How often metrics are read; as Prometheus does by default.", examples=["30s"]
    )
    token: SecretKey | None = Field(
        default=None,
        description="What Prometheus shows to the schedulers of LLM services, which answer nobody without it.",
    )


class Rollout(Part):
    """How long rollouts wait for their pods."""

    progress_deadline: Literal["fit", "kserve"] | None = option(
        "fit", "As long as pods may take to start by their probes and a minute more, or ten minutes as KServe has it."
    )


def quoted(value: Json) -> Json:
    """A version of KServe that YAML has not read as a number, which has lost its zeros.

    Raises:
        PydanticCustomError: it is a number.
    """
    if isinstance(value, float):
        said = {"what": "a number, in which 0.20 is 0.2", "remedy": 'write the version in quotes, as "0.21"'}
        raise PydanticCustomError("kservec_text", "{what}", said)
    return value


class Upgrade(Part):
    """What comes next in an environment, and which of its services have it already; the others stay as they are.

    `kserve` is the version of KServe, by default the environment's; `platform` is laid over that of the environment.
    """

    kserve: Release | None = Field(
        default=None, description="The version of KServe that comes next; by default it stays.", examples=["0.21"]
    )
    platform: Sequence[Path] = Field(
        default=(),
        description="Files or folders that are laid over those of `platform`.",
        examples=[["platform/next"]],
    )
    only: Sequence[Selected] = Field(
        default=(),
        description="The services that have it: namespaces, labels as tier=dev, services as namespace/Kind/name.",
        examples=[["team-a", "tier=dev", "payments/InferenceService/fraud"]],
    )

    is_quoted = field_validator("kserve", mode="before")(quoted)

    @model_validator(mode="after")
    def brings_something(self) -> Upgrade:
        """Refuse to give services an upgrade that brings nothing."""
        if self.only and not (self.kserve or self.platform):
            raise ValueError("an upgrade brings another version (kserve) or files (platform)")
        return self


class Options(Part):
    """What a project says for all its environments, and each environment for itself."""

    kserve: Release | None = option(KSERVE_PROFILE, "The version of KServe whose behaviour is compiled.")
    platform: Sequence[Path] = Field(
        default=(),
        description="Files or folders that describe the cluster; later ones override.",
        examples=[["platform"]],
    )
    catalog: Literal["builtin", "none"] | None = option("builtin", "The runtimes that come with kservec, or none.")
    absent: Sequence[str] = Field(
        default=(),
        description="Kinds that the cluster lacks: Kind, Kind.group or group/version/Kind.",
        examples=[["VirtualService.networking.istio.io"]],
    )
    include: Sequence[Path] = Field(
        default=(),
        description="Files or folders of plain manifests that are rendered as they are; never Secrets.",
        examples=[["extra"]],
    )
    knative: Knative = Field(default_factory=Knative, description="Revisions of Knative services.")
    images: Images = Field(default_factory=Images, description="Where images come from.")
    network_policy: NetworkPolicy = Field(
        default_factory=NetworkPolicy, description="NetworkPolicies over the pods of every service."
    )
    pod_disruption_budget: PodDisruptionBudget = Field(
        default_factory=PodDisruptionBudget,
        description="PodDisruptionBudgets of workloads: either of the two numbers turns them on.",
    )
    pod_monitor: PodMonitor = Field(
        default_factory=PodMonitor, description="PodMonitors, by which Prometheus finds metrics."
    )
    policy: Policy = Field(
        default_factory=Policy, description="What is demanded of rendered objects, excused, and allowed at once."
    )
    rollout: Rollout = Field(default_factory=Rollout, description="How long rollouts wait for their pods.")
    security: Security = Field(default_factory=Security, description="Settings of the Pod Security Standards.")
    topology_spread: Sequence[Spread] | None = Field(
        default=None, description="How the pods of a workload are spread over zones; not at all without any."
    )
    upgrade: Upgrade | None = Field(
        default=None, description="What comes next, and which services have it already; see upgrades.md."
    )
    gitops: GitOps = Field(default_factory=GitOps, alias="gitops", description="Objects for Argo CD or Flux.")

    is_quoted = field_validator("kserve", mode="before")(quoted)


class Environment(Options):
    """One environment. `overlay` is a kustomization over the sources, `patches` one over the rendered objects."""

    overlay: Path | None = Field(
        default=None,
        description="A kustomization over the sources, which is compiled in their place.",
        examples=["overlays/prod"],
    )
    patches: Path | None = Field(
        default=None, description="A kustomization over the rendered objects.", examples=["patches/prod"]
    )
    output: PathWithPlace | None = Field(
        default=None, description="The folder of the rendered tree, instead of the project's.", examples=["deploy/prod"]
    )
    namespaces: Sequence[Namespace] = Field(
        default=(), description="The namespaces that objects may be in; any, if there are none.", examples=[["ml"]]
    )


class Project(Options):
    """The whole document. `{env}` in `output` is the name of the environment."""

    api_version: Literal["kservec.dev/v1alpha1"] = Field(description="The version of this document.")
    kind: Literal["Project"] = Field(description="The kind of this document.")
    metadata: Json = Field(default=None, description="Names and labels of your own; kservec does not look at them.")
    sources: Sequence[Path] = Field(
        min_length=1, description="Files or folders with the services to compile.", examples=[["services"]]
    )
    output: PathWithPlace = Field(
        default="rendered/{env}",
        description="The folder of each rendered tree; {env} is the name of the environment. It holds nothing else.",
    )
    layout: Literal["tree", "single"] = Field(
        default="tree", description="What is written: a file for each object, or a single one for all."
    )
    environments: Mapping[str, Environment | None] = Field(
        default_factory=dict,
        description="The environments by name. What one leaves out it takes from the project.",
        examples=[{"dev": {}, "prod": {"platform": ["platform/prod"]}}],
    )
