"""kservec's own document `Project`: what a repository compiles, for which environments, and what GitOps adds to it.

Unknown fields are refused: a misspelt one would be a wish silently lost. What an environment leaves out, it takes from
the project.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from kservec.spec.checked import Json
from kservec.spec.cluster import Part
from kservec.spec.gitops import GitOps

Path = Annotated[str, Field(min_length=1)]
"""A path below the folder of the project file, with slashes."""

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

    revision_names: Literal["hash", "server"] | None = None


class Images(Part):
    """Where images come from: beginnings of image names, and what stands there instead. The longest one that fits."""

    rewrite: Mapping[str, str] = Field(default_factory=dict)


class Security(Part):
    """What pods may do.

    `pod_security` is the level of the Pod Security Standards that kservec writes settings for where a spec leaves them
    out: in the containers that it adds, or in all. `namespace_labels` are the modes of Pod Security admission that
    namespaces are labelled with. Pods get no token of Kubernetes' API where nothing needs it, if
    `automount_service_account_token` is false.
    """

    pod_security: Literal["restricted", "baseline", "privileged"] | None = None
    security_contexts: Literal["added", "all"] | None = None
    namespace_labels: Sequence[Literal["audit", "enforce", "warn"]] | None = None
    automount_service_account_token: bool | None = None


class Expression(Part):
    """One requirement of a selector."""

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: Sequence[str] | None = None


class Selector(Part):
    """A selector of labels, as Kubernetes has it; an empty one selects everything."""

    match_labels: Mapping[str, str] | None = None
    match_expressions: Sequence[Expression] | None = None


class IPBlock(Part):
    """A range of addresses."""

    cidr: str
    but: Sequence[str] | None = Field(default=None, alias="except")


class Peer(Part):
    """Somebody to talk to, as in Kubernetes' NetworkPolicy: pods, all pods of namespaces, or addresses."""

    pod_selector: Selector | None = None
    namespace_selector: Selector | None = None
    ip_block: IPBlock | None = None

    @model_validator(mode="after")
    def names_somebody(self) -> Peer:
        """Refuse what no API server takes: nobody at all, or addresses that are pods as well."""
        pods = self.pod_selector is not None or self.namespace_selector is not None
        if pods == (self.ip_block is not None):
            raise ValueError("a peer is either podSelector and namespaceSelector, or ipBlock")
        return self


class NetworkPolicy(Part):
    """NetworkPolicies over the pods of every service, if `enabled`. What may be left out has defaults.

    `gateways` let requests in: by default all pods in the namespaces of the Gateways that routes name. `clients` call
    services from within the cluster, `monitoring` reads metrics: nobody by default. `dns`, `storage` (at
    `storage_ports`) and `api_server` are whom pods may call: by default kube-system, and any address at port 443.
    """

    enabled: bool | None = None
    gateways: Sequence[Peer] | None = None
    clients: Sequence[Peer] | None = None
    monitoring: Sequence[Peer] | None = None
    dns: Sequence[Peer] | None = None
    storage: Sequence[Peer] | None = None
    storage_ports: Sequence[Annotated[int, Field(ge=1, le=65535)]] | None = None
    api_server: Sequence[Peer] | None = None


class PodDisruptionBudget(Part):
    """How many pods of a workload may be missing, or have to be there, while nodes are drained: one of the two.

    Workloads of a single replica get none, unless `single_replica` says so.
    """

    min_available: Amount | None = None
    max_unavailable: Amount | None = None
    single_replica: bool | None = None

    @model_validator(mode="after")
    def says_one_thing(self) -> PodDisruptionBudget:
        """Refuse both numbers at once, as the API server does."""
        if self.min_available is not None and self.max_unavailable is not None:
            raise ValueError("a budget is either minAvailable or maxUnavailable")
        return self


class Spread(Part):
    """A topology spread constraint. Its selector is made of the labels of each workload."""

    topology_key: str = Field(min_length=1)
    max_skew: int = Field(default=1, ge=1)
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = "ScheduleAnyway"


class SecretKey(Part):
    """A key of a Secret."""

    name: str
    key: str


class PodMonitor(Part):
    """PodMonitors for every service whose pods offer metrics, if `enabled`.

    `labels` are those that Prometheus selects PodMonitors by. `token` is what it shows to the schedulers of LLM
    services, which answer nobody without one.
    """

    enabled: bool | None = None
    labels: Mapping[str, str] | None = None
    interval: Annotated[str, Field(pattern=r"^[0-9]+(ms|s|m|h)$")] | None = None
    token: SecretKey | None = None


class Options(Part):
    """What a project says for all its environments, and each environment for itself."""

    platform: Sequence[Path] = ()
    catalog: Literal["builtin", "none"] | None = None
    absent: Sequence[str] = ()
    include: Sequence[Path] = ()
    knative: Knative = Field(default_factory=Knative)
    images: Images = Field(default_factory=Images)
    network_policy: NetworkPolicy = Field(default_factory=NetworkPolicy)
    pod_disruption_budget: PodDisruptionBudget = Field(default_factory=PodDisruptionBudget)
    pod_monitor: PodMonitor = Field(default_factory=PodMonitor)
    security: Security = Field(default_factory=Security)
    topology_spread: Sequence[Spread] | None = None
    gitops: GitOps = Field(default_factory=GitOps, alias="gitops")


class Environment(Options):
    """One environment. `overlay` is a kustomization over the sources, `patches` one over the rendered objects."""

    overlay: Path | None = None
    patches: Path | None = None
    output: Path | None = None
    namespaces: Sequence[str] = ()


class Project(Options):
    """The whole document. `{env}` in `output` is the name of the environment."""

    api_version: Literal["kservec.dev/v1alpha1"]
    kind: Literal["Project"]
    metadata: Json = None
    kserve: Literal["0.21"] = "0.21"
    sources: Sequence[Path] = Field(min_length=1)
    output: Path = "rendered/{env}"
    layout: Literal["tree", "single"] = "tree"
    environments: Mapping[str, Environment | None] = Field(default_factory=dict)
