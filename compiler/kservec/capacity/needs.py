"""Needs: the pods of a workload as a scheduler sees them, and how many of them there may be.

Decides what a rollout adds, and which pods must not share a node. Must not know any node.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.nodes import CPU, MEMORY, MILLI, PODS, units_of
from kservec.core.paths import lookup
from kservec.core.quantity import misfit
from kservec.core.selectors import selects
from kservec.policy.demands import REQUESTS, Demand, amounts_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Json, Path
    from kservec.policy.demands import Defaults, Replicas
    from kservec.policy.scene import Pod, Scene

HOSTNAME: Final = "kubernetes.io/hostname"
EVERYWHERE: Final = "DaemonSet"
KNATIVE_MAX: Final = "autoscaling.knative.dev/max-scale"
ROLLING: Final[Path] = ("spec", "strategy", "rollingUpdate", "maxSurge")
GROUPS_ROLLING: Final[Path] = ("spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge")
APART: Final[Path] = ("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
QUEUE_PROXY: Final = {CPU: "queue-sidecar-cpu-request", MEMORY: "queue-sidecar-memory-request"}
QUEUE_PROXY_CPU: Final = 25
"""Thousandths of a CPU where Knative's config map does not say."""
DEFAULT_SURGE: Final = "25%"
"""Kubernetes: pkg/apis/apps/v1/defaults.go, SetDefaults_Deployment"""


class Standing(NamedTuple):
    """What a workload says about its pods beside what they need: their templates, what a rollout adds, its bounds.

    `surge` is a number of replicas, or a share of them as `25%`. `added` is what each pod gets beside what it states.
    """

    pods: tuple[Pod, ...]
    surge: str
    added: Mapping[str, int]
    is_unbounded: bool = False


class Member(NamedTuple):
    """Pods of one template in a replica: how many, the spec, where that is in the object, and what each needs."""

    pods: int
    spec: Json
    path: Path
    amounts: Mapping[str, int]
    is_alone: bool = False


class Need(NamedTuple):
    """A workload: the pods of each replica, how many replicas it has, and how many more while it is rolled out.

    `is_everywhere`: every node that takes the pod has one. `is_unbounded`: nothing bounds its replicas, and `most` is
    only what is sure.
    """

    ref: ObjectRef
    owner: ObjectRef
    members: tuple[Member, ...]
    replicas: Replicas
    surges: Replicas
    is_everywhere: bool = False
    is_unbounded: bool = False

    @property
    def size(self) -> int:
        """The pods of a replica."""
        return sum(member.pods for member in self.members)

    @property
    def amounts(self) -> dict[str, int]:
        """What a replica needs."""
        return summed((member.amounts, member.pods) for member in self.members)


def summed(several: Iterable[tuple[Mapping[str, int], int]]) -> dict[str, int]:
    """Amounts together, each so many times."""
    total: dict[str, int] = {}
    for amounts, times in several:
        for name, amount in amounts.items():
            total[name] = total.get(name, 0) + amount * times
    return total


def standing_of(scene: Scene) -> Standing | None:
    """What a workload says about its pods; None for objects without pods."""
    if not scene.pods:
        return None
    ref, body = scene.ref, scene.body
    if ref.kind == "Deployment":
        recreates = lookup(body, ("spec", "strategy", "type")) == "Recreate"
        surge = "0" if recreates else str(lookup(body, ROLLING) or DEFAULT_SURGE)
    elif ref.kind == "LeaderWorkerSet":
        surge = str(lookup(body, GROUPS_ROLLING) or 0)
    else:
        # A new revision of Knative's starts beside the old one.
        surge = "100%" if ref.kind == "Service" else "0"
    if ref.kind != "Service":
        return Standing(scene.pods, surge, {})
    notes = lookup(body, ("spec", "template", "metadata", "annotations")) or {}
    return Standing(scene.pods, surge, scene.site.queue_proxy, not whole(notes.get(KNATIVE_MAX), 0))


def need_of(owner: ObjectRef, demand: Demand, standing: Standing, defaults: Defaults) -> Need:
    """A workload as a scheduler sees it.

    Args:
        owner: the user's object that it is made of.
        demand: what its pods need, and how many replicas it has.
        standing: what else it says about them.
        defaults: what the namespace gives containers that say nothing.
    """
    templates = (standing.pods[0], standing.pods[-1])
    members = tuple(
        Member(
            pods=need.pods,
            spec=pod.spec,
            path=pod.spec_path,
            amounts=summed([(in_units(amounts_of(need, defaults)), 1), (standing.added, 1)]),
            is_alone=is_alone(pod),
        )
        for need, pod in zip(demand.pods, templates, strict=False)
    )
    return Need(
        ref=demand.ref,
        owner=owner,
        members=members,
        replicas=demand.replicas,
        surges=demand.replicas._replace(
            fewest=surge_of(standing.surge, demand.replicas.fewest), most=surge_of(standing.surge, demand.replicas.most)
        ),
        is_everywhere=demand.ref.kind == EVERYWHERE,
        is_unbounded=standing.is_unbounded,
    )


def queue_proxy(config: Mapping[str, str]) -> dict[str, int]:
    """What Knative's own container in each pod asks for, by its config map; other settings of it are left out.

    Knative: pkg/deployment/config.go; pkg/reconciler/revision/resources/queue.go
    """
    given = {name: config.get(key) for name, key in QUEUE_PROXY.items()}
    return {name: units_of(name, amount) for name, amount in given.items() if amount and not misfit(amount)} or {
        CPU: QUEUE_PROXY_CPU
    }


def in_units(amounts: Mapping[str, Fraction]) -> dict[str, int]:
    """What a pod asks for, in whole units, rounded up as the scheduler does."""
    asked = {name.removeprefix(f"{REQUESTS}."): a for name, a in amounts.items() if name.startswith(f"{REQUESTS}.")}
    return {name: ceil(amount * (MILLI if name == CPU else 1)) for name, amount in asked.items() if amount} | {PODS: 1}


def surge_of(surge: str, replicas: int) -> int:
    """How many replicas a rollout adds; shares are rounded up.

    Kubernetes: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts
    """
    if surge.endswith("%"):
        return ceil(Fraction(whole(surge[:-1], 0) * replicas, 100))
    return whole(surge, 0) if replicas else 0


def is_alone(pod: Pod) -> bool:
    """Whether a pod must not share its node with another one of its own template."""
    labels = (pod.template.get("metadata") or {}).get("labels") or {}
    selectors = (t.get("labelSelector") for t in lookup(pod.spec, APART) or () if t.get("topologyKey") == HOSTNAME)
    return any(selector is not None and selects(selector, labels) for selector in selectors)
