"""Additions: what an environment wants of its objects beyond what KServe makes, and what holds where it is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kservec.core.additions import Additions, Budget, Monitor, Peers
from kservec.core.network.addresses import ANYWHERE, in_namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.tree import Json
    from kservec.project.gitops import GitOpsSettings
    from kservec.spec.network_policy import Peer
    from kservec.spec.project import Environment, PodDisruptionBudget, Project

T = TypeVar("T")

DNS = (in_namespace("kube-system"),)
HTTPS = 443
FIT = "fit"


def additions_of(project: Project, own: Environment, gitops: GitOpsSettings) -> Additions:
    """The additions of one environment: of each field the environment's own value counts, else the project's."""
    mine, theirs = own.security, project.security
    return Additions(
        image_rewrites={**project.images.rewrite, **own.images.rewrite},
        pod_security=first(mine.pod_security, theirs.pod_security, default="restricted"),
        secures_all=first(mine.security_contexts, theirs.security_contexts, default="added") == "all",
        namespace_labels=tuple(sorted(first(mine.namespace_labels, theirs.namespace_labels, default=()))),
        hides_tokens=not first(
            mine.automount_service_account_token, theirs.automount_service_account_token, default=True
        ),
        network=network_of(project, own),
        budget=budget_of(own.pod_disruption_budget, project.pod_disruption_budget),
        spread=tuple(plain(s) for s in first(own.topology_spread, project.topology_spread, default=())),
        monitor=monitor_of(project, own),
        namespaces=tuple(own.namespaces),
        filled_later=tuple(sorted(gitops.flux.substitute)) if gitops.for_flux else (),
        fits_deadlines=first(own.rollout.progress_deadline, project.rollout.progress_deadline, default=FIT) == FIT,
    )


def network_of(project: Project, own: Environment) -> Peers | None:
    """Who pods may talk to; None where nothing is restricted."""
    mine, theirs = own.network_policy, project.network_policy
    if not first(mine.enabled, theirs.enabled, default=False):
        return None
    return Peers(
        gateways=peers(mine.gateways, theirs.gateways),
        clients=peers(mine.clients, theirs.clients) or (),
        monitoring=peers(mine.monitoring, theirs.monitoring) or (),
        dns=peers(mine.dns, theirs.dns) or DNS,
        storage=peers(mine.storage, theirs.storage) or ANYWHERE,
        storage_ports=tuple(first(mine.storage_ports, theirs.storage_ports, default=(HTTPS,))),
        api_server=peers(mine.api_server, theirs.api_server) or ANYWHERE,
    )


def peers(*lists: Sequence[Peer] | None) -> tuple[Json, ...] | None:
    """The first list that was given, as Kubernetes takes it; None if there is none."""
    given = next((each for each in lists if each is not None), None)
    return None if given is None else tuple(plain(peer) for peer in given)


def budget_of(*budgets: PodDisruptionBudget) -> Budget | None:
    """The first budget that says a number; whether single replicas have one is a question of its own."""
    singles = first(*(b.single_replica for b in budgets), default=False)
    for budget in budgets:
        for field, value in (("minAvailable", budget.min_available), ("maxUnavailable", budget.max_unavailable)):
            if value is not None:
                return Budget(field=field, value=value, singles=singles)
    return None


def monitor_of(project: Project, own: Environment) -> Monitor | None:
    """How Prometheus is told of pods; None where it is not."""
    mine, theirs = own.pod_monitor, project.pod_monitor
    if not first(mine.enabled, theirs.enabled, default=False):
        return None
    token = next((t for t in (mine.token, theirs.token) if t is not None), None)
    return Monitor(
        labels={**(theirs.labels or {}), **(mine.labels or {})},
        interval=first(mine.interval, theirs.interval, default=""),
        token=None if token is None else plain(token),
    )


def plain(part: object) -> Json:
    """A part of the document as it is written, without what was left out."""
    return part.model_dump(by_alias=True, exclude_none=True)  # type: ignore[attr-defined]


def first(*values: T | None, default: T) -> T:
    """The first value that was given."""
    return next((value for value in values if value is not None), default)
