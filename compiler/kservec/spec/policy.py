"""The part `policy` of a project: how much findings about rendered objects count, and what is excused.

Unknown fields and unknown codes are refused: a misspelt rule would be a guard that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from kservec.spec.cluster import Part
from kservec.spec.described import option
from kservec.spec.texts import NamespaceKey

WaivableName = Literal[
    "policy/api-deprecated",
    "policy/api-not-served",
    "policy/capacity-at-max",
    "policy/capacity-exceeded",
    "policy/capacity-packing",
    "policy/gpu-fit",
    "policy/gpu-memory",
    "policy/image-digest",
    "policy/image-tag",
    "policy/inline-secret",
    "policy/limit-range",
    "policy/lock-missing",
    "policy/memory-fit",
    "policy/model-revision",
    "policy/no-node-fits",
    "policy/pod-security",
    "policy/pod-security-enforced",
    "policy/quota-at-max",
    "policy/quota-exceeded",
    "policy/quota-unstated",
    "policy/resources-missing",
    "policy/shared-memory",
    "policy/start-up-time",
    "policy/sync-timeout",
    "policy/trust-remote-code",
    "policy/unauthenticated-server",
]
"""The codes of findings about an object, which can be excused for it."""
Level = Literal["restricted", "baseline", "privileged"]
Date = Annotated[str, Field(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")]
Limit = Annotated[int, Field(ge=0)]
Severity = Literal["error", "warning", "off", False]


def code_of(field: str) -> str:
    """The code of findings that a field is about."""
    return f"policy/{field.replace('_', '-')}"


class Rules(Part):
    """How severe findings are, by their codes. In YAML `off` is the same as false."""

    model_config = ConfigDict(alias_generator=code_of)

    api_deprecated: Severity | None = option("warning", "API versions that Kubernetes will stop serving.")
    api_not_served: Severity | None = option("error", "API versions that the target's Kubernetes does not serve.")
    capacity_at_max: Severity | None = option("warning", "Autoscalers that can ask for more than the node pools have.")
    capacity_exceeded: Severity | None = option("error", "Workloads that the node pools have too little for.")
    capacity_packing: Severity | None = option("warning", "Pods that a trial finds no node for, though sums suffice.")
    gpu_fit: Severity | None = option("warning", "Parallelism that does not match the GPUs of the pods.")
    gpu_memory: Severity | None = option("warning", "Models that do not fit into the memory of their GPUs.")
    image_digest: Severity | None = option("off", "Images without a digest.")
    image_tag: Severity | None = option("warning", "Images without a tag, or with the tag latest.")
    inline_secret: Severity | None = option("error", "Credentials in plain text.")
    limit_range: Severity | None = option("error", "Containers outside the bounds of a LimitRange.")
    lock_missing: Severity | None = option("warning", "Images and models that the lock file does not have.")
    lock_stale: Severity | None = option("warning", "A lock file that is not of this build.")
    memory_fit: Severity | None = option("warning", "Memory settings that contradict each other.")
    model_revision: Severity | None = option("off", "Models whose revision is no commit.")
    no_node_fits: Severity | None = option("error", "Pods that no node of the node pools can take.")
    pod_security: Severity | None = option("off", "Pods below the level of podSecurity; a warning where one is said.")
    pod_security_enforced: Severity | None = option("error", "Pods that the labels of their namespace refuse.")
    quota_at_max: Severity | None = option("warning", "Autoscalers that can ask for more than a ResourceQuota has.")
    quota_exceeded: Severity | None = option("error", "Workloads beyond a ResourceQuota with their fewest replicas.")
    quota_unstated: Severity | None = option("error", "Pods that a ResourceQuota refuses for what they do not say.")
    resources_missing: Severity | None = option("off", "Containers without requests or a memory limit.")
    shared_memory: Severity | None = option("warning", "Servers over several GPUs without memory at /dev/shm.")
    start_up_time: Severity | None = option("warning", "Pods that may start for longer than their rollout waits.")
    sync_timeout: Severity | None = option("warning", "Rollouts that may take longer than Flux waits.")
    trust_remote_code: Severity | None = option("error", "Servers that run code of the model's repository.")
    trust_remote_code_unpinned: Severity | None = option("error", "The same without full commits; cannot be waived.")
    unauthenticated_server: Severity | None = Field(
        default=None, description="Language models that a route leads to without an API key; a note."
    )
    waiver_expired: Severity | None = option("warning", "Waivers whose day has come.")
    waiver_unused: Severity | None = option("warning", "Waivers that excuse nothing.")


class Waiver(Part):
    """Findings of one code about one object that are excused, why, and until when.

    `object` is `Kind namespace/name` as findings print it, of the rendered object or of the one that it is made of;
    `*` stands for any part of it.
    """

    code: WaivableName = Field(description="The code of the findings.")
    object: str = Field(min_length=1, description="`Kind namespace/name`; * stands for any text.")
    reason: Annotated[str, Field(pattern=r"\S")] = Field(description="Why the findings do not matter.")
    expires: Date | None = Field(default=None, description="The last day on which they are excused.")


class PodSecurity(Part):
    """The level of the Pod Security Standards that pods must pass: of all namespaces, and of single ones."""

    level: Level | None = Field(default=None, description="That of all namespaces; by default security.podSecurity.")
    namespaces: Mapping[NamespaceKey, Level] = Field(default_factory=dict, description="Those of single namespaces.")


class Policy(Part):
    """What is demanded of rendered objects, what is excused, and how much a build may touch at once."""

    rules: Rules = Field(default_factory=Rules, description="How severe findings are, by their codes.")
    pod_security: PodSecurity = Field(default_factory=PodSecurity, description="The level that pods must pass.")
    waivers: Sequence[Waiver] = Field(default=(), description="Findings that are excused.")
    annotation_waivers: bool | None = option(True, "Whether objects may excuse themselves by annotations.")
    max_restarts: Limit | None = Field(default=None, description="How many workloads one build may restart.")
    max_gpus: Limit | None = Field(default=None, description="How many GPUs one build may touch.")
    max_services: Limit | None = Field(default=None, description="How many services one build may change.")
