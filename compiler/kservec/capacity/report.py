"""The report: what each pool has, what of it is used with the fewest and the most replicas, and what models need.

Decides what is counted and shown. How it is laid out is not known here.
"""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from kservec.capacity.findings import AT_MAX, fewest, is_pinned, most
from kservec.capacity.placing import obstacle
from kservec.capacity.served_models import served_models
from kservec.capacity.trial import homes_of, tried
from kservec.core.diagnostics import Severity
from kservec.core.nodes import CPU, MEMORY, MILLI, PODS, base_of
from kservec.policy.demands import demand_of, replica_amounts
from kservec.policy.quotas import QUOTA_AT_MAX, defaults_of, hard_limits, is_scoped, ref_of
from kservec.policy.servers import servers_of
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.capacity.needs import Need
    from kservec.capacity.served_models import Served
    from kservec.capacity.trial import Trial
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.nodes import NodePool
    from kservec.core.text.document import Document
    from kservec.policy.demands import Defaults, Demand
    from kservec.policy.scene import Scene
    from kservec.policy.units import Judge

NODES = "nodes"


class Row(NamedTuple):
    """One resource of a pool, in whole units: what all its nodes have, and what is used of it."""

    resource: str
    has: int
    at_min: int
    at_max: int

    @property
    def head_room(self) -> int:
        """What is left with the most replicas."""
        return self.has - self.at_max


class Room(NamedTuple):
    """A pool and its resources, the nodes themselves first."""

    pool: NodePool
    rows: tuple[Row, ...]


class Quota(NamedTuple):
    """A ResourceQuota, and what the workloads of its namespace use of it."""

    namespace: str
    name: str
    rows: tuple[Row, ...]


class Workload(NamedTuple):
    """What a workload needs: each replica, with the fewest and the most, and the pools that may take one."""

    need: Need
    pools: tuple[str, ...]


class Model(NamedTuple):
    """A model that a container serves: on the GPUs of one pool, or of an unknown one."""

    ref: ObjectRef
    served: Served


class Finding(NamedTuple):
    """Something that does not fit, and what excuses it; empty for nothing."""

    diagnostic: Diagnostic
    excuse: str = ""

    @property
    def severity(self) -> Severity:
        """How much it counts; what is excused counts for nothing."""
        return Severity.NOTE if self.excuse else self.diagnostic.code.severity

    @property
    def is_at_max(self) -> bool:
        """Whether it is about the most replicas alone."""
        return self.diagnostic.code.slug in (AT_MAX.slug, QUOTA_AT_MAX.slug)


class Report(NamedTuple):
    """Everything that is said about the capacity of a cluster.

    `findings` are what does not fit, `remarks` what was not looked at, or could not be counted.
    """

    rooms: tuple[Room, ...]
    quotas: tuple[Quota, ...]
    workloads: tuple[Workload, ...]
    findings: tuple[Finding, ...]
    models: tuple[Model, ...]
    remarks: tuple[str, ...]

    @property
    def is_bounded(self) -> bool:
        """Whether there are nodes or bounds of namespaces that something can fit into."""
        return bool(self.rooms or self.quotas or self.findings)

    @property
    def fits_at_min(self) -> bool | None:
        """Whether everything has a place with the fewest replicas, whatever the project excuses; None if unknown."""
        return all(finding.is_at_max for finding in self.findings) if self.is_bounded else None

    @property
    def fits(self) -> bool | None:
        """Whether everything has a place with the most replicas too."""
        return not self.findings if self.is_bounded else None

    @property
    def fails(self) -> bool:
        """Whether something does not fit that the project takes for an error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


class Counted(NamedTuple):
    """What is counted: the objects with pods, their workloads as a scheduler sees them, and as quotas do."""

    scenes: Sequence[Scene]
    needs: Sequence[Need]
    demands: Sequence[Demand]


def report_of(counted: Counted, judge: Judge, findings: Sequence[Finding]) -> Report:
    """The report about rendered objects.

    Args:
        counted: the objects and their workloads.
        judge: the nodes and quotas of the cluster.
        findings: what does not fit.
    """
    (scenes, needs, demands), pools = counted, judge.site.node_pools
    trials = tried(needs, pools, fewest), tried(needs, pools, most)
    return Report(
        rooms=tuple(room_of(pool, trials) for pool in pools),
        quotas=tuple(quotas_of(judge, demands)),
        workloads=tuple(Workload(need, pools_for(need, pools)) for need in sorted(needs, key=lambda need: need.ref)),
        findings=tuple(findings),
        models=tuple(models_in(scenes, pools)),
        remarks=tuple(remarks_on(scenes, needs, trials)),
    )


def room_of(pool: NodePool, trials: tuple[Trial, Trial]) -> Room:
    """What a pool has, and what the trials used of it."""
    low, high = (trial.used[pool.name] for trial in trials)
    nodes = Row(NODES, pool.most, trials[0].nodes[pool.name], trials[1].nodes[pool.name])
    rows = [
        Row(name, pool.room[name] * pool.most, low.get(name, 0), high.get(name, 0))
        for name in sorted(pool.room, key=rank)
    ]
    return Room(pool, (nodes, *rows))


def quotas_of(judge: Judge, demands: Sequence[Demand]) -> Iterator[Quota]:
    """Each quota that counts all pods of its namespace."""
    for namespace, bounds in sorted(judge.bounds.items()):
        own = [demand for demand in demands if demand.ref.namespace == namespace]
        defaults = defaults_of(bounds.ranges)
        for document in bounds.quotas:
            if not is_scoped(document.value):
                yield Quota(namespace, ref_of(document).name, tuple(quota_rows(document, own, defaults)))


def quota_rows(document: Document, demands: Sequence[Demand], defaults: Defaults) -> Iterator[Row]:
    """The resources that a quota counts, and what workloads use of them."""
    each = [(demand, replica_amounts(demand, defaults)) for demand in demands]
    for counted, name, hard in hard_limits(document.value):
        scale = MILLI if base_of(name) == CPU else 1
        low, high = (
            ceil(sum(amounts.get(counted, 0) * count * scale for (_, amounts), count in zip(each, counts, strict=True)))
            for counts in ([d.replicas.fewest for d in demands], [d.replicas.most for d in demands])
        )
        yield Row(name, floor(hard * scale), low, high)


def rank(resource: str) -> tuple[int, str]:
    """The order in which resources are shown: CPU, memory, GPUs and the like, pods."""
    order = {CPU: 0, MEMORY: 1, PODS: 3}
    return order.get(resource, 2), resource


def pools_for(need: Need, pools: Sequence[NodePool]) -> tuple[str, ...]:
    """The pools that may take a replica of a workload; of what runs on every node those whose nodes have one."""
    if need.is_everywhere:
        return tuple(pool.name for pool in pools if not any(obstacle(member, pool) for member in need.members))
    return tuple(pool.name for pool in homes_of(need, pools))


def models_in(scenes: Sequence[Scene], pools: tuple[NodePool, ...]) -> Iterator[Model]:
    """The models that servers of the objects hold, each once; followers in a group hold the same as their leader."""
    for scene in scenes:
        seen: set[tuple[str, str]] = set()
        for server in servers_of(scene):
            for served in served_models(scene, server, pools):
                key = served.model, served.pool
                if key not in seen and server.takes_flags:
                    seen.add(key)
                    yield Model(scene.ref, served)


def remarks_on(scenes: Sequence[Scene], needs: Sequence[Need], trials: tuple[Trial, Trial]) -> Iterator[str]:
    """What was not looked at, or is counted for less than it may be."""
    for need in needs:
        if need.is_unbounded:
            yield f"{need.ref}: nothing bounds its replicas; counted with {need.replicas.most}"
    silent = [need for need in needs if any(not {CPU, MEMORY} <= member.amounts.keys() for member in need.members)]
    if silent:
        count = plural(len(silent), "workload")
        yield f"{count} without a request for CPU or memory, counted with none (policy/resources-missing finds them)"
    for scene in scenes:
        if is_pinned(scene) and demand_of(scene.ref, scene.body) is not None:
            yield f"{scene.ref}: its pods name their node or claim devices; only their CPU and memory is counted"
    if any(left for trial in trials for left in trial.left):
        yield "at min and at max count the pods that a trial (first fit decreasing) found a node for, not those left"
