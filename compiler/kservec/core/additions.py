"""Additions: what a project wants of its objects beyond what KServe makes. Without a project there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.records import fresh, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.lock import Lock
    from kservec.core.policy import Policy
    from kservec.core.tree import Json


@record
class Peers:
    """Who pods may talk to, as peers of Kubernetes' NetworkPolicies.

    `gateways` let requests in, None for the namespaces of the Gateways that routes name; `clients` call services within
    the cluster, `monitoring` reads metrics. `dns` resolves names; `storage` is where models come from, reached at
    `storage_ports`; `api_server` is Kubernetes' own API.
    """

    gateways: tuple[Json, ...] | None = None
    clients: tuple[Json, ...] = ()
    monitoring: tuple[Json, ...] = ()
    dns: tuple[Json, ...] = ()
    storage: tuple[Json, ...] = ()
    storage_ports: tuple[int, ...] = ()
    api_server: tuple[Json, ...] = ()


@record
class Budget:
    """How many pods may be taken away at a time: one of two fields of a PodDisruptionBudget, and its value.

    `singles`: workloads of one replica have one, too.
    """

    field: str
    value: int | str
    singles: bool = False


@record
class Monitor:
    """How Prometheus is told of pods: labels that it selects PodMonitors by, and how often it asks.

    `token` refers to the key of a Secret whose content lets it read the metrics of LLM schedulers.
    """

    labels: Mapping[str, str] = fresh(factory=dict)
    interval: str = ""
    token: Mapping[str, str] | None = None


@record
class Additions:
    """What the passes of a project look at.

    `image_rewrites`: beginnings of image names and what stands there instead. `pod_security`: the level of the Pod
    Security Standards that is written where a spec says nothing; `secures_all`: for containers of users, too.
    `namespace_labels`: the modes of Pod Security admission that namespaces are labelled with. `hides_tokens`: pods get
    no token of the API where nothing needs it. `spread` are topology spread constraints without a selector.
    `namespaces`: those that objects may be in, any if there are none. `fits_deadlines`: a rollout waits as long as its
    pods may take to start. `filled_later`: variables, `${name}` in objects, whose values come when they are applied.
    `policy` is what is demanded of objects, `lock` what is pinned, None without a lock file.
    """

    image_rewrites: Mapping[str, str] = fresh(factory=dict)
    pod_security: str = "privileged"
    secures_all: bool = False
    namespace_labels: tuple[str, ...] = ()
    hides_tokens: bool = False
    network: Peers | None = None
    budget: Budget | None = None
    spread: tuple[Json, ...] = ()
    monitor: Monitor | None = None
    fits_deadlines: bool = False
    filled_later: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    policy: Policy | None = None
    lock: Lock | None = None
